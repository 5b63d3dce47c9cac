/** Gamma's finish words against the canonical ones. */
import type { FinishReason } from '../../chat/event.ts';

/** The reply goes on in another call. */
export const continuationWord = 'CONTINUATION';

/**
 * Gamma says STOP for tool calls too: the reader turns it into `tool-calls` when the reply holds one. RECITATION is a filter's doing.
 * What broke in the model (MALFORMED_FUNCTION_CALL …) is `other`: nothing in it should make an agent go on.
 */
const readWords: ReadonlyMap<string, FinishReason> = new Map<string, FinishReason>([
  ['STOP', 'stop'],
  ['MAX_TOKENS', 'length'],
  // The vendor's own SDK asks for the rest by itself; to everybody else the reply is cut.
  [continuationWord, 'length'],
  ['SAFETY', 'content-filter'],
  ['RECITATION', 'content-filter'],
  ['BLOCKLIST', 'content-filter'],
  ['PROHIBITED_CONTENT', 'content-filter'],
  ['SPII', 'content-filter'],
  ['MODEL_ARMOR', 'content-filter'],
  ['ESCALATION', 'content-filter'],
  ['PUP_LIMITED_DISABLED', 'content-filter'],
  ['IMAGE_SAFETY', 'content-filter'],
  ['IMAGE_PROHIBITED_CONTENT', 'content-filter'],
  ['IMAGE_RECITATION', 'content-filter'],
  ['LANGUAGE', 'other'],
  ['MALFORMED_FUNCTION_CALL', 'other'],
  ['MALFORMED_RESPONSE', 'other'],
  ['UNEXPECTED_TOOL_CALL', 'other'],
  ['TOO_MANY_TOOL_CALLS', 'other'],
  ['MISSING_THOUGHT_SIGNATURE', 'other'],
  ['NO_IMAGE', 'other'],
  ['IMAGE_OTHER', 'other'],
  ['OTHER', 'other'],
]);

/**
 * A refusal keeps its words as text and ends with SAFETY, the word gamma clients treat as "the model would not". `pause` has no counterpart: STOP
 * would claim a finished turn, so it is OTHER.
 */
const writeWords: Readonly<Record<FinishReason, string>> = {
  stop: 'STOP',
  'stop-sequence': 'STOP',
  'tool-calls': 'STOP',
  length: 'MAX_TOKENS',
  'context-window': 'MAX_TOKENS',
  'content-filter': 'SAFETY',
  refusal: 'SAFETY',
  pause: 'OTHER',
  other: 'OTHER',
};

/** Words that the vendor's SDKs list since version 3.3 alone. */
const unlisted: ReadonlySet<string> = new Set(['MODEL_ARMOR', 'ESCALATION', 'PUP_LIMITED_DISABLED']);

/** Canonical reason of a finish word; a tool call in the reply takes precedence over STOP. */
export function readFinishReason(word: string, hasCalls: boolean): FinishReason {
  const reason = readWords.get(word) ?? 'other';
  return reason === 'stop' && hasCalls ? 'tool-calls' : reason;
}

/** Gamma's word; the upstream's own when it was one of gamma's for the same reason (RECITATION stays RECITATION). */
export function writeFinishReason(reason: FinishReason, native?: string): string {
  const word = writeWords[reason];
  return native !== undefined && !unlisted.has(native) && native !== continuationWord && word !== 'STOP' && readWords.get(native) === reason ? native : word;
}
