/** What a member sees: the own keys, their groups, requests and costs. */
import type { MyCosts, MyGroups, MyKeys, MyRequests } from '@model-gateway/console/answers';
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { call } from '../../api/client.ts';

export type MyKey = MyKeys['items'][number];
export type MyGroup = MyGroups['items'][number];

const dayMs = 86_400_000;

export const useMyGroups = () => useQuery({ queryKey: ['my', 'groups'], queryFn: ({ signal }) => call<MyGroups>('my/groups', { signal }) });
export const useMyKeys = () => useQuery({ queryKey: ['my', 'keys'], queryFn: ({ signal }) => call<MyKeys>('my/keys', { signal }) });
export const useMyCosts = (days: number) =>
  useQuery({
    queryKey: ['my', 'costs', days],
    queryFn: ({ signal }) => call<MyCosts>('my/costs', { query: { from: Date.now() - days * dayMs }, signal }),
  });
export const useMyRequests = (days: number) =>
  useInfiniteQuery({
    queryKey: ['my', 'requests', days],
    queryFn: ({ pageParam, signal }) => call<MyRequests>('my/requests', { query: { from: Date.now() - days * dayMs, cursor: pageParam }, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
  });

/** A change; all that a member sees is read again. */
export function useMyChange<T, V = void>(change: (values: V) => Promise<T>) {
  const client = useQueryClient();
  return useMutation({ mutationFn: change, onSuccess: () => client.invalidateQueries({ queryKey: ['my'] }) });
}
