/** Takes a configuration file: everything it names is created or replaced in one transaction, everything else stays. */
import type { CatalogWriter } from '@model-gateway/storage';
import { z } from 'zod';
import { type Detail, invalid } from '../problem.ts';
import { isSealedForExport, openExported } from '../resources/export-seal.ts';
import type { ResourceOperations } from '../resources/operations.ts';
import type { Room } from '../room.ts';
import { readInput } from '../validation/read-input.ts';
import { formatVersion, type Section, sectionNames, sections } from './sections.ts';

const entries = z
  .array(z.looseObject({ name: z.string() }))
  .max(100_000)
  .nullish();

export const importSchema = z.strictObject({
  version: z.literal(formatVersion).optional(),
  upstreams: entries,
  models: entries,
  key_groups: entries,
  access_keys: entries,
});

type Outcome = 'created' | 'updated' | 'unchanged';
export type ImportDiff = Record<Outcome, Record<Section, string[]>>;

export interface ImportOptions {
  dryRun: boolean;
  resources: readonly ResourceOperations[];
  room: Room;
}

type Entry = Record<string, unknown> & { name: string };

/** Throws 422 or 409 naming the entry and field; then nothing was changed. */
export async function importConfiguration(
  body: unknown,
  { dryRun, resources, room }: ImportOptions,
): Promise<{ diff: ImportDiff; revision: number; changed: boolean }> {
  const file = readInput(importSchema, body);
  const parts = sectionNames.map((section) => ({ section, list: openSecrets(section, (file[section] ?? []) as Entry[], room) }));
  refuseRepeated(parts);
  const { value, revision, changed } = await room.storage.catalog.change(
    async (writer) => {
      const diff = emptyDiff();
      await releaseModelNames(parts.find(({ section }) => section === 'models')?.list ?? [], writer);
      for (const { section, list } of parts) {
        const resource = resources.find(({ path }) => path === sections[section]);
        for (const [index, entry] of list.entries()) {
          const outcome = await resource?.put(writer, entry, `${section}.${index}`);
          if (outcome) diff[outcome][section].push(entry.name);
          if (outcome === 'unchanged' && section === 'models') await reclaimModelNames(entry.name, writer);
        }
      }
      return diff;
    },
    { keep: (diff) => !dryRun && sectionNames.some((section) => diff.created[section].length + diff.updated[section].length > 0) },
  );
  return { diff: value, revision, changed };
}

const emptySections = (): Record<Section, string[]> => ({ upstreams: [], models: [], key_groups: [], access_keys: [] });
const emptyDiff = (): ImportDiff => ({ created: emptySections(), updated: emptySections(), unchanged: emptySections() });

function refuseRepeated(parts: readonly { section: Section; list: readonly Entry[] }[]): void {
  const faults: Detail[] = [];
  for (const { section, list } of parts) {
    const seen = new Set<string>();
    for (const [index, { name }] of list.entries()) {
      if (seen.has(name)) faults.push({ field: `${section}.${index}.name`, message: 'appears twice in the file' });
      seen.add(name);
    }
  }
  if (faults.length > 0) throw invalid(faults);
}

/** Models of one file may exchange names: all give theirs up before the first takes its new ones. */
async function releaseModelNames(list: readonly Entry[], writer: CatalogWriter): Promise<void> {
  if (list.length === 0) return;
  const named = new Set(list.map(({ name }) => name));
  const stored = await writer.models.all();
  await writer.modelNames.release(stored.filter(({ document }) => named.has(document.name)).map(({ id }) => id));
}

async function reclaimModelNames(name: string, writer: CatalogWriter): Promise<void> {
  const stored = await writer.models.find(name);
  if (stored) await writer.modelNames.claim(stored.id, stored.document);
}

/** Secrets that `export` sealed, opened again; plain ones stay as they are. */
function openSecrets(section: Section, list: readonly Entry[], { keyring }: Room): Entry[] {
  const open = (key: unknown, field: string) => (isSealedForExport(key) ? openExported(key, keyring, field) : key);
  return list.map((entry, index) => {
    const at = `${section}.${index}`;
    if (section === 'access_keys' && 'key' in entry) return { ...entry, key: open(entry['key'], `${at}.key`) };
    return section === 'upstreams' ? openUpstream(entry, at, open) : entry;
  });
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

function openUpstream(entry: Entry, at: string, open: (key: unknown, field: string) => unknown): Entry {
  const { api_keys: keys, proxy, tls } = entry;
  const openKey = (key: unknown, position: number) =>
    isObject(key) && 'key' in key ? { ...key, key: open(key['key'], `${at}.api_keys.${position}.key`) } : key;
  return {
    ...entry,
    ...(Array.isArray(keys) && { api_keys: keys.map(openKey) }),
    ...('proxy' in entry && { proxy: open(proxy, `${at}.proxy`) }),
    ...(isObject(tls) && 'client_key' in tls && { tls: { ...tls, client_key: open(tls['client_key'], `${at}.tls.client_key`) } }),
  };
}
