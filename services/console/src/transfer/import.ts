/** Takes a configuration file: everything it names is created or replaced in one transaction, everything else stays. */
import { isObject, modelName, resourceName } from '@model-gateway/contracts';
import type { CatalogWriter, ResourceRepository, UpstreamDocument } from '@model-gateway/storage';
import { z } from 'zod';
import type { ConsoleContext } from '../context.ts';
import { type Detail, invalid, invalidField, Problem } from '../problem.ts';
import { isSealedForExport, openExported } from '../resources/export-seal.ts';
import type { ResourceOperations } from '../resources/operations.ts';
import { type Outcome, putPin } from '../resources/pins.ts';
import { credentialEntry, type TakenCredential, takeCredentials } from '../sso/transfer.ts';
import { plainWords } from '../validation/plain-words.ts';
import { faultsOf, maxFaults, readInput } from '../validation/read-input.ts';
import { storedName } from '../validation/stored-name.ts';
import { fromMicroUnits } from './micro-units.ts';
import { createPace, type Pace } from './pace.ts';
import { credentialSection, type DiffSection, formatVersion, microUnitsVersion, pinSection, type Section, sectionNames, sections } from './sections.ts';

const entrySchema = z.looseObject({ name: storedName });
/** A price is named after its model unless the file names it. */
const priceSchema = z
  .looseObject({ name: storedName.nullish(), model: storedName.optional() })
  .transform((price) => ({ ...price, name: price.name ?? price.model ?? '' }));
export const pinSchema = z.strictObject({ load_balancer: modelName, access_key: resourceName, entry: modelName });
const entries = z.array(entrySchema).max(100_000).nullish();

export const importSchema = z.strictObject({
  version: z
    .literal([microUnitsVersion, formatVersion], { error: `must be ${formatVersion}, or ${microUnitsVersion} for a file whose prices are micro-units` })
    .optional()
    .describe('2: prices are decimal strings of the currency, as everywhere; 1: prices are whole micro-units. Left out: as 2'),
  upstreams: entries,
  models: entries,
  pricing: z.array(priceSchema).max(100_000).nullish(),
  search_providers: entries,
  alert_channels: entries,
  search_config: entries,
  load_balancers: entries,
  mcp_servers: entries,
  key_groups: entries,
  access_keys: entries,
  load_balancer_pins: z.array(pinSchema).max(1_000_000).nullish(),
  sso_credentials: z.array(credentialEntry).max(10_000).nullish(),
});
type ImportFile = z.output<typeof importSchema>;

export type ImportDiff = Record<Outcome, Record<DiffSection, string[]>>;

/** The kinds of resources that an import may hold, and what they are written through. */
export interface ImportOptions {
  resources: readonly ResourceOperations[];
  context: ConsoleContext;
}

type Entry = Record<string, unknown> & { name: string };

/** What an import does in its transaction. `credentials`: what became of those of the file, once it ran. */
export type ImportWork = ((writer: CatalogWriter) => Promise<ImportDiff>) & { credentials: readonly TakenCredential[] };

/** What is to be done in one transaction. It throws 422 or 409 naming the entry and field. A file may be long: in between, others have their turn. */
export async function prepareImport(body: unknown, { resources, context }: ImportOptions): Promise<ImportWork> {
  const pace = createPace();
  const file = await readFile(body, pace);
  const named = file.sso_credentials ?? [];
  const credentials: TakenCredential[] = [];
  const parts: { section: Section; list: Entry[] }[] = [];
  for (const section of sectionNames) {
    const list = await openSecrets(section, (file[section] ?? []) as Entry[], context, pace);
    parts.push({ section, list: section === 'pricing' && file.version === microUnitsVersion ? list.map(fromMicroUnits) : list });
  }
  refuseRepeated(parts);
  const work = async (writer: CatalogWriter): Promise<ImportDiff> => {
    const diff = emptyDiff();
    // Before the upstreams that refer to them.
    credentials.splice(0, Number.POSITIVE_INFINITY, ...(await takeCredentials(named, writer, context)));
    for (const { outcome, name } of credentials) diff[outcome][credentialSection].push(name);
    await releaseNames(parts, writer, pace);
    const replaced = new Map<string, UpstreamDocument>();
    for (const { section, list } of parts) {
      const resource = resources.find(({ path }) => path === sections[section]);
      const faults: Detail[] = [];
      for (const [index, entry] of list.entries()) {
        const before = section === 'upstreams' ? await writer.upstreams.find(entry.name) : null;
        const outcome = await resource?.put(writer, entry, `${section}.${index}`).catch((error: unknown) => void faults.push(...faultsIn(error)));
        if (faults.length >= maxFaults) break;
        if (outcome) diff[outcome][section].push(entry.name);
        if (before && outcome === 'updated') replaced.set(entry.name, before.document);
        if (outcome === 'unchanged') await reclaimNames(section, entry.name, writer);
        await pace();
      }
      // Later sections refer to this one: what they lack of it is no fault of theirs.
      if (faults.length > 0) throw invalid(faults.slice(0, maxFaults));
    }
    for (const { section, list } of parts) await checkLinks({ section, list, replaced }, resources, writer, pace);
    for (const [index, pin] of (file.load_balancer_pins ?? []).entries()) {
      const outcome = await putPin(writer, pin, `${pinSection}.${index}`);
      diff[outcome][pinSection].push(`${pin.load_balancer}/${pin.access_key}`);
      await pace();
    }
    return diff;
  };
  return Object.assign(work, { credentials });
}

