/** What a slot's process is asked and answers. Plain data: the process shares no memory with its host. */
import type { ScriptContext, ScriptOutcome } from '@model-gateway/contracts';

/** Limits of a slot's scripts. */
export interface SlotSettings {
  maxOperations: number;
  memoryLimitMb: number;
  /** For one run, on a processor. */
  timeoutMs: number;
  lazyBody: boolean;
}

/** By the clock a run may take this many times as long: on a busy machine it waits for a processor through no fault of its own. */
export const clockFactor = 2;

/** A script run as sent to the child; the body follows as bytes. */
export interface SlotRequest {
  script: string;
  context: ScriptContext;
  canSwitch: boolean;
}

/** `begun`: a request was read; only what happens from then on can be its script's doing. */
export type SlotAnswer = { ready: true } | { begun: true } | ScriptOutcome;
