/** Statistics and rows of requests as the API gives them. */
import type { SeriesAnswer, Summary, TopItem } from '@model-gateway/console/answers';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { call } from './client.ts';

export type { Figures, LogRow, SeriesAnswer, Summary, TopItem } from '@model-gateway/console/answers';

export type Query = Record<string, string | number | boolean | null | undefined>;

const stepMs = { minute: 60_000, quarter: 900_000, hour: 3_600_000, day: 86_400_000 } as const;

/** So many ms back from now, or from one time to another. */
export type Span = number | { from: number; to: number };

/** Ranges that are a length end now, whenever they are asked for. */
const rangeOf = (span: Span): Query => (typeof span === 'number' ? { from: Date.now() - span, to: Date.now() } : { ...span });

function useStats<T>(name: string, span: Span, query: Query, refreshMs: number | false) {
  return useQuery({
    queryKey: ['stats', name, span, query],
    // An empty filter asks for those that have none.
    queryFn: ({ signal }) => call<T>(`stats/${name}`, { query: { ...rangeOf(span), ...query }, withEmpty: true, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: refreshMs,
  });
}

export const useSummary = (span: Span, query: Query = {}, refreshMs: number | false = 30_000) =>
  useStats<Summary>('summary', span, { compare: true, ...query }, refreshMs);
export const useSeries = (span: Span, query: Query = {}, refreshMs: number | false = 30_000) => useStats<SeriesAnswer>('series', span, query, refreshMs);
export const useTop = (span: Span, query: Query, refreshMs: number | false = 30_000) => useStats<{ items: TopItem[] }>('top', span, query, refreshMs);

/** Length of one step of a series, in ms. */
export const stepOf = ({ granularity }: SeriesAnswer): number => stepMs[granularity];

/** Every start of the range, also those in which nothing happened: a chart must not draw over a gap. */
export function startsOf({ from, to, granularity }: SeriesAnswer): number[] {
  const step = stepMs[granularity];
  return Array.from({ length: Math.max(1, Math.round((to - from) / step)) }, (_, at) => from + at * step);
}

/** Saves a table of the API as a file. Resolves to how many of the first it holds where there may be more; null: it holds all. */
export async function download(where: string, query: Query, name: string): Promise<number | null> {
  const response = await call<Response>(where, { query: { ...query, format: 'csv' }, withEmpty: true, as: 'response' });
  // Spreadsheets tell UTF-8 by this mark alone: names in Chinese would be garbled. Programs ask the API, which sends none.
  const address = URL.createObjectURL(new Blob(['\ufeff', await response.blob()]));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
  const first = response.headers.get('x-first-only');
  return first === null ? null : Number(first);
}
