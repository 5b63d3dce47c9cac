/** What became of the latest attempts, for each key entry, model and outcome: what the state of an upstream is read from. */
import { type Kysely, sql } from 'kysely';
import type { StorageDialect } from '../dialects/dialect.ts';
import type { Database } from '../schema.ts';
import { grainMs, grains, startOf } from './dimensions.ts';
import { quantile, readCounts } from './histogram.ts';

/** Attempts with one key entry of one upstream for one model that ended the same way. Times are the beginnings of minutes, ms since the epoch. */
export interface RecentAttempts {
  upstream: string;
  /** Stable id of the key entry; '' when the upstream has none. */
  key: string;
  model: string;
  outcome: string;
  /** Within the window; 0 when all of them were before it. */
  attempts: number;
  /** Bucket counts of their durations, to be added to those of others. */
  durations: string;
  first: number;
  last: number;
}

/** When a key entry was last tried for a model, to the day. */
export interface SeenAttempts {
  upstream: string;
  key: string;
  model: string;
  day: number;
}

/** Attempts within `window` ms before `at` are counted, those within `back` ms looked at for how long it has been so. */
export interface RecentQuery {
  at: number;
  window: number;
  back: number;
  /** How far back to look for what was ever tried. */
  seenDays: number;
}

export interface RecentAnswer {
  recent: RecentAttempts[];
  seen: SeenAttempts[];
}

type RecentRow = Omit<RecentAttempts, 'attempts' | 'first' | 'last'> & Record<'attempts' | 'first' | 'last', number | string | null>;

export async function readRecentAttempts(db: Kysely<Database>, dialect: StorageDialect, { at, window, back, seenDays }: RecentQuery): Promise<RecentAnswer> {
  const begin = startOf(at - window, 'minute');
  try {
    const { rows } = await sql<RecentRow>`select upstream, key_id as key, model, outcome,
      sum(case when start >= ${begin} then attempts else 0 end) as attempts, min(start) as first, max(start) as last,
      string_agg(case when start >= ${begin} then duration_counts else '' end, ' ') as durations
      from attempt_sums where grain = ${grains.minute} and start >= ${startOf(at - back, 'minute')} and attempts > 0
      group by upstream, key_id, model, outcome`.execute(db);
    const { rows: seen } = await sql<SeenAttempts>`select upstream, key_id as key, model, max(start) as day
      from attempt_sums where grain = ${grains.day} and start >= ${startOf(at - seenDays * grainMs.day, 'day')} and attempts > 0
      group by upstream, key_id, model`.execute(db);
    return {
      recent: rows.map((row) => ({ ...row, attempts: Number(row.attempts), first: Number(row.first), last: Number(row.last) })),
      seen: seen.map((row) => ({ ...row, day: Number(row.day) })),
    };
  } catch (error) {
    throw dialect.translateError(error);
  }
}

/** Median of durations as `RecentAttempts` has them, in ms; null of none. */
export function medianOf(durations: readonly string[]): number | null {
  const histogram = new Map<number, number>();
  for (const counts of durations) readCounts(histogram, counts);
  return quantile(histogram, 0.5);
}
