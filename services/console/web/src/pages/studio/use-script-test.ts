/** The calls of the studio's scripts: a trial, and the names that a script may use. */
import type { ScriptSlot } from '@model-gateway/contracts';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { call } from '../../api/client.ts';
import type { ApiProblem } from '../../api/problem.ts';
import type { CodeCompletion } from '../../components/code-completion.ts';
import { completionsOf } from './declarations.ts';

export interface ScriptTrial {
  script: string;
  slot: ScriptSlot;
  body: Record<string, unknown>;
  context: Record<string, unknown>;
}

export interface ScriptTrialResult {
  result_body: unknown;
  execution_time_ms: number;
  operations: number;
  /** Where the script would send the request. */
  use_model?: string;
}

export const useScriptTest = () =>
  useMutation<ScriptTrialResult, ApiProblem, ScriptTrial>({ mutationFn: (trial) => call('scripts/test', { method: 'POST', body: trial }) });

/** Empty until they are known. */
export function useCompletions(): readonly CodeCompletion[] {
  const { data } = useQuery({
    queryKey: ['script-types'],
    queryFn: ({ signal }) => call<{ types: string }>('scripts/types', { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  return useMemo(() => (data ? completionsOf(data.types) : []), [data]);
}
