/** What a list shows (its search, filters, order and page) is part of its address: it is loaded again and shared with it, and Back goes to what was shown before. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback } from 'react';
import type { ListState } from './data-table.tsx';

type Search = Readonly<Record<string, unknown>>;
/** undefined takes the parameter away. */
export type Change = Readonly<Record<string, string | number | readonly string[] | undefined>>;

const text = (value: unknown): string => (value === undefined || value === null || typeof value === 'object' ? '' : String(value));

/** `replace`: the entry of the browser's history is changed, for what is typed letter by letter. */
export function useAddress(): { search: Search; change: (next: Change, options?: { replace?: boolean }) => void } {
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const change = useCallback(
    (next: Change, { replace = false } = {}) => {
      const merge = (known: Search) => Object.fromEntries(Object.entries({ ...known, ...next }).filter(([, value]) => value !== undefined));
      void navigate({ to: '.', search: merge, replace, resetScroll: false, ignoreBlocker: true } as never);
    },
    [navigate],
  );
  return { search, change };
}

/** Search, order and page of a list. What is as it begins is left out of the address. */
export function useListState(firstSort = 'name'): [ListState, (next: ListState, options?: { replace?: boolean }) => void] {
  const { search, change } = useAddress();
  const page = Number(text(search['page']));
  const state: ListState = {
    page: Number.isSafeInteger(page) && page > 0 ? page : 1,
    q: text(search['q']),
    sort: text(search['sort']) || firstSort,
  };
  const set = (next: ListState, { replace = next.q !== state.q && state.q !== '' } = {}) =>
    change(
      {
        page: next.page === 1 ? undefined : next.page,
        q: next.q || undefined,
        sort: next.sort === firstSort ? undefined : next.sort,
      },
      // The first letter leaves the whole list behind, which Back should find again; the next ones leave half a word.
      { replace },
    );
  return [state, set];
}

/** One filter of a list; null: it is not set. Another choice begins at the first page. */
export function useFilter(name: string): [string | null, (value: string | null) => void] {
  const { search, change } = useAddress();
  return [text(search[name]) || null, (value) => change({ [name]: value || undefined, page: undefined })];
}

/** The same for several values. */
export function useFilters(name: string): [string[], (values: string[]) => void] {
  const { search, change } = useAddress();
  const given = search[name];
  const values = (Array.isArray(given) ? given : [given]).map(text).filter((value) => value !== '');
  return [values, (next) => change({ [name]: next.length > 0 ? next : undefined, page: undefined })];
}
