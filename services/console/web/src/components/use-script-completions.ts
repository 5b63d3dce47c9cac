/** The names that a script may use, as the API declares them. */
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { call } from '../api/client.ts';
import type { CodeCompletion } from './code-completion.ts';
import { completionsOf } from './script-declarations.ts';

/** Empty until they are known. */
export function useScriptCompletions(): readonly CodeCompletion[] {
  const { data } = useQuery({
    queryKey: ['script-types'],
    queryFn: ({ signal }) => call<{ types: string }>('scripts/types', { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  return useMemo(() => (data ? completionsOf(data.types) : []), [data]);
}
