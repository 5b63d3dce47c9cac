/** Deletions of any size: in small pieces with pauses between them, so that no writer waits long for the rows, and SQLite not for its one lock. */
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Database } from './schema.ts';

/** SQLite deletes on the gateway's own thread: this many rows at once take about two milliseconds. */
const rowsAtOnce = 200;
const pauseMs = 10;

/** Which rows of a table are deleted. */
export interface Deletion {
  table: string;
  /** The columns of its primary key. */
  key: readonly string[];
  where: RawBuilder<unknown>;
  /** What the rows are found by, in the order of an index. */
  order: string;
  /** Rows of one piece. Default 200. */
  rowsAtOnce?: number;
}

/** Resolves with the number of deleted rows. `stopped` ends it early. */
export async function deleteInPieces(db: Kysely<Database>, deletion: Deletion, stopped: () => boolean): Promise<number> {
  const { where, order } = deletion;
  const table = sql.table(deletion.table);
  const key = sql.join(deletion.key.map((name) => sql.ref(name)));
  const limit = deletion.rowsAtOnce ?? rowsAtOnce;
  let all = 0;
  while (!stopped()) {
    const { numAffectedRows } = await sql`delete from ${table} where (${key}) in
      (select ${key} from ${table} where ${where} order by ${sql.ref(order)} limit ${limit})`.execute(db);
    const gone = Number(numAffectedRows ?? 0n);
    if (gone === 0) break;
    all += gone;
    await pauseOfDeletion();
  }
  return all;
}

/** Lets others at the table before the next piece. */
export const pauseOfDeletion = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, pauseMs));

/** Deletes older rows from a table whose key is a time and an id. Resolves with the number deleted. */
export const deleteOlder = (
  db: Kysely<Database>,
  { table, time, before }: { table: string; time: string; before: number },
  stopped: () => boolean,
): Promise<number> => deleteInPieces(db, { table, key: [time, 'id'], where: sql`${sql.ref(time)} < ${before}`, order: time }, stopped);
