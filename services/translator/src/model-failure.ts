/** Replies in which the model failed: they end with nothing said, for a reason that only their own protocol has a word for (`MALFORMED_FUNCTION_CALL`). */
import type { ChatEvent, UpstreamFault } from '@model-gateway/protocols';

/** Whether the caller gets something to go on with; thoughts alone are not an answer. */
export const isAnswer = (event: ChatEvent): boolean => event.type === 'block-start' && event.block.type !== 'thinking';

/**
 * The fault of a translated reply that holds no answer and ends like this; null where it is none. As an empty answer it would end an agent's work without a
 * word; as a fault the next node is asked, or the client tries again.
 */
export function modelFailure(event: ChatEvent): UpstreamFault | null {
  if (event.type !== 'finish' || event.reason !== 'other' || event.native === undefined) return null;
  return { class: 'broken', code: event.native.slice(0, 100), message: 'the model ended its reply without an answer' };
}
