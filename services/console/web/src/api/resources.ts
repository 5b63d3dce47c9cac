/** Hooks for the resources that share the six verbs of the API. */
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { call, path } from './client.ts';

export type ResourcePath =
  | 'upstreams'
  | 'models'
  | 'load-balancers'
  | 'key-groups'
  | 'access-keys'
  | 'pricing'
  | 'mcp-servers'
  | 'search-providers'
  | 'alert-channels'
  | 'users'
  | 'sso-credentials';

/** One page of a list. */
export interface Page<T> {
  items: T[];
  total: number;
  page: number;
  page_size: number;
}

/** Paging, search and filters of a list. */
export interface ListOptions {
  page?: number;
  page_size?: number;
  q?: string;
  sort?: string;
  /** Filters that the resource knows beside the search. */
  [filter: string]: string | number | boolean | null | undefined;
}

/** One page of a resource; the previous page stays visible while the next one loads. */
export const useList = <T>(
  resource: ResourcePath,
  options: ListOptions = {},
  { enabled = true, refetchInterval }: { enabled?: boolean; refetchInterval?: number } = {},
) =>
  useQuery({
    queryKey: [resource, 'list', options],
    queryFn: ({ signal }) => call<Page<T>>(resource, { query: options, signal }),
    placeholderData: keepPreviousData,
    enabled,
    ...(refetchInterval !== undefined && { refetchInterval }),
  });

/** One resource with its revision in `$etag`. */
export const useOne = <T>(resource: ResourcePath, name: string | null) =>
  useQuery({
    queryKey: [resource, 'one', name],
    queryFn: ({ signal }) => call<T & { $etag?: string }>(path(resource, name ?? ''), { signal }),
    enabled: name !== null,
  });

/** A resource to create or change. */
export interface SaveRequest {
  /** null: create. */
  name: string | null;
  body: unknown;
  etag?: string | null;
}

/** Creates or changes; every list of the resource is read again afterwards. */
export function useSave<T>(resource: ResourcePath) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ name, body, etag }: SaveRequest) =>
      name === null ? call<T>(resource, { method: 'POST', body }) : call<T>(path(resource, name), { method: 'PATCH', body, etag: etag ?? null }),
    onSuccess: () => client.invalidateQueries({ queryKey: [resource] }),
  });
}

export function useRemove(resource: ResourcePath) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ name, etag }: { name: string; etag?: string | null }) => call<void>(path(resource, name), { method: 'DELETE', etag: etag ?? null }),
    // What was deleted is not asked for again: it would be shown as a fault before its form has closed.
    onSuccess: async (_answer, { name }) => {
      await client.invalidateQueries({ queryKey: [resource], predicate: ({ queryKey }) => queryKey[2] !== name });
      await client.invalidateQueries({ queryKey: [resource], refetchType: 'none' });
    },
  });
}
