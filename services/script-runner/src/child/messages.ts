/** What a slot's process is asked and answers. Plain data: the process shares no memory with its host. */
import type { ScriptContext, ScriptOutcome } from '@model-gateway/contracts';

export interface SlotSettings {
  mostOperations: number;
  memoryLimitMb: number;
  /** For one run, inside the sandbox. */
  timeoutMs: number;
  lazyBody: boolean;
}

export interface SlotRequest {
  script: string;
  context: ScriptContext;
  canSwitch: boolean;
}

export type SlotAnswer = { ready: true } | ScriptOutcome;
