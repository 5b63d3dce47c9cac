/** Statistics and rows of requests as the API gives them. */
import type { Loss } from '@model-gateway/contracts';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { call } from './client.ts';

/** Quantiles of a latency in milliseconds. */
export interface Latencies {
  p50: number | null;
  p95: number | null;
  p99: number | null;
}

/** A sum of money in one currency. */
export interface Cost {
  currency: string;
  cost_micros: number;
}

/** Counts, tokens and costs of a group of requests. */
export interface Figures {
  requests: number;
  errors: number;
  error_rate: number | null;
  estimated_requests: number;
  unpriced_requests: number;
  input_tokens: number;
  output_tokens: number;
  cache_read_tokens: number;
  cache_write_tokens: number;
  reasoning_tokens: number;
  total_tokens: number;
  cost: Cost[];
  duration_ms: Latencies & { average: number | null };
  first_content_ms: Latencies;
}

/** `dead_letters`: messages of the bus that were set aside, of any time; absent from a console of an earlier version. */
export type Summary = Figures & { from: number; to: number; dead_letters?: number; previous?: Figures };
/** Figures over time; intervals without requests are left out. */
export interface SeriesAnswer {
  from: number;
  to: number;
  granularity: 'minute' | 'hour' | 'day';
  items: (Figures & { start: number; value?: string | null })[];
}
export type TopItem = Figures & { value: string | null; access_key?: string };

/** A row of the request log, as the API returns it. */
export interface LogRow {
  id: string;
  client_request_id: string | null;
  started_at: number;
  access_key: string | null;
  key_group: string | null;
  session_id: string | null;
  model: string | null;
  requested_model: string | null;
  upstream: string | null;
  upstream_model_id: string | null;
  client_protocol: string | null;
  upstream_protocol: string | null;
  stream: boolean;
  status: number;
  error_code: string | null;
  attempts: { upstream: string; key_index: number; status: number | null; error_code: string | null; duration_ms: number; message?: string }[];
  input_tokens: number;
  output_tokens: number;
  cache_read_tokens: number;
  cache_write_tokens: number;
  reasoning_tokens: number;
  usage_source: string | null;
  cost_micros: number | null;
  currency: string | null;
  queue_ms: number | null;
  ttfb_ms: number | null;
  first_content_ms: number | null;
  duration_ms: number;
  request_bytes: number;
  response_bytes: number;
  client_ip: string | null;
  user_agent: string | null;
  losses: Loss[];
  /** Steps of its preparation that did something, in order. */
  pipeline: string[];
  /** What the row is of: a call, or a part or an aftermath of one. */
  kind: string;
  /** The id of the request that this row belongs to. */
  of: string | null;
  /** Models that the request was rerouted to; else empty. */
  routes: string[];
  ending?: 'finish' | 'break' | null;
}

export type Query = Record<string, string | number | boolean | null | undefined>;

const stepMs = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;

/** Ranges end now, whenever they are asked for: `ms` back from then. */
const rangeOf = (ms: number): Query => ({ from: Date.now() - ms, to: Date.now() });

function useStats<T>(name: string, ms: number, query: Query, refreshMs: number | false) {
  return useQuery({
    queryKey: ['stats', name, ms, query],
    // An empty filter asks for those that have none.
    queryFn: ({ signal }) => call<T>(`stats/${name}`, { query: { ...rangeOf(ms), ...query }, withEmpty: true, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: refreshMs,
  });
}

export const useSummary = (ms: number, query: Query = {}, refreshMs: number | false = 30_000) =>
  useStats<Summary>('summary', ms, { compare: true, ...query }, refreshMs);
export const useSeries = (ms: number, query: Query = {}, refreshMs: number | false = 30_000) => useStats<SeriesAnswer>('series', ms, query, refreshMs);
export const useTop = (ms: number, query: Query, refreshMs: number | false = 30_000) => useStats<{ items: TopItem[] }>('top', ms, query, refreshMs);

/** Every start of the range, also those in which nothing happened: a chart must not draw over a gap. */
export function startsOf({ from, to, granularity }: SeriesAnswer): number[] {
  const step = stepMs[granularity];
  return Array.from({ length: Math.max(1, Math.round((to - from) / step)) }, (_, at) => from + at * step);
}

/** Saves a table of the API as a file. */
export async function download(where: string, query: Query, name: string): Promise<void> {
  const response = await call<Response>(where, { query: { ...query, format: 'csv' }, withEmpty: true, as: 'response' });
  const address = URL.createObjectURL(await response.blob());
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
