/** Statistics of tries at upstreams: unlike those of requests they show failures that another upstream made good. */
import { type AttemptGroup, attemptDimensions, grainMs, startOf } from '@model-gateway/storage';
import { z } from 'zod';
import type { ConsoleContext } from '../context.ts';
import { invalidField } from '../problem.ts';
import { csvHeaders, csvLine } from '../statistics/csv.ts';
import { readInput } from '../validation/read-input.ts';
import { isoTime } from './answers/iso-time.ts';
import { statsAttempts } from './answers/statistics.ts';
import { dayMs, instant, toRange } from './instant.ts';
import { base, type Route } from './route.ts';

/** '' asks for those that have none. */
const value = z.string().max(200).optional();

export const attemptQuery = z.object({
  from: instant,
  to: instant,
  upstream: value,
  /** Stable id of a key entry. */
  key: value,
  model: value,
  /** `ok`, `client_gone`, `http_429`, `connect_dns` and the like. */
  outcome: value,
  by: z.enum(attemptDimensions).default('upstream'),
  granularity: z.enum(['auto', 'hour', 'day']).default('auto'),
  /** Also told apart by time. */
  over_time: z.enum(['true', 'false']).default('false'),
  /** How many values of `by`, those with the most attempts first. */
  limit: z.coerce.number().int().min(1).max(1_000).default(20),
  format: z.enum(['json', 'csv']).default('json').meta({ undocumented: true }),
});

const maxPoints = 2_000;

const shownOf = ({ start, value, upstream, attempts, failed, outcomes, averageMs, duration }: AttemptGroup) => ({
  ...(start !== null && { start }),
  value: value === '' ? null : value,
  ...(upstream !== null && { upstream }),
  attempts,
  failed,
  failure_rate: failed / attempts,
  outcomes,
  duration_ms: { average: averageMs, ...duration },
});

export const attemptRoutes = ({ storage: { requests } }: ConsoleContext, now: () => number): Route[] => [
  {
    method: 'get',
    path: `${base}/stats/attempts`,
    operationId: 'read_stats_attempts',
    summary: 'Tries at upstreams by upstream, key entry, model or outcome: failures before a failover, of refused requests and of orphans are all counted',
    tag: 'statistics',
    query: attemptQuery,
    status: 200,
    answer: statsAttempts,
    textForm: 'csv',
    async handle(request, response) {
      const { by, granularity, over_time, limit, format, from: _from, to: _to, ...filters } = readInput(attemptQuery, request.query);
      const { from, to } = toRange({ from: _from, to: _to }, now());
      const grain = granularity === 'auto' ? (to - from <= 3 * dayMs ? 'hour' : 'day') : granularity;
      const range = { from: startOf(from, grain), to: startOf(Math.max(from, to - 1), grain) + grainMs[grain] };
      const overTime = over_time === 'true';
      if (overTime && (range.to - range.from) / grainMs[grain] > maxPoints)
        throw invalidField('granularity', `gives more than ${maxPoints} points in this range`);
      const asked = Object.fromEntries(attemptDimensions.flatMap((name) => (filters[name] === undefined ? [] : [[name, filters[name]]])));
      const items = (await requests.readAttempts({ ...range, grain, filters: asked, by, limit, overTime })).map(shownOf);
      if (format === 'json') return void response.json({ ...range, granularity: grain, by, items });
      const lines = items.map(({ start, value, upstream, attempts, failed, duration_ms }) =>
        csvLine([
          start === undefined ? null : isoTime(start),
          upstream ?? null,
          value,
          attempts,
          failed,
          duration_ms.average,
          duration_ms.p50,
          duration_ms.p95,
          duration_ms.p99,
        ]),
      );
      const head = csvLine([
        'start',
        'key_of_upstream',
        by,
        'attempts',
        'failed',
        'duration_ms_average',
        'duration_ms_p50',
        'duration_ms_p95',
        'duration_ms_p99',
      ]);
      response.set(csvHeaders('attempts')).send([head, ...lines].join(''));
    },
  },
];
