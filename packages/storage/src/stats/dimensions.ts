/** What rows are told apart by, and the sums that are kept of them: one for all, one for each value of each dimension, one for each combination. */
import type { RequestRow } from '@model-gateway/contracts';
import { cleanText } from '../requests/clean-text.ts';
import { type Measures, measureNames } from '../schema.ts';

export const dimensions = ['access_key', 'key_group', 'model', 'upstream', 'client_protocol', 'upstream_protocol', 'error'] as const;
export type Dimension = (typeof dimensions)[number];
export type Scope = 'all' | Dimension | 'full';
export const scopes: readonly Scope[] = ['all', ...dimensions, 'full'];

export const grains = { minute: 0, hour: 1, day: 2 } as const;
export type Grain = keyof typeof grains;
export const grainMs: Record<Grain, number> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };
export const startOf = (time: number, grain: Grain): number => Math.floor(time / grainMs[grain]) * grainMs[grain];

/** '' stands for none. */
export type Values = Record<Dimension, string>;

/** The class of what went wrong; '' when nothing did. */
export const errorOf = ({ error_code, status }: Pick<RequestRow, 'error_code' | 'status'>): string => error_code ?? (status >= 400 ? `http_${status}` : '');

const longest = 200;
const short = (value: string | null): string => (value === null ? '' : cleanText(value, longest));

export const valuesOf = (row: RequestRow): Values => ({
  access_key: short(row.access_key),
  key_group: short(row.key_group),
  model: short(row.model),
  upstream: short(row.upstream),
  client_protocol: row.client_protocol ?? '',
  upstream_protocol: row.upstream_protocol ?? '',
  error: short(errorOf(row)),
});

/** A caller who left is nobody's failure. */
const left = 'client_gone';

export function measuresOf(row: RequestRow, sign: 1 | -1): Measures {
  const error = errorOf(row);
  const one = (condition: boolean): number => (condition ? sign : 0);
  return {
    requests: sign,
    errors: one(error !== '' && error !== left),
    estimated: one(row.usage_source !== null && row.usage_source !== 'upstream'),
    unpriced: one(row.usage_source !== null && row.cost_micros === null),
    input: sign * whole(row.input_tokens),
    output: sign * whole(row.output_tokens),
    cache_read: sign * whole(row.cache_read_tokens),
    cache_write: sign * whole(row.cache_write_tokens),
    reasoning: sign * whole(row.reasoning_tokens),
    cost_micros: sign * whole(row.cost_micros ?? 0),
    duration_ms: sign * whole(row.duration_ms),
  };
}

/** What upstreams count may be anything; a sum must stay a whole number. */
const whole = (value: number): number => (Number.isFinite(value) ? Math.max(-1e15, Math.min(1e15, Math.round(value))) : 0);

export function addMeasures(to: Measures, more: Measures): void {
  for (const name of measureNames) to[name] += more[name];
}
