/** Media in bytes that pass to a model which reads text only: a note takes their place, or each further request of the session would be refused. */
import type { Edit } from '@model-gateway/json-bytes';
import type { VerbatimRequestContext } from '../../contract/index.ts';
import { familyOf } from '../../kit/family.ts';
import { unreadNote } from '../../kit/fit-to-model.ts';
import type { Losses } from '../../kit/losses.ts';
import { asArray, asString, own } from '../../kit/read.ts';

/** Types of parts, and what they hold. */
const kinds: ReadonlyMap<string, string> = new Map([
  ['image_url', 'image'],
  ['file', 'document'],
  ['input_audio', 'audio'],
  ['video_url', 'video'],
]);

/** One of them is in every body that holds such a part. */
export const mediaWords: readonly string[] = [...kinds.keys()];

export function unreadEdits(context: VerbatimRequestContext, losses: Losses): Edit[] {
  const { vision, pdf } = familyOf(context.target);
  if (vision || !mediaWords.some((word) => context.contains(`"${word}"`))) return [];
  const messages = asArray(own(context.parse(), 'messages')) ?? [];
  return messages.flatMap((message, at) =>
    (asArray(own(message, 'content')) ?? []).flatMap((part, index): Edit[] => {
      const kind = kinds.get(asString(own(part, 'type')) ?? '');
      if (kind === undefined || (kind === 'document' && pdf)) return [];
      losses.add(`messages.${kind}`, 'downgraded', 'This model reads text only: a note stands in its place.');
      return [{ path: ['messages', at, 'content', index], value: { type: 'text', text: unreadNote(kind) } }];
    }),
  );
}
