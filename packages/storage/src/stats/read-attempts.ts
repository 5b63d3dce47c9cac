/** Reads the sums of attempts at upstreams. */
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { StorageDialect } from '../dialects/dialect.ts';
import type { Database } from '../schema.ts';
import { harmlessOutcomes, wentWell } from './attempts.ts';
import { type AttemptDimension, attemptDimensions } from './dimension-names.ts';
import { type Grain, grains } from './dimensions.ts';
import { type Histogram, quantile, readCounts } from './histogram.ts';
import type { Latencies } from './read-stats.ts';

/** A query over attempts: range, filters and grouping. */
export interface AttemptQuery {
  /** Milliseconds since the epoch, both at the begin of a grain: from inclusive, to exclusive. */
  from: number;
  to: number;
  grain: Exclude<Grain, 'minute'>;
  filters: Partial<Record<AttemptDimension, string>>;
  by: AttemptDimension;
  /** Values with the most attempts first. */
  limit: number;
  /** One group for each start that has any. */
  overTime: boolean;
}

/** Sums of one group of attempts; durations in ms. */
export interface AttemptGroup {
  start: number | null;
  value: string;
  /** Of a key entry, whose id says little without it; else null. */
  upstream: string | null;
  attempts: number;
  /** Without callers who left. */
  failed: number;
  /** The most frequent first. */
  outcomes: { outcome: string; attempts: number }[];
  averageMs: number | null;
  duration: Latencies;
}

const columns: Record<AttemptDimension, RawBuilder<unknown>> = { upstream: sql`upstream`, key: sql`key_id`, model: sql`model`, outcome: sql`outcome` };

interface SumRow {
  value: string;
  upstream: string;
  outcome: string;
  start: number | null;
  attempts: number | string;
  duration_ms: number | string;
  counts: string;
}

/** Oldest first, then those with the most attempts. */
export async function readAttempts(db: Kysely<Database>, dialect: StorageDialect, query: AttemptQuery): Promise<AttemptGroup[]> {
  const { from, to, grain, filters, by, limit, overTime } = query;
  const conditions = [sql`grain = ${grains[grain]}`, sql`start >= ${from}`, sql`start < ${to}`];
  for (const name of attemptDimensions) if (filters[name] !== undefined) conditions.push(sql`${columns[name]} = ${filters[name]}`);
  const grouped = [columns[by], sql`outcome`, ...(by === 'key' ? [sql`upstream`] : []), ...(overTime ? [sql`start`] : [])];
  try {
    const { rows } = await sql<SumRow>`select ${columns[by]} as value, ${by === 'key' ? sql`upstream` : sql`''`} as upstream, outcome,
      ${overTime ? sql`start` : sql`null`} as start, sum(attempts) as attempts, sum(duration_ms) as duration_ms, string_agg(duration_counts, ' ') as counts
      from attempt_sums where ${sql.join(conditions, sql` and `)} group by ${sql.join(grouped)}`.execute(db);
    return first(gather(rows, by), limit);
  } catch (error) {
    throw dialect.translateError(error);
  }
}

interface Gathered {
  start: number | null;
  value: string;
  upstream: string | null;
  attempts: number;
  duration: number;
  outcomes: Map<string, number>;
  histogram: Histogram;
}

function gather(rows: readonly SumRow[], by: AttemptDimension): Gathered[] {
  const groups = new Map<string, Gathered>();
  for (const { value, upstream, outcome, start, attempts, duration_ms, counts } of rows) {
    const id = `${start ?? ''}\u0001${upstream}\u0001${value}`;
    const known: Gathered = groups.get(id) ?? {
      start: start === null ? null : Number(start),
      value,
      upstream: by === 'key' ? upstream : null,
      attempts: 0,
      duration: 0,
      outcomes: new Map(),
      histogram: new Map(),
    };
    groups.set(id, known);
    known.attempts += Number(attempts);
    known.duration += Number(duration_ms);
    known.outcomes.set(outcome, (known.outcomes.get(outcome) ?? 0) + Number(attempts));
    readCounts(known.histogram, counts);
  }
  // What was taken back is zero.
  return [...groups.values()].filter(({ attempts }) => attempts > 0);
}

/** The values that have the most attempts in the whole range, in the order of time. */
function first(groups: readonly Gathered[], limit: number): AttemptGroup[] {
  const nameOf = ({ value, upstream }: Gathered): string => `${upstream ?? ''}\u0001${value}`;
  const totals = new Map<string, number>();
  for (const group of groups) totals.set(nameOf(group), (totals.get(nameOf(group)) ?? 0) + group.attempts);
  const order = [...totals].sort(([one, a], [other, b]) => b - a || (one < other ? -1 : 1)).map(([name]) => name);
  const place = new Map(order.slice(0, limit).map((name, at) => [name, at]));
  return groups
    .filter((group) => place.has(nameOf(group)))
    .sort((one, other) => (one.start ?? 0) - (other.start ?? 0) || place.get(nameOf(one))! - place.get(nameOf(other))!)
    .map(finish);
}

function finish({ start, value, upstream, attempts, duration, outcomes, histogram }: Gathered): AttemptGroup {
  const nonZero = [...outcomes].filter(([, count]) => count > 0).map(([outcome, count]) => ({ outcome, attempts: count }));
  return {
    start,
    value,
    upstream,
    attempts,
    failed: nonZero.reduce((sum, one) => (one.outcome === wentWell || harmlessOutcomes.has(one.outcome) ? sum : sum + one.attempts), 0),
    outcomes: nonZero.sort((one, other) => other.attempts - one.attempts),
    averageMs: attempts === 0 ? null : Math.round(duration / attempts),
    duration: { p50: quantile(histogram, 0.5), p95: quantile(histogram, 0.95), p99: quantile(histogram, 0.99) },
  };
}
