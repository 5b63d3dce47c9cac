/** Statistics and rows of requests as the API gives them. */
import type { SeriesAnswer, Summary, TopItem } from '@model-gateway/console/answers';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { call } from './client.ts';

export type { Figures, LogRow, SeriesAnswer, Summary, TopItem } from '@model-gateway/console/answers';

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
