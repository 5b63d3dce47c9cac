/** Tasks of upstreams: the list, and the wish that one be stopped. */
import type { TaskPage } from '@model-gateway/console/answers';
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { call, path } from './client.ts';

const tasks = ['tasks'] as const;

/** What the list is narrowed to; null: not by this. */
export type TaskFilters = Record<'state' | 'model' | 'access_key' | 'account_gone' | 'request' | 'id', string | null>;

export const useTasks = (filters: TaskFilters) =>
  useInfiniteQuery({
    queryKey: [...tasks, filters],
    queryFn: ({ pageParam, signal }) => call<TaskPage>('tasks', { query: { ...filters, cursor: pageParam }, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
  });

export function useCancelTask() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => call<void>(path('tasks', id), { method: 'DELETE' }),
    onSuccess: () => client.invalidateQueries({ queryKey: tasks }),
  });
}
