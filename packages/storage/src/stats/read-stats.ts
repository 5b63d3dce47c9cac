/** Reads the sums: of all, by one dimension, over time, within what filters leave. No row of a request is touched. */
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { StorageDialect } from '../dialects/dialect.ts';
import { type Database, type Measures, measureNames } from '../schema.ts';
import { type Dimension, dimensions, type Grouping } from './dimension-names.ts';
import { type Grain, grainMs, grains, noMeasures, type Scope } from './dimensions.ts';
import { type Histogram, quantile, readCounts } from './histogram.ts';

/** A time range and its grain. */
export interface StatsRange {
  /** Milliseconds since the epoch, both at the begin of a grain: from inclusive, to exclusive. */
  from: number;
  to: number;
  grain: Grain;
}

export type StatsFilters = Partial<Record<Dimension, string>>;
export type StatsOrder = 'requests' | 'errors' | 'tokens' | 'cost_micros' | 'duration_ms';

/** A query over the sums: range, filters and grouping. By `tag`, what a key with several tags used is in each of them. */
export interface StatsQuery extends StatsRange {
  /** '' stands for none. */
  filters: StatsFilters;
  /** Told apart by this; only the `limit` first of `order`, or these `values`, are given. Minutes know no dimension. */
  by?: { dimension: Grouping; order: StatsOrder; limit: number; values?: readonly string[] };
  /** One group for each start that has any. */
  overTime: boolean;
  /** Starts are taken together to steps of so many ms, whole grains. */
  stepMs?: number;
}

/** Percentiles in ms; null without measurements. */
export interface Latencies {
  p50: number | null;
  p95: number | null;
  p99: number | null;
}

/** Sums of one group of requests. */
export interface StatsGroup {
  start: number | null;
  /** null without `by`; '' for none. */
  value: string | null;
  measures: Omit<Measures, 'cost_micros'>;
  /** By currency, of what has a price. */
  cost: { currency: string; cost_micros: number }[];
  /** In ms; mostly a few per cent off, and at most 19 %. */
  duration: Latencies;
  firstContent: Latencies;
}

/** What is added up for each order. Currencies are not converted: with several of them an order by cost is approximate. */
const ordered: Record<StatsOrder, readonly (keyof Measures)[]> = {
  requests: ['requests'],
  errors: ['errors'],
  tokens: ['input', 'output', 'cache_read', 'cache_write', 'reasoning', 'audio_input', 'audio_output'],
  cost_micros: ['cost_micros'],
  duration_ms: ['duration_ms'],
};

const orderInSql = (order: StatsOrder): RawBuilder<unknown> =>
  sql`sum(${sql.join(
    ordered[order].map((name) => sql.ref(`s.${name}`)),
    sql` + `,
  )})`;
const orderOf = (order: StatsOrder, sums: Measures): number => ordered[order].reduce((sum, name) => sum + sums[name], 0);

/** Of one dimension alone there are sums of their own, far fewer than the combinations. */
function scopeOf({ filters, by }: StatsQuery): Scope {
  const grouped = by?.dimension === 'tag' ? 'access_key' : by?.dimension;
  const used = new Set(dimensions.filter((name) => filters[name] !== undefined || grouped === name));
  const [only] = used;
  return only === undefined ? 'all' : used.size === 1 ? only : 'full';
}

/** Oldest first, or by `order`. */
export async function readStats(db: Kysely<Database>, dialect: StorageDialect, query: StatsQuery): Promise<StatsGroup[]> {
  try {
    const { by } = query;
    // A tag's sums are those of its keys, of which there may be thousands: they are read once, and the few tags put in order here.
    const allAtOnce = by?.dimension === 'tag' && !by.values;
    const known = by && !allAtOnce ? (by.values ?? (await firstValues({ db, dialect, query }, by))) : null;
    if (known?.length === 0) return [];
    const sums = await readSums({ db, dialect, query, values: known });
    const values = allAtOnce ? firstOf(sums, by) : known;
    return gather(query, values, allAtOnce ? sums.filter(({ value }) => values?.includes(value)) : sums);
  } catch (error) {
    throw dialect.translateError(error);
  }
}

