/** Stored bodies of requests: which there are, and those of one request, whose reading is recorded. */
import type { LogDetails } from '@model-gateway/console/answers';
import type { BodyEntry, RequestBodies } from '@model-gateway/contracts';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { call, path } from './client.ts';

/** Asked for only when somebody wants to read: each look is recorded, so that what was read once is not read again by another part of the page. */
const bodiesOf = (id: string) => ({
  queryKey: ['bodies', 'of', id],
  queryFn: () => call<RequestBodies>(path('logs', id, 'bodies')),
  staleTime: Number.POSITIVE_INFINITY,
  retry: false as const,
});

export const useBodies = (id: string, wanted: boolean) => useQuery({ ...bodiesOf(id), enabled: wanted });

export function useReadBodies(): (id: string) => Promise<RequestBodies> {
  const client = useQueryClient();
  return (id) => client.fetchQuery(bodiesOf(id));
}

const requestOf = (id: string) => ({
  queryKey: ['logs', 'one', id],
  queryFn: ({ signal }: { signal: AbortSignal }) => call<LogDetails>(path('logs', id), { signal }),
  retry: false as const,
});

/** One finished request. */
export const useRequest = (id: string, wanted: boolean) => useQuery({ ...requestOf(id), enabled: wanted });

/** Whether its bodies are stored. A row that has just come may be a moment ahead of them. */
export const useHasBodies = (id: string, wanted: boolean) =>
  useQuery({
    ...requestOf(id),
    select: ({ has_bodies }) => has_bodies,
    enabled: wanted,
    refetchInterval: ({ state }) => (state.data?.has_bodies === false && state.dataUpdateCount < 3 ? 1_000 : false),
  });

export const useRecentBodies = (wanted: boolean) =>
  useQuery({
    queryKey: ['bodies', 'list'],
    queryFn: async ({ signal }) => (await call<{ items: BodyEntry[] }>('logs/bodies', { query: { limit: 100 }, signal })).items,
    enabled: wanted,
  });
