/** Puts the configuration back to the state of an earlier revision, row by row, in one transaction. */
import { isGatewayError } from '@model-gateway/errors';
import { type CatalogWriter, catalogSections, type RowChange, type RowImage } from '@model-gateway/storage';
import { type Detail, Problem } from '../problem.ts';

type Section = RowChange['section'];

/** Throws 404 when the revision is not in reach, 409 that lists what stands in the way. */
export async function rollBack(writer: CatalogWriter, revision: number): Promise<void> {
  if (revision >= writer.revision) throw new Problem('not_found', 'There is no such revision yet.');
  const since = await writer.changesSince(revision);
  if (since === null) throw new Problem('not_found', 'The history does not reach back to this revision.');
  const targets = catalogSections.map((section) => ({ section, rows: since.filter((change) => change.section === section) }));
  const faults: Detail[] = [];
  const attempt = async (section: Section, name: string, work: () => Promise<unknown>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      // The transaction is of no use any more on one of the engines: the first conflict ends it.
      if (!isGatewayError(error) || (error.code !== 'conflict' && error.code !== 'in_use')) throw error;
      faults.push({ field: `${section}.${name}`, message: error.message });
      throw new Problem('conflict', 'The configuration cannot be put back: something stands in the way.', faults);
    }
  };
  await freeNames(writer, since);
  // Keys first: nothing refers to them, and their values must be free for those that come back.
  for (const section of ['load_balancer_pins', 'access_keys'] as const) await removeRows(writer, targets, section, attempt);
  for (const { section, rows } of targets) for (const { name, before } of rows) if (before) await attempt(section, name, () => put[section](writer, before));
  for (const section of [...catalogSections].reverse()) await removeRows(writer, targets, section, attempt);
}

type Attempt = (section: Section, name: string, work: () => Promise<unknown>) => Promise<void>;
type Targets = readonly { section: Section; rows: readonly RowChange[] }[];

async function removeRows(writer: CatalogWriter, targets: Targets, section: Section, attempt: Attempt): Promise<void> {
  for (const { name, before, after } of targets.find((target) => target.section === section)?.rows ?? [])
    if (!before && after) await attempt(section, name, () => take[section](writer, after));
}

/** Rows may have exchanged names and aliases since: all give theirs up before the first takes its old ones. */
async function freeNames(writer: CatalogWriter, since: readonly RowChange[]): Promise<void> {
  const named = since.filter(({ section, after }) => after && (section === 'models' || section === 'load_balancers'));
  await writer.modelNames.release(named.flatMap(({ after }) => (after ? [after.id] : [])));
}

const restore = (pick: (writer: CatalogWriter) => { restore(row: never): Promise<unknown> }) => (writer: CatalogWriter, image: RowImage) =>
  pick(writer).restore(image as never);

const put: Record<Section, (writer: CatalogWriter, image: RowImage) => Promise<unknown>> = {
  upstreams: restore((writer) => writer.upstreams),
  models: restore((writer) => writer.models),
  load_balancers: restore((writer) => writer.loadBalancers),
  pricing: restore((writer) => writer.pricing),
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
  key_groups: removeFrom((writer) => writer.keyGroups),
  access_keys: removeFrom((writer) => writer.accessKeys),
  load_balancer_pins: async (writer, { document }) => {
    const balancer = await writer.loadBalancers.find(String(document['load_balancer']));
    if (balancer) await writer.balancerLinks.removePin(balancer.id, String(document['access_key']));
  },
};
