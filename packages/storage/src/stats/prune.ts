/** Deletes what is older than its retention: whole partitions where there are any, else small pieces with pauses between them. */
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { StorageDialect } from '../dialects/dialect.ts';
import type { DayPartitions } from '../requests/day-partitions.ts';
import { otherPartition } from '../requests/days.ts';
import type { Database } from '../schema.ts';
import { pruneAttempts } from './attempts.ts';
import { type Grain, grains } from './dimensions.ts';

/** For each table: what is older than this (ms since the epoch) is deleted. null: kept for ever. */
export interface Keep {
  rows: number | null;
  sessions: number | null;
  sums: Readonly<Record<Grain, number | null>>;
}

/** SQLite deletes on the gateway's own thread: this many at once take about two milliseconds. */
const rowsAtOnce = 200;
const seriesAtOnce = 500;
const pauseMs = 10;

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, pauseMs));

/** Resolves with the number of deleted rows and partitions. `stopped` ends it early. */
export async function prune(
  { db, dialect, days }: { db: Kysely<Database>; dialect: StorageDialect; days: DayPartitions | null },
  keep: Keep,
  stopped: () => boolean,
): Promise<{ rows: number; partitions: number }> {
  try {
    const rows =
      keep.rows === null ? 0 : await deleteOlder(db, { table: days ? otherPartition : 'request_stats', time: 'started_at', before: keep.rows }, stopped);
    if (keep.sessions !== null)
      await repeat(
        () =>
          deletePiece(
            db,
            sql`delete from stat_sessions where (session_id, access_key, currency) in
        (select session_id, access_key, currency from stat_sessions where last_at < ${keep.sessions} limit ${rowsAtOnce})`,
          ),
        stopped,
      );
    if (keep.rows !== null) await deleteOlder(db, { table: 'touched_upstreams', time: 'started_at', before: keep.rows }, stopped);
    await pruneAttempts(db, keep.sums);
    for (const [grain, before] of Object.entries(keep.sums) as [Grain, number | null][]) if (before !== null) await deleteSums(db, grain, before, stopped);
    // Last, since others' locks may be in its way.
    const partitions = keep.rows === null ? 0 : ((await days?.dropBefore(keep.rows)) ?? 0);
    return { rows, partitions };
  } catch (error) {
    throw dialect.translateError(error);
  }
}

/** Deletes older rows, in small pieces, from a table whose key is a time and an id. Resolves with the number deleted. */
export const deleteOlder = (
  db: Kysely<Database>,
  { table, time, before }: { table: string; time: string; before: number },
  stopped: () => boolean,
): Promise<number> =>
  repeat(
    () =>
      deletePiece(
        db,
        sql`delete from ${sql.table(table)} where (${sql.ref(time)}, id) in
    (select ${sql.ref(time)}, id from ${sql.table(table)} where ${sql.ref(time)} < ${before} order by ${sql.ref(time)} limit ${rowsAtOnce})`,
      ),
    stopped,
  );

/** By runs of series, the order in which these tables are stored. */
async function deleteSums(db: Kysely<Database>, grain: Grain, before: number, stopped: () => boolean): Promise<void> {
  const last = await db
    .selectFrom('stat_series')
    .select((eb) => eb.fn.max('id').as('id'))
    .executeTakeFirst();
  for (let from = 0; from <= Number(last?.id ?? -1) && !stopped(); from += seriesAtOnce) {
    await deletePiece(
      db,
      sql`delete from stat_sums where series >= ${from} and series < ${from + seriesAtOnce} and grain = ${grains[grain]} and start < ${before}`,
    );
    await pause();
  }
}

async function deletePiece(db: Kysely<Database>, statement: RawBuilder<unknown>): Promise<number> {
  const { numAffectedRows } = await statement.execute(db);
  return Number(numAffectedRows ?? 0n);
}

async function repeat(piece: () => Promise<number>, stopped: () => boolean): Promise<number> {
  let all = 0;
  while (!stopped()) {
    const gone = await piece();
    all += gone;
    if (gone === 0) break;
    await pause();
  }
  return all;
}
