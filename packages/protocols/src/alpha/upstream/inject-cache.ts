/**
 * Cache marks for aggregators that pass them on to a vendor which caches only what is marked: on the system message and the last two user
 * messages. A marked text must be a part of a list.
 */

import type { UpstreamAdapter } from '../../contract/index.ts';
import { familyOf } from '../../kit/family.ts';
import { asArray, asObject, asString, type JsonObject, own } from '../../kit/read.ts';
import { chatFamily } from '../shared/families.ts';

const markedTurns = 2;

export const injectCache: NonNullable<UpstreamAdapter['injectCache']> = (body, { target }) => {
  if (!chatFamily(target).cacheControl || familyOf(target).cacheMarks !== 'explicit') return;
  const messages = asArray(own(body, 'messages')) ?? [];
  const system = asObject(messages[0]);
  if (own(system, 'role') === 'system') mark(system);
  let left = markedTurns;
  for (let at = messages.length - 1; at >= 0 && left > 0; at--) {
    if (own(messages[at], 'role') !== 'user') continue;
    mark(asObject(messages[at]));
    left--;
  }
};

function mark(message: JsonObject | undefined): void {
  if (!message) return;
  const text = asString(own(message, 'content'));
  if (text !== undefined && text.trim() !== '') message['content'] = [{ type: 'text', text, cache_control: { type: 'ephemeral' } }];
  const last = asObject(asArray(own(message, 'content'))?.at(-1));
  if (last && text === undefined) last['cache_control'] = { type: 'ephemeral' };
}