/** What is wrong with one row, so that the next are looked at too. Throws what else went wrong: then the database may take nothing more. */
function faultsIn(error: unknown): readonly Detail[] {
  if (error instanceof Problem && error.code === 'validation_failed' && error.details) return error.details;
  throw error;
}

const diffSections: readonly DiffSection[] = [...sectionNames, pinSection, credentialSection];
const emptySections = () => Object.fromEntries(diffSections.map((section) => [section, [] as string[]])) as Record<DiffSection, string[]>;
const emptyDiff = (): ImportDiff => ({ created: emptySections(), updated: emptySections(), unchanged: emptySections() });

/** By `importSchema`, entry by entry; ends with the first faults. */
async function readFile(body: unknown, pace: Pace): Promise<ImportFile> {
  const given = isObject(body) ? body : {};
  const lists = ([...sectionNames, pinSection] as const).filter((section) => Array.isArray(given[section]));
  const file: Record<string, unknown> = readInput(importSchema, isObject(body) ? { ...body, ...Object.fromEntries(lists.map((name) => [name, []])) } : body);
  const faults: Detail[] = [];
  for (const section of lists) {
    const list = given[section] as unknown[];
    const max = section === pinSection ? 1_000_000 : 100_000;
    if (list.length > max) throw invalidField(section, `must have at most ${max} entries`);
    const schema = section === pinSection ? pinSchema : section === 'pricing' ? priceSchema : entrySchema;
    const read: unknown[] = [];
    for (const [index, entry] of list.entries()) {
      const { success, data, error } = schema.safeParse(entry, { error: plainWords });
      if (success) read.push(data);
      else faults.push(...faultsOf(error, `${section}.${index}`));
      if (faults.length >= maxFaults) throw invalid(faults.slice(0, maxFaults));
      await pace();
    }
    file[section] = read;
  }
  if (faults.length > 0) throw invalid(faults);
  return file as ImportFile;
}

function refuseRepeated(parts: readonly { section: Section; list: readonly Entry[] }[]): void {
  const faults: Detail[] = [];
  for (const { section, list } of parts) {
    const seen = new Set<string>();
    for (const [index, { name }] of list.entries()) {
      if (seen.has(name)) faults.push({ field: `${section}.${index}.name`, message: 'appears twice in the file' });
      seen.add(name);
    }
  }
  if (faults.length > 0) throw invalid(faults.slice(0, maxFaults));
}

/** Rules may name models that stand further down in the file, and models of an upstream that was `replaced` may be changed there. */
async function checkLinks(
  { section, list, replaced }: { section: Section; list: readonly Entry[]; replaced: ReadonlyMap<string, UpstreamDocument> },
  resources: readonly ResourceOperations[],
  writer: CatalogWriter,
  pace: Pace,
): Promise<void> {
  const resource = resources.find(({ path }) => path === sections[section]);
  for (const [index, entry] of list.entries()) {
    const { request_body_rules: rules } = entry;
    const before = (section === 'upstreams' && replaced.get(entry.name)) || null;
    if (section === 'search_config' || before || (Array.isArray(rules) && rules.length > 0))
      await resource?.checkLinks(writer, entry.name, { prefix: `${section}.${index}`, before });
    await pace();
  }
}

/** Names that are looked up by one statement. */
const namesAtOnce = 200;