interface Asked {
  db: Kysely<Database>;
  dialect: StorageDialect;
  query: StatsQuery;
}

interface Parts extends Asked {
  values: readonly string[] | null;
}

/** The join order is forced: from the few series to their sums by key. */
function source(query: StatsQuery, values: readonly string[] | null, dialect: StorageDialect, times = timesOf(query)): RawBuilder<unknown> {
  const conditions = [sql`d.scope = ${scopeOf(query)}`];
  for (const name of dimensions) if (query.filters[name] !== undefined) conditions.push(sql`${sql.ref(`d.${name}`)} = ${query.filters[name]}`);
  if (query.by && values) conditions.push(sql`${nameOf(query.by.dimension)} in (${sql.join(values)})`);
  const tags =
    query.by?.dimension === 'tag'
      ? sql`left join (select k.name as name, t.value as tag from access_keys k cross join ${dialect.elements(sql.ref('k.document'), 'tags')}) g on g.name = d.access_key`
      : sql``;
  return sql`from stat_series d ${tags} cross join stat_sums s where ${sql.join(conditions, sql` and `)} and s.series = d.id
    and (${times})`;
}

const timesOf = ({ grain, from, to }: StatsRange): RawBuilder<unknown> => sql`s.grain = ${grains[grain]} and s.start >= ${from} and s.start < ${to}`;

/** The same time by the sums of whole days, and by hours before and after them: of many values a month of hours is most of the table. */
function timesByDays(query: StatsRange): RawBuilder<unknown> {
  const { grain, from, to } = query;
  const first = Math.ceil(from / grainMs.day) * grainMs.day;
  const last = Math.floor(to / grainMs.day) * grainMs.day;
  if (grain !== 'hour' || last <= first) return timesOf(query);
  return sql`(${timesOf({ grain, from, to: first })}) or (${timesOf({ grain: 'day', from: first, to: last })}) or (${timesOf({ grain, from: last, to })})`;
}

/** Sums that were taken back are zero. */
const isThere = sql`(sum(s.requests) > 0 or sum(s.cost_micros) > 0 or sum(s.duration_ms) > 0)`;

const nameOf = (dimension: Grouping): RawBuilder<unknown> => (dimension === 'tag' ? sql`coalesce(g.tag, '')` : sql.ref(`d.${dimension}`));
const columnOf = ({ by }: StatsQuery): RawBuilder<unknown> => (by ? nameOf(by.dimension) : sql`''`);

async function firstValues({ db, dialect, query }: Asked, { dimension, order, limit }: NonNullable<StatsQuery['by']>): Promise<string[]> {
  const column = nameOf(dimension);
  const { rows } = await sql<{ value: string }>`select ${column} as value ${source(query, null, dialect, timesByDays(query))}
    group by ${column} having ${isThere} order by ${orderInSql(order)} desc, ${column} limit ${limit}`.execute(db);
  return rows.map(({ value }) => value);
}

/** The same order as `firstValues` gives, of sums that were read for every value. */
function firstOf(sums: readonly SumRow[], { order, limit }: NonNullable<StatsQuery['by']>): string[] {
  const totals = new Map<string, Measures>();
  for (const row of sums) {
    const total = totals.get(row.value) ?? noMeasures();
    for (const name of measureNames) total[name] += Number(row[name]);
    totals.set(row.value, total);
  }
  return [...totals]
    .filter(([, total]) => hasAny(total))
    .sort(([one, its], [other, others]) => orderOf(order, others) - orderOf(order, its) || (one < other ? -1 : 1))
    .slice(0, limit)
    .map(([value]) => value);
}

