/** Every name that callers may use, and what a group grants of them, by the same wildcard rule as the gateway's. */
import { matchesWildcard } from '@model-gateway/routing/wildcard';
import { useQuery } from '@tanstack/react-query';
import { call, path } from './client.ts';
import type { Page } from './resources.ts';

/** A model or load balancer that callers can name. */
export interface CallableName {
  /** Canonical: what groups grant. */
  name: string;
  kind: 'model' | 'load-balancer';
  aliases: string[];
  /** The canonical name answers 404: aliases alone are called. */
  hidden: boolean;
  enabled: boolean;
}

interface Listed {
  name: string;
  aliases: string[];
  hide_name?: boolean;
  enabled: boolean;
}

/** As many as anyone can look through; more can be typed. */
const maxPages = 10;

/** Of the names that hold what was typed, as many are offered at once. */
export const offeredNames = 200;

async function readAll(resource: 'models' | 'load-balancers', signal: AbortSignal): Promise<Listed[]> {
  const items: Listed[] = [];
  for (let page = 1; page <= maxPages; page++) {
    const found = await call<Page<Listed>>(resource, { query: { page, page_size: 200, sort: 'name' }, signal });
    items.push(...found.items);
    if (items.length >= found.total || found.items.length === 0) break;
  }
  return items;
}

const fromListed =
  (kind: CallableName['kind']) =>
  ({ name, aliases, hide_name, enabled }: Listed): CallableName => ({ name, kind, aliases, hidden: hide_name === true, enabled });

export const useCatalogNames = (enabled = true) =>
  useQuery({
    queryKey: ['catalog-names'],
    queryFn: async ({ signal }) => {
      const [models, balancers] = await Promise.all([readAll('models', signal), readAll('load-balancers', signal)]);
      return [...balancers.map(fromListed('load-balancer')), ...models.map(fromListed('model'))];
    },
    enabled,
  });

export const isGranted = (patterns: readonly string[], name: string): boolean => patterns.some((pattern) => matchesWildcard(pattern, name));

/** Names as callers write them: canonical unless hidden, then aliases. */
export const calledNames = (names: readonly CallableName[]): string[] =>
  names.filter(({ enabled }) => enabled).flatMap(({ name, aliases, hidden }) => [...(hidden ? [] : [name]), ...aliases]);

/** What an access key may call; null key: everything there is. */
export function useGrantedNames(accessKey: string | null): string[] {
  const names = useCatalogNames().data ?? [];
  const key = useQuery({
    queryKey: ['access-keys', 'one', accessKey],
    queryFn: ({ signal }) => call<{ group: string }>(path('access-keys', accessKey ?? ''), { signal }),
    enabled: accessKey !== null,
  });
  const groupName = key.data?.group ?? null;
  const group = useQuery({
    queryKey: ['key-groups', 'one', groupName],
    queryFn: ({ signal }) => call<{ models: string[] }>(path('key-groups', groupName ?? ''), { signal }),
    enabled: groupName !== null,
  });
  if (accessKey === null) return calledNames(names);
  const patterns = group.data?.models ?? [];
  return calledNames(names.filter(({ name }) => isGranted(patterns, name)));
}
