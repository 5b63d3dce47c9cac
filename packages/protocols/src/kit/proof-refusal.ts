/**
 * Tells whether an upstream refused a request because of the proofs of earlier thinking in it (or their lack), from the words that vendors use:
 * the classes of their errors do not say it. What is recognised here is sent once more without proofs (contract §7, Signatures).
 */
import type { UpstreamFault } from '../chat/event.ts';

/** No vendor's sentence is longer; upstream text may be. */
const longestRead = 4096;

/** Each pattern is a sentence seen in the wild, reduced to what does not change. All run in linear time. */
const wordings: readonly RegExp[] = [
  // `messages.1.content.0: Invalid `signature` in `thinking` block` (also …The block is bound to a different conversation)
  /invalid\W{0,4}(?:signature|data)\W{0,4}in\W{0,4}(?:redacted_)?thinking/i,
  // `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified
  /thinking\W{0,4}blocks[^.]{0,80}cannot be modified/i,
  // Expected `thinking` or `redacted_thinking`, but found `text`
  /expected\W{0,4}(?:redacted_)?thinking/i,
  // Thought signature is not valid · Corrupted thought signature · Function call is missing a thought_signature in functionCall parts
  /thought[ _]?signature/i,
  // The encrypted content gAAA…DQ== could not be verified
  /encrypted[ _]content[^\n]{0,400}(?:could not be|cannot be|invalid)/i,
  // Item 'rs_…' of type 'reasoning' was provided without its required following item · Item with id 'rs_…' not found
  /item[^\n]{0,20}'rs_[^']{0,200}'[^\n]{0,40}(?:reasoning|not found)/i,
  // The reasoning_content in the thinking mode must be passed back · thinking is enabled but reasoning_content is missing in assistant tool call message
  /reasoning_content[^\n]{0,60}(?:passed back|is missing)/i,
];

const codes: ReadonlySet<string> = new Set(['invalid_encrypted_content', 'thinking_signature_invalid']);

/** Faults of our account or of the upstream's state are never about proofs, whatever their text quotes. */
const classes: ReadonlySet<UpstreamFault['class']> = new Set(['caller', 'not-found', 'server', 'broken']);

export function refusesProofs({ class: kind, code, message }: UpstreamFault): boolean {
  if (!classes.has(kind)) return false;
  if (code !== undefined && codes.has(code)) return true;
  const text = message.slice(0, longestRead);
  return wordings.some((wording) => wording.test(text));
}
