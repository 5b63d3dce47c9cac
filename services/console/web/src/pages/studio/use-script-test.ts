/** The trial of a script. */
import type { ScriptTest } from '@model-gateway/console/answers';
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

export const useScriptTest = () =>
  useMutation<ScriptTest, ApiProblem, ScriptTrial>({ mutationFn: (trial) => call('scripts/test', { method: 'POST', body: trial }) });
