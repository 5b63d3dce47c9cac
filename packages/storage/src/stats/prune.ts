/** Deletes what is older than its retention: whole partitions where there are any, else small pieces. */
import { type Kysely, sql } from 'kysely';
import { deleteInPieces, deleteOlder, pauseOfDeletion } from '../delete-in-pieces.ts';
import type { StorageDialect } from '../dialects/dialect.ts';
import { type DayPartitions, isHeldUp, waitBriefly } from '../requests/day-partitions.ts';
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

const seriesAtOnce = 500;

/** Resolves with the number of deleted rows and partitions. `stopped` ends it early. */
export async function prune(
  { db, dialect, days }: { db: Kysely<Database>; dialect: StorageDialect; days: DayPartitions | null },
  keep: Keep,
  stopped: () => boolean,
): Promise<{ rows: number; partitions: number }> {
  try {
    const rows =
      keep.rows === null ? 0 : await deleteOlder(db, { table: days ? otherPartition : 'request_stats', time: 'started_at', before: keep.rows }, stopped);
    if (keep.sessions !== null) await deleteSessions(db, keep.sessions, stopped);
    if (keep.rows !== null) await deleteOlder(db, { table: 'touched_upstreams', time: 'started_at', before: keep.rows }, stopped);
    await pruneAttempts(db, keep.sums, stopped);
    for (const [grain, before] of Object.entries(keep.sums) as [Grain, number | null][]) if (before !== null) await deleteSums(db, grain, before, stopped);
    // Last, since others' locks may be in the way of both.
    const partitions = keep.rows === null ? 0 : ((await days?.dropBefore(keep.rows)) ?? 0);
    await deleteSeries(db, dialect, stopped);
    return { rows, partitions };
  } catch (error) {
    throw dialect.translateError(error);
  }
}

const deleteSessions = (db: Kysely<Database>, before: number, stopped: () => boolean): Promise<number> =>
  deleteInPieces(db, { table: 'stat_sessions', key: ['session_id', 'access_key', 'currency'], where: sql`last_at < ${before}`, order: 'last_at' }, stopped);

async function lastSeries(db: Kysely<Database>): Promise<number> {
  const last = await db
    .selectFrom('stat_series')
    .select((eb) => eb.fn.max('id').as('id'))
    .executeTakeFirst();
  return Number(last?.id ?? -1);
}

/** By runs of series, the order in which these tables are stored. */
async function deleteSums(db: Kysely<Database>, grain: Grain, before: number, stopped: () => boolean): Promise<void> {
  const last = await lastSeries(db);
  for (let from = 0; from <= last && !stopped(); from += seriesAtOnce) {
    // An hour of each series in the upkeep of every hour; all hours of months where the retention was shortened.
    const where = sql`series >= ${from} and series < ${from + seriesAtOnce} and grain = ${grains[grain]} and start < ${before}`;
    await deleteInPieces(db, { table: 'stat_sums', key: ['series', 'grain', 'start'], where, order: 'series' }, stopped);
    await pauseOfDeletion();
  }
}

/** Those without any sums: names of keys, models and errors that have not occurred for longer than sums are kept. */
async function deleteSeries(db: Kysely<Database>, dialect: StorageDialect, stopped: () => boolean): Promise<void> {
  const last = await lastSeries(db);
  for (let from = 0; from <= last && !stopped(); from += seriesAtOnce) {
    const unused = sql`id >= ${from} and id < ${from + seriesAtOnce} and not exists (select 1 from stat_sums s where s.series = stat_series.id)`;
    const { rows } = await sql<{ id: number }>`select id from stat_series where ${unused}`.execute(db);
    const ids = rows.map(({ id }) => Number(id));
    if (ids.length > 0 && !(await deleteUnused(db, dialect, ids))) return;
    await pauseOfDeletion();
  }
}

/** Of these series those that have no sums. False: somebody reads statistics for longer than writers may wait, and they stay until the next time. */
async function deleteUnused(db: Kysely<Database>, dialect: StorageDialect, ids: readonly number[]): Promise<boolean> {
  try {
    await db.transaction().execute(async (transaction) => {
      // Writers read the ids in the transaction that adds to their sums: none may be between the two.
      if (dialect.mode === 'postgresql') {
        await waitBriefly(transaction);
        await sql`lock table stat_series in access exclusive mode`.execute(transaction);
      }
      // Looked for again: one may have been given sums before the lock.
      const unused = sql`not exists (select 1 from stat_sums s where s.series = stat_series.id)`;
      await sql`delete from stat_series where id in (${sql.join(ids)}) and ${unused}`.execute(transaction);
    });
    return true;
  } catch (error) {
    if (isHeldUp(error)) return false;
    throw error;
  }
}
