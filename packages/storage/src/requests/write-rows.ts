/** Writes a batch of rows and reports what that changed: the insert itself shows which rows are new, so that no lock is needed. */
import { CompiledQuery, type Kysely } from 'kysely';
import { arrayText, unnestOf } from '../dialects/column-arrays.ts';
import type { StorageDialect } from '../dialects/dialect.ts';
import type { Database } from '../schema.ts';
import type { Change } from '../stats/tally.ts';
import { columnKinds, columnNames, type StoredRow } from './row-codec.ts';
import { columnValues } from './row-of-columns.ts';
import { settleRows } from './settle-rows.ts';

const keyColumns: ReadonlySet<string> = new Set(['id', 'started_at']);
const replaced = columnNames.filter((name) => !keyColumns.has(name));

export type WriteRows = (db: Kysely<Database>, rows: readonly StoredRow[]) => Promise<Change[]>;

/** Inside a transaction. Two rows of one request are merged by `settle-rows.ts`. */
export function createRowWriter(dialect: StorageDialect): WriteRows {
  const insert = dialect.runEach ? insertEach(dialect.runEach) : insertTogether;
  return async (db, given) => {
    const { added, met } = await insert(db, given);
    const changes: Change[] = added.map((after) => ({ before: null, after }));
    if (met.length === 0) return changes;
    const { replaced, orphans } = await settle(db, dialect, met);
    // An orphan that already exists was written by an earlier delivery.
    const { added: found } = orphans.length === 0 ? { added: [] } : await insert(db, orphans);
    return [...changes, ...replaced, ...found.map((after) => ({ before: null, after }))];
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

/** All rows in one statement. It returns the added rows only when some existed already, which is rare. */
const insertTogether: Insert = async (db, given) => {
  const { rows, others } = firstOfEach(given);
  const values = columnNames.map((name) => arrayText(columnTypes[columnKinds[name]], rows, (row) => row[name]));
  const { rows: found } = await db.executeQuery<Key & { added: number }>(CompiledQuery.raw(manyRows, [...values, rows.length]));
  if (Number(found[0]?.added) === rows.length) return { added: rows, met: others };
  const keys = new Set(found.map(keyOf));
  return { added: rows.filter((row) => keys.has(keyOf(row))), met: [...rows.filter((row) => !keys.has(keyOf(row))), ...others] };
};

/** JSON travels as text: it is kept as it was written. */
const columnTypes = { text: 'text', integer: 'bigint', boolean: 'boolean', json: 'text' } as const;
const manyRows = `with written as (
    insert into request_stats (${columnNames.join(', ')})
    select ${columnNames.map((name) => (columnKinds[name] === 'json' ? `${name}::json` : name)).join(', ')}
    from ${unnestOf(columnNames.map((name) => columnTypes[columnKinds[name]]))} as t(${columnNames.join(', ')})
    on conflict (started_at, id) do nothing returning started_at, id)
  select c.added, w.started_at, w.id from (select count(*) as added from written) c left join written w on c.added < $${columnNames.length + 1}::bigint`;

/** Existing rows with the same key, with the new rows in ascending authority. */
async function settle(db: Kysely<Database>, dialect: StorageDialect, met: readonly StoredRow[]): Promise<{ replaced: Change[]; orphans: StoredRow[] }> {
  const rows = inOrder(met);
  const known = await readKnown(db, dialect, rows);
  const replaced: Change[] = [];
  const orphans: StoredRow[] = [];
  for (const row of rows) {
    const before = known.get(keyOf(row));
    if (!before) continue;
    const { row: after, orphan } = settleRows(before, row);
    if (orphan) orphans.push(orphan);
    if (!after) continue;
    await upsert(db, after).execute();
    replaced.push({ before, after });
    known.set(keyOf(row), after);
  }
  return { replaced, orphans };
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
  // Another writer that replaces one of these rows waits for this transaction, and then sees its result.
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

/** Statements that lock rows in the same order cannot deadlock. */
const inOrder = (rows: readonly StoredRow[]): StoredRow[] =>
  [...rows].sort((one, other) => compare(keyOf(one), keyOf(other)) || one.authority - other.authority);
const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

/** One statement must not touch a row twice: of several rows with one key the first is inserted, the others are merged with it. */
function firstOfEach(given: readonly StoredRow[]): { rows: StoredRow[]; others: StoredRow[] } {
  const rows: StoredRow[] = [];
  const others: StoredRow[] = [];
  let last: string | undefined;
  for (const row of inOrder(given)) {
    const key = keyOf(row);
    (key === last ? others : rows).push(row);
    last = key;
  }
  return { rows, others };
}
