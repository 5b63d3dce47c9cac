/** Scripts and rules of an upstream or a model that the address names (`?model=` or `?upstream=`): the drawers' way to here. */
import { useSearch } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { useOne } from '../../api/resources.ts';

/** Calls `take` once, with what is stored; never where `restored` says that what was written since is back. Gives the name, for a line that says so. */
export function useLoaded<T>(take: (stored: T) => void, restored = false): string | null {
  const { model, upstream } = useSearch({ strict: false }) as { model?: unknown; upstream?: unknown };
  const name = typeof model === 'string' ? model : typeof upstream === 'string' ? upstream : null;
  const { data } = useOne<T>(typeof model === 'string' ? 'models' : 'upstreams', name);
  const taken = useRef<string | null>(null);
  useEffect(() => {
    if (!data || restored || taken.current === name) return;
    taken.current = name;
    take(data);
  });
  return data ? name : null;
}
