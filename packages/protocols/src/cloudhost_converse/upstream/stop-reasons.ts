/** Stop reasons of the wire → the canonical ones. */
import type { FinishReason } from '../../chat/event.ts';

const canonical: ReadonlyMap<string, FinishReason> = new Map([
  ['end_turn', 'stop'],
  ['tool_use', 'tool-calls'],
  ['max_tokens', 'length'],
  ['stop_sequence', 'stop-sequence'],
  ['guardrail_intervened', 'content-filter'],
  ['content_filtered', 'content-filter'],
  ['refusal', 'refusal'],
  ['pause_turn', 'pause'],
  ['model_context_window_exceeded', 'context-window'],
]);

/** `calledTool` decides between a plain end and a tool call; malformed output has no word of its own and is `other`. */
export function readStopReason(native: string | undefined, calledTool: boolean): FinishReason {
  const reason = native === undefined ? 'stop' : (canonical.get(native) ?? 'other');
  if (reason === 'tool-calls' && !calledTool) return 'stop';
  return reason === 'stop' && calledTool ? 'tool-calls' : reason;
}
