/**
 * Whether an upstream refused a request because of the signatures of earlier thinking in it (or their absence). Recognised by the vendors' messages:
 * their error codes do not say it. Such a request is sent once more, changed only in what the refusal names.
 */
import type { UpstreamFault } from '../chat/event.ts';

/**
 * `signatures`: a signature is not accepted, so none is sent · `call-signature`: a call lacks its signature · `thinking`: a tool loop lacks the thinking it
 * began with · `reasoning`: a message lacks its readable reasoning · `item`: an item's id is unknown, or what it belongs to is missing.
 */
export interface SignatureRefusal {
  about: 'signatures' | 'call-signature' | 'thinking' | 'reasoning' | 'item';
  /** The id that an `item` refusal names, and whether it is refused because what it belongs to is missing. */
  item?: string;
  alone?: true;
}

/** No vendor's sentence is longer; upstream text may be. */
const maxReadLength = 4096;

/** Each pattern is a sentence seen in the wild, reduced to what does not change. All run in linear time. The first that fits decides. */
const wordings: readonly (readonly [SignatureRefusal['about'], RegExp])[] = [
  // `messages.1.content.0: Invalid `signature` in `thinking` block` (also …The block is bound to a different conversation)
  ['signatures', /invalid\W{0,4}(?:signature|data)\W{0,4}in\W{0,4}(?:redacted_)?thinking/i],
  // `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified
  ['signatures', /thinking\W{0,4}blocks[^.]{0,80}cannot be modified/i],
  // Expected `thinking` or `redacted_thinking`, but found `text`
  ['thinking', /expected\W{0,4}(?:redacted_)?thinking/i],
  // Function call is missing a thought_signature in functionCall parts
  ['call-signature', /missing[^\n]{0,20}thought[ _]?signature/i],
  // Thought signature is not valid · Corrupted thought signature
  ['signatures', /thought[ _]?signature/i],
  // The encrypted content gAAA…DQ== could not be verified
  ['signatures', /encrypted[ _]content[^\n]{0,400}(?:could not be|cannot be|invalid)/i],
  // Item 'rs_…' of type 'reasoning' was provided without its required following item · Item with id 'rs_…' not found
  ['item', /item[^\n]{0,20}'(rs_[^']{0,200})'[^\n]{0,40}(?:reasoning[^\n]{0,40}without its|reasoning|not found)/i],
  // The reasoning_content in the thinking mode must be passed back · thinking is enabled but reasoning_content is missing in assistant tool call message
  ['reasoning', /reasoning_content[^\n]{0,60}(?:passed back|is missing)/i],
  // Missing `reasoning_content` field in the assistant message at message index 2
  ['reasoning', /missing\W{0,4}reasoning_content/i],
];

const codes: ReadonlySet<string> = new Set(['invalid_encrypted_content', 'thinking_signature_invalid']);

/** Faults of our account or of the upstream's state are never about signatures, whatever text they quote. */
const classes: ReadonlySet<UpstreamFault['class']> = new Set(['caller', 'not-found', 'server', 'broken']);

/** What a fault refuses about signatures of earlier thinking; null: it is about something else. */
export function readSignatureRefusal({ class: kind, code, message }: UpstreamFault): SignatureRefusal | null {
  if (!classes.has(kind)) return null;
  const text = message.slice(0, maxReadLength);
  for (const [about, wording] of wordings) {
    const found = wording.exec(text);
    if (found) return about === 'item' && found[1] !== undefined ? { about, item: found[1], ...(/without its/i.test(found[0]) && { alone: true }) } : { about };
  }
  return code !== undefined && codes.has(code) ? { about: 'signatures' } : null;
}
