/** Reconstructs an earlier revision by undoing later commits. */
import type { CatalogDelta, CatalogRows, CatalogState } from '@model-gateway/contracts';
import { type RowChange, toDelta } from '@model-gateway/storage';

/** Of a row or of what a delta says is gone, by section. */
const keyOf: Record<keyof CatalogDelta, (row: Record<string, unknown>) => string> = {
  upstreams: ({ name }) => String(name),
  models: ({ name }) => String(name),
  load_balancers: ({ name }) => String(name),
  pricing: ({ name }) => String(name),
  mcp_servers: ({ name }) => String(name),
  search_providers: ({ name }) => String(name),
  search_config: ({ name }) => String(name),
  key_groups: ({ name }) => String(name),
  access_keys: ({ hash }) => String(hash),
  load_balancer_pins: ({ load_balancer, access_key }) => JSON.stringify([load_balancer, access_key]),
};

/** `rows` before `changes`, which is what lies between `state` and theirs. */
export function earlierRows(rows: CatalogRows, { revision, committedAt }: CatalogState, changes: readonly RowChange[]): CatalogRows {
  const undone = toDelta(changes.map(({ section, name, before, after }) => ({ section, name, before: after, after: before })));
  const earlier: Record<string, unknown> = { ...rows, revision, committed_at: committedAt };
  for (const [section, { put, gone }] of Object.entries(undone) as [keyof CatalogDelta, { put: object[]; gone: unknown[] }][]) {
    const key = keyOf[section] as (row: object) => string;
    const left = new Map((rows[section] as object[]).map((row) => [key(row), row]));
    for (const one of gone) left.delete(typeof one === 'string' ? one : key(one as object));
    for (const row of put) left.set(key(row), row);
    earlier[section] = [...left].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, row]) => row);
  }
  return earlier as unknown as CatalogRows;
}
