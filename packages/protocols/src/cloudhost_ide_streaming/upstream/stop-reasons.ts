import type { FinishReason } from '../../chat/event.ts';

const known: Readonly<Record<string, FinishReason>> = {
  END_TURN: 'stop',
  TOOL_USE: 'tool-calls',
  MAX_TOKENS: 'length',
  STOP_SEQUENCE: 'stop-sequence',
  CONTENT_FILTERED: 'content-filter',
  GUARDRAIL_INTERVENED: 'content-filter',
  REFUSAL: 'refusal',
  MODEL_CONTEXT_WINDOW_EXCEEDED: 'context-window',
};

/** The service often names no reason, so a call decides tool use, except for a cut or a filter. */
export function readFinish(native: string, calls: boolean): FinishReason {
  const word = native.toUpperCase();
  const reason = native === '' ? 'stop' : Object.hasOwn(known, word) ? (known[word] ?? 'other') : 'other';
  if (reason === 'tool-calls' && !calls) return 'stop';
  return calls && (reason === 'stop' || reason === 'other') ? 'tool-calls' : reason;
}
