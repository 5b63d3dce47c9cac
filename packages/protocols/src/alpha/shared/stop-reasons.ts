import type { FinishReason } from '../../chat/event.ts';
import type { WireFinish } from './wire.ts';

/** Every word seen for `finish_reason`. Words that mean a failure are in `failingReasons`. */
const known: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  eos: 'stop',
  eos_token: 'stop',
  end_turn: 'stop',
  stop_sequence: 'stop-sequence',
  length: 'length',
  max_tokens: 'length',
  model_length: 'context-window',
  model_context_window_exceeded: 'context-window',
  tool_calls: 'tool-calls',
  tool_use: 'tool-calls',
  function_call: 'tool-calls',
  content_filter: 'content-filter',
  sensitive: 'content-filter',
  refusal: 'refusal',
};

/** The reply broke off at the upstream although the stream goes on to end in good order; `abort` is what vLLM and SGLang say of one that they gave up. */
const failingReasons: ReadonlySet<string> = new Set(['error', 'abort', 'network_error', 'insufficient_system_resource']);

export const isFailingReason = (native: string): boolean => failingReasons.has(native);

/**
 * What `native` means, given what the reply holds: a call decides tool use whatever the word says, except for a cut or a filter, and a
 * refusal text decides a refusal.
 */
export function readFinish(native: string, seen: { toolCall: boolean; refusal: boolean }): FinishReason {
  const reason: FinishReason = native === '' ? 'stop' : Object.hasOwn(known, native) ? (known[native] ?? 'other') : 'other';
  if (reason === 'tool-calls' && !seen.toolCall) return 'stop';
  if (reason !== 'stop' && reason !== 'other') return reason;
  if (seen.toolCall) return 'tool-calls';
  return seen.refusal && reason === 'stop' ? 'refusal' : reason;
}

/** `exact: false`: the word says less than the reason did. */
const words: Readonly<Record<FinishReason, { word: WireFinish; exact: boolean }>> = {
  stop: { word: 'stop', exact: true },
  length: { word: 'length', exact: true },
  'tool-calls': { word: 'tool_calls', exact: true },
  'content-filter': { word: 'content_filter', exact: true },
  refusal: { word: 'content_filter', exact: false },
  'stop-sequence': { word: 'stop', exact: false },
  pause: { word: 'stop', exact: false },
  'context-window': { word: 'length', exact: false },
  other: { word: 'stop', exact: false },
};

/** The word for `reason`; a refusal whose text was written ends with `stop`, as the real endpoint does. */
export const writeFinish = (reason: FinishReason, refusalWritten: boolean): { word: WireFinish; exact: boolean } =>
  reason === 'refusal' && refusalWritten ? { word: 'stop', exact: true } : words[reason];
