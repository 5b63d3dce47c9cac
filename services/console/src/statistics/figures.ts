/** What the sums say, as the API and its tables have it. */
import { printMoney } from '@model-gateway/contracts';
import type { Latencies, SessionSums, StatsGroup } from '@model-gateway/storage';
import type { Figures, TimedFigures } from '../api/answers/statistics.ts';
import { type Cell, csvLine } from './csv.ts';

function figuresOf({ measures, cost }: Pick<StatsGroup, 'measures' | 'cost'>): Figures {
  const { requests, errors, estimated, unpriced, input, output, cache_read, cache_write, reasoning, audio_input, audio_output } = measures;
  return {
    requests,
    errors,
    error_rate: requests === 0 ? null : errors / requests,
    estimated_requests: estimated,
    unpriced_requests: unpriced,
    input_tokens: input,
    output_tokens: output,
    cache_read_tokens: cache_read,
    cache_write_tokens: cache_write,
    reasoning_tokens: reasoning,
    audio_input_tokens: audio_input,
    audio_output_tokens: audio_output,
    total_tokens: input + output + cache_read + cache_write + reasoning + audio_input + audio_output,
    cost: cost.map((one) => ({ ...one, cost: printMoney(one.cost_micros) })),
  };
}

const unknown: Latencies = { p50: null, p95: null, p99: null };
const nothing = {
  requests: 0,
  errors: 0,
  estimated: 0,
  unpriced: 0,
  input: 0,
  output: 0,
  cache_read: 0,
  cache_write: 0,
  reasoning: 0,
  duration_ms: 0,
  audio_input: 0,
  audio_output: 0,
};

/** Of no group: all zero. */
export function timedFiguresOf(group: StatsGroup | undefined): TimedFigures {
  const { measures, duration, firstContent, cost } = group ?? { measures: nothing, cost: [], duration: unknown, firstContent: unknown };
  const average = measures.requests === 0 ? null : Math.round(measures.duration_ms / measures.requests);
  return { ...figuresOf({ measures, cost }), duration_ms: { average, ...duration }, first_content_ms: firstContent };
}

export const sessionFigures = (session: SessionSums): Figures & Record<'session_id' | 'access_key', string> & Record<'first_at' | 'last_at', number> => ({
  session_id: session.sessionId,
  access_key: session.accessKey,
  first_at: session.firstAt,
  last_at: session.lastAt,
  ...figuresOf(session),
});

const plain = [
  'requests',
  'errors',
  'estimated_requests',
  'unpriced_requests',
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'reasoning_tokens',
  'audio_input_tokens',
  'audio_output_tokens',
  'total_tokens',
] as const;
const quantiles = ['p50', 'p95', 'p99'] as const;

/** A table of figures: what tells the rows apart first, then counts, latencies where there are any, and one column for each currency. */
export function* figuresTable<T extends Figures & Partial<TimedFigures>>(
  names: readonly string[],
  rows: readonly T[],
  cellsOf: (row: T) => readonly Cell[],
): Generator<string> {
  const currencies = [...new Set(rows.flatMap(({ cost }) => cost.map(({ currency }) => currency)))].sort();
  const timed = rows.some(({ duration_ms }) => duration_ms !== undefined);
  const times = timed ? ['duration_ms_average', ...quantiles.map((name) => `duration_ms_${name}`), ...quantiles.map((name) => `first_content_ms_${name}`)] : [];
  yield csvLine([...names, ...plain, ...times, ...currencies.map((currency) => `cost_${currency}`)]);
  for (const row of rows) {
    const { duration_ms, first_content_ms } = row;
    const latencies = timed
      ? [duration_ms?.average ?? null, ...quantiles.map((name) => duration_ms?.[name] ?? null), ...quantiles.map((name) => first_content_ms?.[name] ?? null)]
      : [];
    const costs = currencies.map((currency) => ({ decimal: row.cost.find((one) => one.currency === currency)?.cost ?? '0' }));
    yield csvLine([...cellsOf(row), ...plain.map((name) => row[name]), ...latencies, ...costs]);
  }
}
