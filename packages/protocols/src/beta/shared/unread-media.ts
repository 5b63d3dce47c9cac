/** Pictures in bytes that pass to a model which reads text only: a note takes their place, or each further request of the session would be refused. */
import type { Edit } from '@model-gateway/json-bytes';
import type { VerbatimRequestContext } from '../../contract/index.ts';
import { familyOf } from '../../kit/family.ts';
import { unreadNote } from '../../kit/fit-to-model.ts';
import type { Losses } from '../../kit/losses.ts';
import { asArray, own } from '../../kit/read.ts';

export function unreadEdits(context: VerbatimRequestContext, losses: Losses): Edit[] {
  const family = familyOf(context.target);
  if (family.vision || !context.contains('"image"')) return [];
  const look = (block: unknown, path: Edit['path']): Edit[] => {
    if (own(block, 'type') === 'tool_result') return (asArray(own(block, 'content')) ?? []).flatMap((inner, at) => look(inner, [...path, 'content', at]));
    if (own(block, 'type') !== 'image') return [];
    losses.add('messages.image', 'downgraded', 'This model reads text only: a note stands in its place.');
    return [{ path, value: { type: 'text', text: unreadNote('image') } }];
  };
  return (asArray(own(context.parse(), 'messages')) ?? []).flatMap((message, turn) =>
    (asArray(own(message, 'content')) ?? []).flatMap((block, at) => look(block, ['messages', turn, 'content', at])),
  );
}