/** Rows of one file may exchange names: all give theirs up before the first takes its new ones. Looked up in small groups: a catalog may hold very many. */
async function releaseNames(parts: readonly { section: Section; list: readonly Entry[] }[], writer: CatalogWriter, pace: Pace): Promise<void> {
  for (const { section, list } of parts) {
    const rows = namedRows(section, writer);
    if (!rows) continue;
    for (let start = 0; start < list.length; start += namesAtOnce) {
      await writer.modelNames.release(await rows.ids(list.slice(start, start + namesAtOnce).map(({ name }) => name)));
      await pace();
    }
  }
}

async function reclaimNames(section: Section, name: string, writer: CatalogWriter): Promise<void> {
  const stored = await namedRows(section, writer)?.find(name);
  if (stored) await writer.modelNames.claim(section === 'models' ? 'model' : 'load balancer', stored.id, stored.document);
}

/** What has names that callers use. */
function namedRows(section: Section, writer: CatalogWriter): ResourceRepository<{ name: string; aliases: string[] }> | null {
  if (section === 'models') return writer.models;
  return section === 'load_balancers' ? writer.loadBalancers : null;
}

/** An environment reference, which `model-gateway apply` resolves in its user's environment. The gateway never reads its own environment for it. */
const reference = /^\$\{[A-Z_][A-Z0-9_]*\}$/;

/** Secrets that `export` sealed, opened again; plain ones stay as they are. Throws 422 for a reference: its name would be kept for the secret. */
async function openSecrets(section: Section, list: readonly Entry[], { keyring }: ConsoleContext, pace: Pace): Promise<Entry[]> {
  const open = (key: unknown, field: string) => {
    if (typeof key === 'string' && reference.test(key))
      throw invalidField(field, 'is a reference to the environment: `model-gateway apply` puts the value there');
    return isSealedForExport(key) ? openExported(key, keyring, field) : key;
  };
  const opened: Entry[] = [];
  for (const [index, entry] of list.entries()) {
    const at = `${section}.${index}`;
    if (section === 'access_keys' && 'key' in entry) opened.push({ ...entry, key: open(entry['key'], `${at}.key`) });
    else if (section === 'search_providers' && 'api_key' in entry) opened.push({ ...entry, api_key: open(entry['api_key'], `${at}.api_key`) });
    else if (section === 'alert_channels') opened.push(openAlertChannel(entry, at, open));
    else if (section === 'mcp_servers') opened.push(openMcpServer(entry, at, open));
    else opened.push(section === 'upstreams' ? openUpstream(entry, at, open) : entry);
    await pace();
  }
  return opened;
}

type Open = (key: unknown, field: string) => unknown;

const openHeaders = (headers: unknown, at: string, open: Open): unknown =>
  isObject(headers) ? Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, open(value, `${at}.${name}`)])) : headers;

const openAlertChannel = (entry: Entry, at: string, open: Open): Entry => ({
  ...entry,
  ...('url' in entry && { url: open(entry['url'], `${at}.url`) }),
  ...('secret' in entry && { secret: open(entry['secret'], `${at}.secret`) }),
  ...(isObject(entry['smtp']) &&
    'password' in entry['smtp'] && { smtp: { ...entry['smtp'], password: open(entry['smtp']['password'], `${at}.smtp.password`) } }),
});

const openMcpServer = (entry: Entry, at: string, open: Open): Entry => ({
  ...entry,
  ...('auth_header' in entry && { auth_header: open(entry['auth_header'], `${at}.auth_header`) }),
  ...('extra_headers' in entry && { extra_headers: openHeaders(entry['extra_headers'], `${at}.extra_headers`, open) }),
});

function openUpstream(entry: Entry, at: string, open: Open): Entry {
  const { api_keys: keys, proxy, tls, custom_headers: headers } = entry;
  const openKey = (key: unknown, position: number) =>
    isObject(key) && 'key' in key ? { ...key, key: open(key['key'], `${at}.api_keys.${position}.key`) } : key;
  return {
    ...entry,
    ...(Array.isArray(keys) && { api_keys: keys.map(openKey) }),
    ...(isObject(headers) && { custom_headers: openHeaders(headers, `${at}.custom_headers`, open) }),
    ...('proxy' in entry && { proxy: open(proxy, `${at}.proxy`) }),
    ...(isObject(tls) && 'client_key' in tls && { tls: { ...tls, client_key: open(tls['client_key'], `${at}.tls.client_key`) } }),
  };
}
