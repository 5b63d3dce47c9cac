/**
 * Cache marks for callers whose protocol has none: on what stays the same over a conversation (tools and system text) and on the last two user
 * turns, so that the next call finds the prefix that this one wrote. Three of the four marks there may be.
 */

import type { UpstreamAdapter } from '../../contract/index.ts';
import { familyOf } from '../../kit/family.ts';
import { asArray, asObject, asString, type JsonObject, own } from '../../kit/read.ts';

/** Turns from the end that are marked: the last writes, the one before is what the previous call wrote. */
const markedTurns = 2;

export const injectCache: NonNullable<UpstreamAdapter['injectCache']> = (body, { target }) => {
  if (familyOf(target).cacheMarks !== 'explicit') return;
  // Tools precede the system text in the prompt, so a mark on the latter covers both.
  const fixed = asArray(own(body, 'system')) ?? [];
  mark((fixed.length > 0 ? fixed : (asArray(own(body, 'tools')) ?? [])).at(-1));
  const messages = asArray(own(body, 'messages')) ?? [];
  let left = markedTurns;
  for (let at = messages.length - 1; at >= 0 && left > 0; at--) {
    if (own(messages[at], 'role') !== 'user') continue;
    mark((asArray(own(messages[at], 'content')) ?? []).at(-1));
    left--;
  }
};

/** Blank text and thinking cannot carry one. */
function mark(holder: unknown): void {
  const block: JsonObject | undefined = asObject(holder);
  if (!block || asString(own(block, 'text'))?.trim() === '') return;
  block['cache_control'] = { type: 'ephemeral' };
}
