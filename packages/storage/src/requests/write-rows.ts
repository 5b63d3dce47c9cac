/** Writes a batch of rows and tells what that changed: the insert itself says which rows are new, so that nobody has to wait for a turn. */
import type { RequestRow } from '@model-gateway/contracts';
import type { Kysely } from 'kysely';
import type { StorageDialect } from '../dialects/dialect.ts';
import type { Database, RequestColumns } from '../schema.ts';
import type { Change } from '../stats/rollups.ts';
import { columnNames, decodeRow, encodeRow, encodeValues } from './row-codec.ts';

const keyColumns: ReadonlySet<string> = new Set(['id', 'started_at']);
const replaced = columnNames.filter((name) => !keyColumns.has(name));
const mostRowsPerStatement = 500;

export type WriteRows = (db: Kysely<Database>, rows: readonly RequestRow[]) => Promise<Change[]>;

/** Inside a transaction. A row stands until one of higher authority comes. */
export function createRowWriter(dialect: StorageDialect): WriteRows {
  const rowsPerStatement = Math.min(mostRowsPerStatement, Math.floor(dialect.maxParameters / columnNames.length));
  /** The statement for one row; its parameters are the columns in their order. */
  let oneRow: string | undefined;

  async function insert(db: Kysely<Database>, rows: readonly RequestRow[]): Promise<{ added: RequestRow[]; met: RequestRow[] }> {
    const [first] = rows;
    if (dialect.runEach && first) {
      oneRow ??= insertNew(db, [encodeRow(first, dialect)]).compile().sql;
      const changes = dialect.runEach(
        oneRow,
        rows.map((row) => encodeValues(row, dialect)),
      );
      return { added: rows.filter((_row, at) => changes[at] === 1), met: rows.filter((_row, at) => changes[at] === 0) };
    }
    const keys = new Set<string>();
    for (let start = 0; start < rows.length; start += rowsPerStatement) {
      const some = rows.slice(start, start + rowsPerStatement).map((row) => encodeRow(row, dialect));
      for (const one of await insertNew(db, some).returning(['started_at', 'id']).execute()) keys.add(keyOf(one));
    }
    return { added: rows.filter((row) => keys.has(storedKey(row))), met: rows.filter((row) => !keys.has(storedKey(row))) };
  }

  async function replace(db: Kysely<Database>, rows: readonly RequestRow[]): Promise<Change[]> {
    const known = await readKnown(db, dialect, rows);
    const better = rows.filter((row) => row.authority > (known.get(storedKey(row))?.authority ?? Number.POSITIVE_INFINITY));
    for (const row of better) await upsert(db, encodeRow(row, dialect)).execute();
    return better.map((after) => ({ before: known.get(storedKey(after)) ?? null, after }));
  }

  return async (db, given) => {
    const rows = uniqueByKey(given);
    const { added, met } = await insert(db, rows);
    const changes: Change[] = added.map((after) => ({ before: null, after }));
    return met.length === 0 ? changes : changes.concat(await replace(db, met));
  };
}

async function readKnown(db: Kysely<Database>, dialect: StorageDialect, rows: readonly RequestRow[]): Promise<Map<string, RequestRow>> {
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
      rows.map((row) => encodeRow(row, dialect).id),
    );
  // Whoever else replaces one of these waits for us, and then sees ours.
  const found = await (dialect.mode === 'postgresql' ? query.orderBy('started_at').orderBy('id').forUpdate() : query).execute();
  return new Map(found.map((columns) => [keyOf(columns), decodeRow(columns)]));
}

const insertNew = (db: Kysely<Database>, columns: RequestColumns[]) =>
  db
    .insertInto('request_stats')
    .values(columns)
    .onConflict((conflict) => conflict.columns(['started_at', 'id']).doNothing());

const upsert = (db: Kysely<Database>, columns: RequestColumns) =>
  db
    .insertInto('request_stats')
    .values(columns)
    .onConflict((conflict) =>
      conflict.columns(['started_at', 'id']).doUpdateSet((eb) => Object.fromEntries(replaced.map((name) => [name, eb.ref(`excluded.${name}`)]))),
    );

const keyOf = (row: { started_at: number; id: string }): string => `${row.started_at}:${row.id}`;
/** As the database has it. */
const storedKey = (row: RequestRow): string => keyOf({ started_at: Math.round(row.started_at), id: row.id });

/** One statement may not touch a row twice, and statements that lock rows in one order cannot block each other. */
function uniqueByKey(rows: readonly RequestRow[]): RequestRow[] {
  const best = new Map<string, RequestRow>();
  for (const row of rows) {
    const key = storedKey(row);
    const known = best.get(key);
    if (!known || row.authority > known.authority) best.set(key, row);
  }
  return [...best.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
}
