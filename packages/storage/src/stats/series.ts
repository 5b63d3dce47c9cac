/** Ids of series: looked up, created where there is none. */
import { type Kysely, sql } from 'kysely';
import type { StorageDialect } from '../dialects/dialect.ts';
import type { Database, SeriesColumns } from '../schema.ts';
import { dimensions } from './dimension-names.ts';
import type { Scope, Values } from './dimensions.ts';

/** One combination of dimension values, and the text it is known by. */
export interface SeriesKey {
  /** What the database knows it by. */
  text: string;
  scope: Scope;
  /** Those of the scope count. */
  values: Values;
  currency: string;
}

const perStatement = 500;
/** Names hold no control characters, so that no two series have one key. */
const between = '\u0001';

/**
 * All ids by key, inside the transaction of the writer; those that are missing are created. They are asked for each time: another process may have
 * deleted a series since (`prune.ts`), and a database that took the place of this one (a replica, a backup) may lack it or have given its id to
 * another.
 */
export async function resolveSeries(db: Kysely<Database>, dialect: StorageDialect, keys: readonly SeriesKey[]): Promise<ReadonlyMap<string, number>> {
  const found = await readIds(
    db,
    dialect,
    keys.map(({ text }) => text),
  );
  // In a fixed order, so that two writers that create the same series cannot deadlock.
  const missing = keys.filter(({ text }) => !found.has(text)).sort((one, other) => (one.text < other.text ? -1 : 1));
  if (missing.length === 0) return found;
  for (let start = 0; start < missing.length; start += perStatement)
    await db
      .insertInto('stat_series')
      .values(missing.slice(start, start + perStatement).map(columnsOf))
      .onConflict((conflict) => conflict.column('key').doNothing())
      .execute();
  const made = await readIds(
    db,
    dialect,
    missing.map(({ text }) => text),
  );
  for (const [text, id] of made) found.set(text, id);
  return found;
}

async function readIds(db: Kysely<Database>, dialect: StorageDialect, texts: readonly string[]): Promise<Map<string, number>> {
  const rows = dialect.readEach
    ? dialect.readEach(
        'select id, key from stat_series where key = ?',
        texts.map((text) => [text]),
      )
    : (await sql<{ id: number; key: string }>`select id, key from stat_series where key = any(${texts}::text[])`.execute(db)).rows;
  return new Map(rows.map(({ id, key }) => [String(key), Number(id)]));
}

/** What the database knows a series by. */
export function seriesText(scope: Scope, values: Values, currency: string): string {
  if (scope === 'all') return `all${between}${currency}${between}`;
  if (scope === 'full') return `full${between}${currency}${between}${dimensions.map((name) => values[name]).join(between)}`;
  return `${scope}${between}${currency}${between}${values[scope]}`;
}

function columnsOf({ text, scope, values, currency }: SeriesKey): Omit<SeriesColumns, 'id'> {
  const columns = { key: text, scope, currency } as Omit<SeriesColumns, 'id'>;
  for (const name of dimensions) columns[name] = scope === 'full' || scope === name ? values[name] : '';
  return columns;
}
