/** Stop reasons of the wire against the canonical ones, both ways. */
import type { FinishReason } from '../../chat/event.ts';

const canonicalByWire: ReadonlyMap<string, FinishReason> = new Map([
  ['end_turn', 'stop'],
  ['max_tokens', 'length'],
  ['stop_sequence', 'stop-sequence'],
  ['tool_use', 'tool-calls'],
  ['pause_turn', 'pause'],
  ['refusal', 'refusal'],
  ['model_context_window_exceeded', 'context-window'],
]);

const wireByCanonical: Readonly<Record<FinishReason, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  'tool-calls': 'tool_use',
  'content-filter': 'refusal',
  refusal: 'refusal',
  'stop-sequence': 'stop_sequence',
  pause: 'pause_turn',
  'context-window': 'model_context_window_exceeded',
  other: 'end_turn',
};

/** `calledTool` decides between a plain end and a tool call, since compatible servers say `end_turn` for both. */
export function readStopReason(native: string, calledTool: boolean): FinishReason {
  const reason = canonicalByWire.get(native) ?? 'other';
  if (reason === 'tool-calls' && !calledTool) return 'stop';
  return reason === 'stop' && calledTool ? 'tool-calls' : reason;
}

/** The other way round: never `tool_use` without a call, nor `end_turn` with one, or agents wait for what never comes. */
export function writeStopReason(reason: FinishReason, calledTool: boolean): string {
  if (calledTool && (reason === 'stop' || reason === 'other')) return 'tool_use';
  if (!calledTool && reason === 'tool-calls') return 'end_turn';
  return wireByCanonical[reason];
}
