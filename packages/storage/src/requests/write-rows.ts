/** Writes a batch of rows and tells what that changed: the insert itself says which rows are new, so that nobody has to wait for a turn. */
import { CompiledQuery, type Kysely } from 'kysely';
import { arrayText, unnestOf } from '../dialects/column-arrays.ts';
import type { StorageDialect } from '../dialects/dialect.ts';
import type { Database } from '../schema.ts';
import type { Change } from '../stats/tally.ts';
import { columnKinds, columnNames, type StoredRow } from './row-codec.ts';
import { columnValues } from './row-of-columns.ts';

const keyColumns: ReadonlySet<string> = new Set(['id', 'started_at']);
const replaced = columnNames.filter((name) => !keyColumns.has(name));

export type WriteRows = (db: Kysely<Database>, rows: readonly StoredRow[]) => Promise<Change[]>;

/** Inside a transaction. A row stands until one of higher authority comes. */
export function createRowWriter(dialect: StorageDialect): WriteRows {
  const insert = dialect.runEach ? insertEach(dialect.runEach) : insertTogether;
  return async (db, given) => {
    const { added, met } = await insert(db, given);
    const changes: Change[] = added.map((after) => ({ before: null, after }));
    return met.length === 0 ? changes : changes.concat(await replace(db, dialect, uniqueByKey(met)));
  };
}

type Insert = (db: Kysely<Database>, rows: readonly StoredRow[]) => Promise<{ added: readonly StoredRow[]; met: readonly StoredRow[] }>;

/** One compiled statement, run for each row; its parameters are the columns in their order. */
const insertEach =
  (runEach: NonNullable<StorageDialect['runEach']>): Insert =>
  async (_db, rows) => {
    const changes = runEach(oneRow, rows.map(columnValues));
    if (changes.every((count) => count === 1)) return { added: rows, met: [] };
    return { added: rows.filter((_row, at) => changes[at] === 1), met: rows.filter((_row, at) => changes[at] === 0) };
  };

const oneRow = `insert into request_stats (${columnNames.join(', ')}) values (${columnNames.map(() => '?').join(', ')}) on conflict (started_at, id) do nothing`;

/** All rows in one statement. Its answer names those that were added only when some were not, which is rare. */
const insertTogether: Insert = async (db, given) => {
  const rows = uniqueByKey(given);
  const values = columnNames.map((name) => arrayText(columnTypes[columnKinds[name]], rows, (row) => row[name]));
  const { rows: found } = await db.executeQuery<Key & { added: number }>(CompiledQuery.raw(manyRows, [...values, rows.length]));
  if (Number(found[0]?.added) === rows.length) return { added: rows, met: [] };
  const keys = new Set(found.map(keyOf));
  return { added: rows.filter((row) => keys.has(keyOf(row))), met: rows.filter((row) => !keys.has(keyOf(row))) };
};

/** JSON travels as text: it is kept as it was written. */
const columnTypes = { text: 'text', integer: 'bigint', boolean: 'boolean', json: 'text' } as const;
const manyRows = `with written as (
    insert into request_stats (${columnNames.join(', ')})
    select ${columnNames.map((name) => (columnKinds[name] === 'json' ? `${name}::json` : name)).join(', ')}
    from ${unnestOf(columnNames.map((name) => columnTypes[columnKinds[name]]))} as t(${columnNames.join(', ')})
    on conflict (started_at, id) do nothing returning started_at, id)
  select c.added, w.started_at, w.id from (select count(*) as added from written) c left join written w on c.added < $${columnNames.length + 1}::bigint`;

async function replace(db: Kysely<Database>, dialect: StorageDialect, rows: readonly StoredRow[]): Promise<Change[]> {
  const known = await readKnown(db, dialect, rows);
  const better = rows.filter((row) => row.authority > (known.get(keyOf(row))?.authority ?? Number.POSITIVE_INFINITY));
  for (const row of better) await upsert(db, Object.fromEntries(columnNames.map((name) => [name, row[name]])) as StoredRow).execute();
  return better.map((after) => ({ before: known.get(keyOf(after)) ?? null, after }));
}

async function readKnown(db: Kysely<Database>, dialect: StorageDialect, rows: readonly StoredRow[]): Promise<Map<string, StoredRow>> {
  const query = db
    .selectFrom('request_stats')
    .selectAll()
    .where(
      'started_at',
      'in',
      rows.map((row) => row.started_at),
    )
    .where(
      'id',
      'in',
      rows.map((row) => row.id),
    );
  // Whoever else replaces one of these waits for us, and then sees ours.
  const found = await (dialect.mode === 'postgresql' ? query.orderBy('started_at').orderBy('id').forUpdate() : query).execute();
  return new Map(found.map((columns) => [keyOf(columns), columns as StoredRow]));
}

const upsert = (db: Kysely<Database>, columns: StoredRow) =>
  db
    .insertInto('request_stats')
    .values(columns)
    .onConflict((conflict) =>
      conflict.columns(['started_at', 'id']).doUpdateSet((eb) => Object.fromEntries(replaced.map((name) => [name, eb.ref(`excluded.${name}`)]))),
    );

interface Key {
  started_at: number;
  id: string;
}
const keyOf = (row: Key): string => `${row.started_at}:${row.id}`;

/** One statement may not touch a row twice, and statements that lock rows in one order cannot block each other. */
function uniqueByKey(rows: readonly StoredRow[]): StoredRow[] {
  const best = new Map<string, StoredRow>();
  for (const row of rows) {
    const key = keyOf(row);
    const known = best.get(key);
    if (!known || row.authority > known.authority) best.set(key, row);
  }
  return [...best.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
}
