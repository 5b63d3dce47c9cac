/** Statistics: sums of requests, tokens, money, errors and latencies, by what they are told apart by, over time. */
import { type Dimension, dimensions, type Grain, grainMs, type StatsFilters, type StatsQuery, startOf } from '@model-gateway/storage';
import type { Response } from 'express';
import { z } from 'zod';
import type { ConsoleContext } from '../context.ts';
import { invalidField } from '../problem.ts';
import { csvHeaders } from '../statistics/csv.ts';
import { figuresTable, sessionFigures, timedFiguresOf } from '../statistics/figures.ts';
import { readInput } from '../validation/read-input.ts';
import { isoTime } from './answers/iso-time.ts';
import { statsSeries, statsSessions, statsSummary, statsTop } from './answers/statistics.ts';
import { clocksApartMs, dayMs, instant, toRange } from './instant.ts';
import { base, type Route } from './route.ts';

/** Other words for what people ask by: short ones, and the one that rows have for an error. */
const aliases = { key: 'access_key', group: 'key_group', protocol: 'client_protocol', error_code: 'error' } as const;
const otherNames = ['key', 'group', 'protocol', 'error_code'] as const satisfies readonly (keyof typeof aliases)[];
const dimensionNames = [...dimensions, ...otherNames] as const;
const toDimension = (name: (typeof dimensionNames)[number]): Dimension => (name in aliases ? aliases[name as keyof typeof aliases] : (name as Dimension));
const oneOf = <const T extends readonly string[]>(names: T) => z.enum(names, { error: `is not one of ${names.join(', ')}` });
/** By `tag`: what a key with several tags used is in each of them. */
const grouping = oneOf([...dimensionNames, 'tag']).transform((name) => (name === 'tag' ? name : toDimension(name)));
const dimensionOrSession = oneOf([...dimensionNames, 'tag', 'session']).transform((name) => (name === 'session' || name === 'tag' ? name : toDimension(name)));
/** '' asks for those that have none. */
const value = z.string().max(200).optional();
const grainNames = ['auto', 'minute', 'quarter', 'hour', 'day'] as const;
const quarterMs = 15 * 60_000;

const rangeQuery = z.object({
  from: instant,
  to: instant,
  access_key: value,
  key_group: value,
  model: value,
  upstream: value,
  client_protocol: value,
  upstream_protocol: value,
  error_code: value.describe('An error code, as rows have it; empty asks for what went well'),
  /** What it was called before rows and statistics used one word. */
  error: value.meta({ undocumented: true }),
  /** The short words, as `by` takes them. */
  key: value,
  group: value,
  protocol: value,
  format: z.enum(['json', 'csv']).default('json').meta({ undocumented: true }),
});
export const summaryQuery = rangeQuery.extend({
  /** Also the range of the same length before it. */
  compare: z.enum(['true', 'false']).default('false'),
});
const ordered = z.enum(['requests', 'errors', 'tokens', 'cost', 'duration']).default('requests');
export const seriesQuery = rangeQuery.extend({
  granularity: z.enum(grainNames).default('auto'),
  by: grouping.optional(),
  /** Which values of `by` are the first. */
  order: ordered,
  /** How many values of `by`, the first by `order`: a table may have more of them than a chart. */
  limit: z.coerce.number().int().min(1).max(1_000).default(8).describe('How many values of `by`; more than 20 in a table alone'),
});
export const topQuery = rangeQuery.extend({
  by: dimensionOrSession.default('model'),
  order: ordered,
  limit: z.coerce.number().int().min(1).max(1_000).default(20),
});
export const sessionsQuery = z.object({
  from: instant,
  to: instant,
  access_key: value,
  /** The short word, as elsewhere. */
  key: value,
  session_id: z.string().max(512).optional(),
  order: z.enum(['last', 'cost', 'requests']).default('last'),
  limit: z.coerce.number().int().min(1).max(1_000).default(50),
  format: z.enum(['json', 'csv']).default('json').meta({ undocumented: true }),
});

const orders = { requests: 'requests', errors: 'errors', tokens: 'tokens', cost: 'cost_micros', duration: 'duration_ms' } as const;
const sessionOrders = { last: 'last_at', cost: 'cost_micros', requests: 'requests', errors: 'requests', tokens: 'requests', duration: 'last_at' } as const;

/** So many points a chart can still show, and an answer hold. */
const maxPoints = 2_000;
/** So many values of a dimension have a colour of their own at most. */
const maxCharted = 20;

/** Ranges of some days go by hours, longer ones by days, which begin at midnight UTC: there are as many sums for each key as there are hours. */
const sumGrain = (ms: number): Grain => (ms <= 2 * dayMs ? 'hour' : 'day');

