/** Puts the configuration back to the state of an earlier revision, row by row, in one transaction. */
import { type GatewayError, isGatewayError } from '@model-gateway/contracts/errors';
import type { Keyring } from '@model-gateway/secrets';
import { type CatalogWriter, catalogSections, type RowChange, type RowImage } from '@model-gateway/storage';
import { type Detail, Problem } from '../problem.ts';
import { refuseLostSeals } from './lost-seals.ts';

type Section = RowChange['section'];

/** One row that has to be as it was. */
interface Step {
  section: Section;
  name: string;
  run(): Promise<unknown>;
}

/** Throws 404 when the revision is out of reach, 409 with a list of all conflicts. */
export async function rollBack(writer: CatalogWriter, revision: number, keyring: Pick<Keyring, 'missingKey'>): Promise<void> {
  if (revision >= writer.revision) throw new Problem('not_found', 'There is no such revision yet.');
  const since = await writer.changesSince(revision);
  if (since === null) throw new Problem('not_found', 'The history does not reach back to this revision.');
  refuseLostSeals(since, keyring);
  const prepare = async (): Promise<Step[]> => {
    await freeNames(writer, since);
    await freeKeys(writer, since);
    return planSteps(writer, since);
  };
  try {
    await writer.attempt(async () => {
      for (const { run } of await prepare()) await run();
    });
  } catch (error) {
    if (!isInTheWay(error)) throw error;
    await tryEach(writer, await prepare());
  }
}

const isInTheWay = (error: unknown): error is GatewayError => isGatewayError(error) && (error.code === 'conflict' || error.code === 'in_use');

/** Applies row by row and retries failed ones while any succeeds (a later row may free a name); what still fails is the conflict list. */
async function tryEach(writer: CatalogWriter, steps: readonly Step[]): Promise<void> {
  for (let left = steps; left.length > 0; ) {
    const failed: { step: Step; message: string }[] = [];
    for (const step of left) {
      try {
        await writer.attempt(step.run);
      } catch (error) {
        if (!isInTheWay(error)) throw error;
        failed.push({ step, message: error.message });
      }
    }
    if (failed.length === left.length) {
      const details = failed.map(({ step: { section, name }, message }): Detail => ({ field: `${section}.${name.replace('\n', '/')}`, message }));
      throw new Problem('conflict', `The configuration cannot be put back: ${details.length} of its entries stand in the way.`, details);
    }
    left = failed.map(({ step }) => step);
  }
}

/** In the order in which rows refer to one another. Keys that are gone go first: nothing refers to them, and their values must be free for those that come back. */
function planSteps(writer: CatalogWriter, since: readonly RowChange[]): Step[] {
  const removals = (section: Section): Step[] =>
    since.flatMap(({ section: own, name, before, after }) =>
      own === section && !before && after ? [{ section, name, run: () => take[section](writer, after) }] : [],
    );
  const returns = (section: Section): Step[] =>
    since.flatMap(({ section: own, name, before }) => (own === section && before ? [{ section, name, run: () => put[section](writer, before) }] : []));
  const first = ['load_balancer_pins', 'access_keys'] as const;
  return [...first.flatMap(removals), ...catalogSections.flatMap(returns), ...catalogSections.toReversed().flatMap(removals)];
}

/** Rows may have exchanged names and aliases since: all give theirs up before the first takes its old ones. */
async function freeNames(writer: CatalogWriter, since: readonly RowChange[]): Promise<void> {
  const named = since.filter(({ section, after }) => after && (section === 'models' || section === 'load_balancers'));
  await writer.modelNames.release(named.flatMap(({ after }) => (after ? [after.id] : [])));
}

/** Keys may have exchanged values since: each gives up the one it has before the first takes its old one. */
async function freeKeys(writer: CatalogWriter, since: readonly RowChange[]): Promise<void> {
  for (const { section, name, before, after } of since) {
    if (section !== 'access_keys' || !before || !after || before.document['hash'] === after.document['hash']) continue;
    const stored = await writer.accessKeys.find(name);
    // No value has this hash.
    if (stored) await writer.accessKeys.update(stored, { ...stored.document, hash: `freed:${stored.id}` });
  }
}

const restore = (pick: (writer: CatalogWriter) => { restore(row: never): Promise<unknown> }) => (writer: CatalogWriter, image: RowImage) =>
  pick(writer).restore(image as never);

const put: Record<Section, (writer: CatalogWriter, image: RowImage) => Promise<unknown>> = {
  upstreams: restore((writer) => writer.upstreams),
  models: restore((writer) => writer.models),
  load_balancers: restore((writer) => writer.loadBalancers),
  pricing: restore((writer) => writer.pricing),
  mcp_servers: restore((writer) => writer.mcpServers),
  search_providers: restore((writer) => writer.searchProviders),
  search_config: restore((writer) => writer.searchConfig),
  alert_channels: restore((writer) => writer.alertChannels),
  key_groups: restore((writer) => writer.keyGroups),
  access_keys: restore((writer) => writer.accessKeys),
  load_balancer_pins: async (writer, { document }) => {
    const balancer = await writer.loadBalancers.find(String(document['load_balancer']));
    if (balancer) await writer.balancerLinks.setPin(balancer.id, String(document['access_key']), String(document['entry']));
  },
};

type Rows = { find(name: string): Promise<unknown>; remove(stored: never): Promise<void> };
const removeFrom = (pick: (writer: CatalogWriter) => Rows) => async (writer: CatalogWriter, image: RowImage) => {
  const rows = pick(writer);
  const stored = await rows.find(String(image.document['name']));
  if (stored) await rows.remove(stored as never);
};

const take: Record<Section, (writer: CatalogWriter, image: RowImage) => Promise<unknown>> = {
  upstreams: removeFrom((writer) => writer.upstreams),
  models: removeFrom((writer) => writer.models),
  load_balancers: removeFrom((writer) => writer.loadBalancers),
  pricing: removeFrom((writer) => writer.pricing),
  mcp_servers: removeFrom((writer) => writer.mcpServers),
  search_providers: removeFrom((writer) => writer.searchProviders),
  search_config: removeFrom((writer) => writer.searchConfig),
  alert_channels: removeFrom((writer) => writer.alertChannels),
  key_groups: removeFrom((writer) => writer.keyGroups),
  access_keys: removeFrom((writer) => writer.accessKeys),
  load_balancer_pins: async (writer, { document }) => {
    const balancer = await writer.loadBalancers.find(String(document['load_balancer']));
    if (balancer) await writer.balancerLinks.removePin(balancer.id, String(document['access_key']));
  },
};