const hasAny = ({ requests, cost_micros, duration_ms }: Measures): boolean => requests > 0 || cost_micros > 0 || duration_ms > 0;

type SumRow = { value: string; start: number | null; currency: string; duration_counts: string; content_counts: string } & Record<
  keyof Measures,
  number | string
>;

/** A number of ours as text: an engine must recognize the expression of the list in the grouping. */
const stepOf = ({ stepMs }: StatsQuery): RawBuilder<unknown> => (stepMs === undefined ? sql`s.start` : sql.raw(`s.start - s.start % ${Math.trunc(stepMs)}`));
const startOf = (query: StatsQuery): RawBuilder<unknown> => (query.overTime ? stepOf(query) : sql`null`);
const grouping = (query: StatsQuery, ...more: RawBuilder<unknown>[]): RawBuilder<unknown> => {
  const columns = [...(query.by ? [columnOf(query)] : []), ...(query.overTime ? [stepOf(query)] : []), ...more];
  return sql`group by ${sql.join(columns)}`;
};

async function readSums({ db, dialect, query, values }: Parts): Promise<SumRow[]> {
  const sums = sql.join([
    ...measureNames.map((name) => sql`sum(${sql.ref(`s.${name}`)}) as ${sql.ref(name)}`),
    // Counts that follow one another say the same as their sum, which the engine cannot make: so all is read at once.
    ...(['duration_counts', 'content_counts'] as const).map((name) => sql`string_agg(${sql.ref(`s.${name}`)}, ' ') as ${sql.ref(name)}`),
  ]);
  const { rows } = await sql<SumRow>`select ${columnOf(query)} as value, ${startOf(query)} as start, d.currency as currency, ${sums}
    ${source(query, values, dialect)} ${grouping(query, sql`d.currency`)}`.execute(db);
  return rows;
}

interface Gathered {
  start: number | null;
  value: string;
  sums: Measures;
  cost: Map<string, number>;
  histograms: readonly [Histogram, Histogram];
}

function gather(query: StatsQuery, values: readonly string[] | null, sums: readonly SumRow[]): StatsGroup[] {
  const groups = new Map<string, Gathered>();
  const group = ({ value, start }: { value: string; start: number | null }): Gathered => {
    const id = `${start ?? ''}\u0001${value}`;
    let one = groups.get(id);
    if (!one) {
      one = { start: start === null ? null : Number(start), value, sums: noMeasures(), cost: new Map(), histograms: [new Map(), new Map()] };
      groups.set(id, one);
    }
    return one;
  };
  for (const row of sums) {
    const one = group(row);
    for (const name of measureNames) one.sums[name] += Number(row[name]);
    if (row.currency !== '') one.cost.set(row.currency, (one.cost.get(row.currency) ?? 0) + Number(row.cost_micros));
    readCounts(one.histograms[0], row.duration_counts);
    readCounts(one.histograms[1], row.content_counts);
  }
  const place = new Map(values?.map((value, at) => [value, at]));
  return [...groups.values()]
    .filter(({ sums }) => hasAny(sums))
    .sort((one, other) => (one.start ?? 0) - (other.start ?? 0) || (place.get(one.value) ?? 0) - (place.get(other.value) ?? 0))
    .map((one) => finish(one, query.by !== undefined));
}

function finish({ start, value, sums, cost, histograms }: Gathered, named: boolean): StatsGroup {
  const { cost_micros: _mixed, ...measures } = sums;
  return {
    start,
    value: named ? value : null,
    measures,
    cost: [...cost].filter(([, micros]) => micros !== 0).map(([currency, cost_micros]) => ({ currency, cost_micros })),
    duration: latenciesOf(histograms[0]),
    firstContent: latenciesOf(histograms[1]),
  };
}

const latenciesOf = (histogram: Histogram): Latencies => ({ p50: quantile(histogram, 0.5), p95: quantile(histogram, 0.95), p99: quantile(histogram, 0.99) });