/** By minutes only where nothing tells them apart: those sums are of all requests, and of the last hours. */
function seriesGrain(asked: (typeof grainNames)[number], { from, to }: { from: number; to: number }, plain: boolean, now: number): Grain | 'quarter' {
  const recent = plain && from > now - 36 * 3_600_000;
  if ((asked === 'minute' || asked === 'quarter') && !recent) throw invalidField('granularity', 'minutes are kept for 36 hours, and without filters or `by`');
  if (asked !== 'auto') return asked;
  if (recent && to - from <= 3 * 3_600_000) return 'minute';
  if (recent && to - from <= 25 * 3_600_000) return 'quarter';
  return to - from <= 3 * dayMs ? 'hour' : 'day';
}

type Asked = Partial<Record<Dimension | keyof typeof aliases, string | undefined>>;

/** Throws 422 when a word and its short form ask for different things. */
function filtersOf(query: Asked): StatsFilters {
  const asked: Asked = { ...query };
  for (const [short, name] of Object.entries(aliases) as [keyof typeof aliases, Dimension][]) {
    asked[name] ??= query[short];
    if (query[short] !== undefined && query[short] !== asked[name]) throw invalidField(short, `and ${name} ask for different things`);
  }
  return Object.fromEntries(dimensions.flatMap((name) => (asked[name] === undefined ? [] : [[name, asked[name]]])));
}

/** What a session used is summed up by its key alone: any other filter would be ignored. Throws 422. */
function refuseOtherFilters(filters: StatsFilters): void {
  const other = dimensions.find((name) => name !== 'access_key' && filters[name] !== undefined);
  if (other) throw invalidField(other, 'does not narrow sessions: access_key alone does');
}

/** Whole grains: the first and the last may reach beyond what was asked for, as the answer tells. */
const within = (from: number, to: number, grain: Grain): Pick<StatsQuery, 'from' | 'to' | 'grain'> => ({
  from: startOf(from, grain),
  to: startOf(Math.max(from, to - 1), grain) + grainMs[grain],
  grain,
});
/** Of minutes, taken together. */
const quarters = (from: number, to: number): Pick<StatsQuery, 'from' | 'to' | 'grain' | 'stepMs'> => ({
  from: Math.floor(from / quarterMs) * quarterMs,
  to: Math.ceil(Math.max(to, from + 1) / quarterMs) * quarterMs,
  grain: 'minute',
  stepMs: quarterMs,
});
const answeredRange = ({ from, to, grain }: Pick<StatsQuery, 'from' | 'to' | 'grain'>) => ({ from, to, granularity: grain });

const shown = (text: string): string | null => (text === '' ? null : text);
const sendTable = (response: Response, name: string, lines: Iterable<string>): void => void response.set(csvHeaders(name)).send([...lines].join(''));
/** Of a table that holds so many as were asked for: there may be more, which its reader should know. */
const setLimitHeader = (response: Response, held: number, limit: number): void => {
  if (held >= limit) response.set('x-first-only', String(limit));
};

const summary =
  ({ storage: { requests, deadLetters } }: ConsoleContext, now: () => number): Route['handle'] =>
  async (request, response) => {
    const query = readInput(summaryQuery, request.query);
    const { from, to } = toRange(query, now());
    const filters = filtersOf(query);
    const read = async (range: Pick<StatsQuery, 'from' | 'to' | 'grain'>) => {
      const [group] = await requests.readStats({ ...range, filters, overTime: false });
      return { ...answeredRange(range), ...timedFiguresOf(group) };
    };
    const range = within(from, to, sumGrain(to - from));
    const summary = await read(range);
    if (query.format === 'csv')
      return sendTable(
        response,
        'summary',
        figuresTable(['from', 'to'], [summary], (one) => [isoTime(one.from), isoTime(one.to)]),
      );
    const previous = query.compare === 'true' ? await read({ ...range, from: range.from - (range.to - range.from), to: range.from }) : undefined;
    response.json({ ...summary, dead_letters: await deadLetters.count(), ...(previous && { previous }) });
  };

