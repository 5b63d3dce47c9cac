/** Pictures in bytes that pass to a model which reads text only: a note takes their place, or each further request of the session would be refused. */
import type { Edit } from '@model-gateway/json';
import { familyOf } from '../kit/family.ts';
import { unreadNote } from '../kit/fit-to-model.ts';
import type { Losses } from '../kit/losses.ts';
import { asArray, own } from '../kit/read.ts';
import type { VerbatimRequestContext } from '../protocol.ts';

/** In every body that holds a picture. */
export const imageWord = 'image_url';

export function unreadEdits(context: VerbatimRequestContext, losses: Losses): Edit[] {
  const family = familyOf(context.target);
  if (family.vision || !context.contains(`"${imageWord}"`)) return [];
  const messages = asArray(own(context.parse(), 'messages')) ?? [];
  return messages.flatMap((message, at) =>
    (asArray(own(message, 'content')) ?? []).flatMap((part, index): Edit[] => {
      if (own(part, imageWord) === undefined) return [];
      losses.add('messages.image', 'downgraded', 'This model reads text only: a note stands in its place.');
      return [{ path: ['messages', at, 'content', index], value: { type: 'text', text: unreadNote('image') } }];
    }),
  );
}
