/** What a model would refuse of a Responses request, changed to what it takes. */
import type { Edit } from '@model-gateway/json';
import { familyOf } from '../kit/family.ts';
import { limitTokens } from '../kit/limit-tokens.ts';
import { Losses } from '../kit/losses.ts';
import { asNumber, own } from '../kit/read.ts';
import type { UpstreamDoor } from '../protocol.ts';

/** Less is a 400 on this endpoint, whatever the model: agents probe with one token. */
export const fewestTokens = 16;

/** Top-level fields that are looked at on every request; the edge notes where they stand. */
export const normalizedKeys = ['max_output_tokens', 'temperature', 'top_p', 'reasoning'] as const;

export const normalize: NonNullable<UpstreamDoor['normalize']> = (field, context) => {
  const losses = new Losses();
  const family = familyOf(context.target);
  if (context.operation !== 'generate') return { edits: [], losses: losses.list };
  const edits: Edit[] = limitTokens(['max_output_tokens'], field('max_output_tokens'), family, losses, fewestTokens);
  const samplesFreely = !family.sampling.fixed || (family.thinking.optional && own(field('reasoning'), 'effort') === 'none');
  for (const key of ['temperature', 'top_p'] as const) {
    const value = asNumber(field(key));
    if (samplesFreely || value === undefined || value === 1) continue;
    losses.add(key, 'dropped', 'This model refuses any value but its own.');
    edits.push({ path: [key], value: undefined });
  }
  if (family.thinking.style === 'none' && field('reasoning') !== undefined) {
    losses.add('reasoning', 'dropped', 'This model does not reason.');
    edits.push({ path: ['reasoning'], value: undefined });
  }
  return { edits, losses: losses.list };
};