const series =
  ({ storage: { requests } }: ConsoleContext, now: () => number): Route['handle'] =>
  async (request, response) => {
    const query = readInput(seriesQuery, request.query);
    const { from, to } = toRange(query, now());
    const filters = filtersOf(query);
    const plain = query.by === undefined && Object.keys(filters).length === 0;
    if (query.format === 'json' && query.limit > maxCharted)
      throw invalidField('limit', `is at most ${maxCharted} in JSON; a table (format=csv) may have 1000`);
    const granularity = seriesGrain(query.granularity, { from, to }, plain, now());
    const range: Pick<StatsQuery, 'from' | 'to' | 'grain' | 'stepMs'> = granularity === 'quarter' ? quarters(from, to) : within(from, to, granularity);
    if ((range.to - range.from) / (range.stepMs ?? grainMs[range.grain]) > maxPoints)
      throw invalidField('granularity', `gives more than ${maxPoints} points in this range`);
    const by = query.by === undefined ? undefined : { dimension: query.by, order: orders[query.order], limit: query.limit };
    const groups = await requests.readStats({ ...range, filters, overTime: true, ...(by && { by }) });
    const items = groups.map((group) => ({ start: group.start ?? 0, ...(by && { value: shown(group.value ?? '') }), ...timedFiguresOf(group) }));
    if (by) setLimitHeader(response, new Set(groups.map(({ value: one }) => one)).size, by.limit);
    if (query.format === 'csv')
      return sendTable(
        response,
        'series',
        figuresTable(['start', ...(query.by ? [query.by] : [])], items, (one) => [isoTime(one.start), ...(by ? [one.value ?? null] : [])]),
      );
    response.json({ from: range.from, to: range.to, granularity, by: query.by ?? null, items });
  };

const top =
  ({ storage: { requests } }: ConsoleContext, now: () => number): Route['handle'] =>
  async (request, response) => {
    const query = readInput(topQuery, request.query);
    const { from, to } = toRange(query, now());
    const filters = filtersOf(query);
    if (query.by === 'session') {
      refuseOtherFilters(filters);
      const sessions = await requests.readSessions({
        from,
        to,
        ...(filters.access_key !== undefined && { accessKey: filters.access_key }),
        order: sessionOrders[query.order],
        limit: query.limit,
      });
      const items = sessions.map((one) => ({ value: one.sessionId, ...sessionFigures(one) }));
      setLimitHeader(response, items.length, query.limit);
      if (query.format === 'csv')
        return sendTable(
          response,
          'top',
          figuresTable(['session', 'access_key'], items, (one) => [one.value, one.access_key]),
        );
      return void response.json({ from, to, by: 'session', items });
    }
    const range = within(from, to, sumGrain(to - from));
    const by = { dimension: query.by, order: orders[query.order], limit: query.limit };
    const groups = await requests.readStats({ ...range, filters, overTime: false, by });
    const items = groups.map((group) => ({ value: shown(group.value ?? ''), ...timedFiguresOf(group) }));
    setLimitHeader(response, items.length, query.limit);
    if (query.format === 'csv')
      return sendTable(
        response,
        'top',
        figuresTable([query.by], items, (one) => [one.value]),
      );
    response.json({ ...answeredRange(range), by: query.by, items });
  };

const sessions =
  ({ storage: { requests } }: ConsoleContext, now: () => number): Route['handle'] =>
  async (request, response) => {
    const query = readInput(sessionsQuery, request.query);
    const { from, to } = toRange(query, now(), clocksApartMs);
    const { access_key: accessKey } = filtersOf(query);
    const sessions = await requests.readSessions({
      from,
      to,
      ...(accessKey !== undefined && { accessKey }),
      ...(query.session_id !== undefined && { sessionId: query.session_id }),
      order: sessionOrders[query.order],
      limit: query.limit,
    });
    const items = sessions.map(sessionFigures);
    setLimitHeader(response, items.length, query.limit);
    if (query.format === 'csv')
      return sendTable(
        response,
        'sessions',
        figuresTable(['session_id', 'access_key', 'first_at', 'last_at'], items, (one) => [
          one.session_id,
          one.access_key,
          isoTime(one.first_at),
          isoTime(one.last_at),
        ]),
      );
    response.json({ from, to, items });
  };

/** The routes under `/stats`, each also as a table. */
export function statsRoutes(context: ConsoleContext, now: () => number): Route[] {
  const route = (name: string, summary: string, { query, answer }: { query: z.ZodObject; answer: z.ZodType }, handle: Route['handle']): Route => ({
    method: 'get',
    path: `${base}/stats/${name}`,
    operationId: `read_stats_${name}`,
    summary,
    tag: 'statistics',
    query,
    status: 200,
    answer,
    textForm: 'csv',
    handle,
  });
  return [
    route('summary', 'Requests, tokens, money, errors and latencies of a time range', { query: summaryQuery, answer: statsSummary }, summary(context, now)),
    route('series', 'The same over time, and by one dimension', { query: seriesQuery, answer: statsSeries }, series(context, now)),
    route('top', 'Who or what had the most of it', { query: topQuery, answer: statsTop }, top(context, now)),
    route('sessions', 'Sessions of coding agents, and what they used', { query: sessionsQuery, answer: statsSessions }, sessions(context, now)),
  ];
}
