/** The dimensions of statistics, and the sums kept for them: one for all, one for each value of each dimension, one for each combination. */
import { cleanText } from '../requests/clean-text.ts';
import type { StoredRow } from '../requests/row-codec.ts';
import { type Measures, measureNames } from '../schema.ts';
import { type Dimension, dimensions } from './dimension-names.ts';

export type Scope = 'all' | Dimension | 'full';
export const scopes: readonly Scope[] = ['all', ...dimensions, 'full'];

export const grains = { minute: 0, hour: 1, day: 2 } as const;
export type Grain = keyof typeof grains;
export const grainMs: Record<Grain, number> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };
export const startOf = (time: number, grain: Grain): number => Math.floor(time / grainMs[grain]) * grainMs[grain];

/** '' stands for none. */
export type Values = Record<Dimension, string>;

/** The error class; '' for success. */
export const errorOf = ({ error_code, status }: Pick<StoredRow, 'error_code' | 'status'>): string =>
  error_code ?? (status !== null && status >= 400 ? `http_${status}` : '');

const maxLength = 200;
const short = (value: string | null): string => (value === null ? '' : value.length <= maxLength ? value : cleanText(value, maxLength));

export const valuesOf = (row: StoredRow): Values => ({
  // An orphan is not attributed to an access key: its caller was refused.
  access_key: row.kind === 'orphan' ? '' : short(row.access_key),
  key_group: row.kind === 'orphan' ? '' : short(row.key_group),
  model: short(row.model),
  upstream: short(row.upstream),
  client_protocol: row.client_protocol ?? '',
  upstream_protocol: row.upstream_protocol ?? '',
  error: short(errorOf(row)),
});

/** '' for what has no price. */
export const currencyOf = (row: StoredRow): string => (row.cost_micros === null ? '' : (row.currency ?? ''));

/** Of other kinds of rows (such as a session whose turns have rows of their own), only duration and cost are added up. */
export const isRequest = ({ kind }: Pick<StoredRow, 'kind'>): boolean => kind !== 'orphan' && kind !== 'realtime_session';

/** A caller that disconnected is not a failure of the upstream. */
const left = 'client_gone';

/** Adds a row, or takes it back. */
export function addRow(to: Measures, row: StoredRow, sign: 1 | -1): void {
  to.cost_micros += sign * bounded(row.cost_micros);
  to.duration_ms += sign * bounded(row.duration_ms);
  if (!isRequest(row)) return;
  const error = errorOf(row);
  to.requests += sign;
  if (error !== '' && error !== left) to.errors += sign;
  if (row.usage_source !== null) {
    if (row.usage_source !== 'upstream') to.estimated += sign;
    if (row.cost_micros === null) to.unpriced += sign;
  }
  to.input += sign * bounded(row.input_tokens);
  to.output += sign * bounded(row.output_tokens);
  to.cache_read += sign * bounded(row.cache_read_tokens);
  to.cache_write += sign * bounded(row.cache_write_tokens);
  to.reasoning += sign * bounded(row.reasoning_tokens);
  to.audio_input += sign * bounded(row.audio_input_tokens);
  to.audio_output += sign * bounded(row.audio_output_tokens);
}

/** Upstreams may report any number as a count; a sum must stay within the safe integers. */
const bounded = (value: number | null): number => (value === null ? 0 : value > 1e15 ? 1e15 : value < -1e15 ? -1e15 : value);

export function addMeasures(to: Measures, more: Measures): void {
  for (const name of measureNames) to[name] += more[name];
}

export const noMeasures = (): Measures => ({
  requests: 0,
  errors: 0,
  estimated: 0,
  unpriced: 0,
  input: 0,
  output: 0,
  cache_read: 0,
  cache_write: 0,
  reasoning: 0,
  cost_micros: 0,
  duration_ms: 0,
  audio_input: 0,
  audio_output: 0,
});
