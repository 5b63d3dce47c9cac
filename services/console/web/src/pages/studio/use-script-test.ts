/** The trial of a script. */
import type { ScriptSlot } from '@model-gateway/contracts';
import { useMutation } from '@tanstack/react-query';
import { call } from '../../api/client.ts';
import type { ApiProblem } from '../../api/problem.ts';

/** A script and the body to try it on. */
export interface ScriptTrial {
  script: string;
  slot: ScriptSlot;
  body: Record<string, unknown>;
  context: Record<string, unknown>;
}

/** What a script made of the body, and what running it took. */
export interface ScriptTrialResult {
  result_body: unknown;
  execution_time_ms: number;
  operations: number;
  /** Where the script would send the request. */
  use_model?: string;
}

export const useScriptTest = () =>
  useMutation<ScriptTrialResult, ApiProblem, ScriptTrial>({ mutationFn: (trial) => call('scripts/test', { method: 'POST', body: trial }) });
