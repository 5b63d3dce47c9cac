/** System messages of a body that passes, for a vendor that takes one alone, at the beginning. */
import type { Edit } from '@model-gateway/json-bytes';
import type { Losses } from '../../kit/losses.ts';
import { asArray, asString, own } from '../../kit/read.ts';

const isSystem = (message: unknown): boolean => ['system', 'developer'].includes(asString(own(message, 'role')) ?? '');

const textOf = (content: unknown): string =>
  asString(content) ??
  (asArray(content) ?? [])
    .map((part) => asString(own(part, 'text')) ?? '')
    .filter((text) => text !== '')
    .join('\n');

/** Those at the beginning become one; what comes later is said by the user. */
export function systemEdits(messages: readonly unknown[], losses: Pick<Losses, 'add'>): Edit[] {
  const turn = messages.findIndex((message) => !isSystem(message));
  const leading = turn < 0 ? messages.length : turn;
  const edits: Edit[] = messages.flatMap((message, at): Edit[] => {
    if (at < leading || !isSystem(message)) return [];
    losses.add('messages.system', 'emulated', 'System text between turns was said by the user.');
    return [{ path: ['messages', at, 'role'], value: 'user' }];
  });
  if (leading < 2) return edits;
  const joined = messages.slice(0, leading).map((message) => textOf(own(message, 'content')));
  const others = messages.slice(1, leading).map((_message, at): Edit => ({ path: ['messages', at + 1], value: undefined }));
  return [{ path: ['messages', 0, 'content'], value: joined.join('\n') }, ...others, ...edits];
}
