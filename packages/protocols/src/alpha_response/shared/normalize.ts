/** What a model would refuse of a Responses request, changed to what it takes. */
import type { Edit } from '@model-gateway/json-bytes';
import type { Thinking } from '@model-gateway/model-catalog';
import type { UpstreamAdapter } from '../../contract/index.ts';
import { familyOf } from '../../kit/family.ts';
import { limitTokens } from '../../kit/limit-tokens.ts';
import { Losses } from '../../kit/losses.ts';
import { asNumber, asString, own } from '../../kit/read.ts';

/** Less is a 400 on this endpoint, whatever the model: agents probe with one token. */
export const fewestTokens = 16;

/** Top-level fields that are looked at on every request; the edge notes where they stand. */
export const normalizedKeys = ['max_output_tokens', 'temperature', 'top_p', 'reasoning'] as const;

export const normalize: NonNullable<UpstreamAdapter['normalize']> = (field, context) => {
  const losses = new Losses();
  const family = familyOf(context.target);
  if (context.operation !== 'generate') return { edits: [], losses: losses.list };
  const edits: Edit[] = limitTokens(['max_output_tokens'], field('max_output_tokens'), family, losses, fewestTokens);
  const effort = own(field('reasoning'), 'effort') ?? (family.thinking.offByDefault ? 'none' : undefined);
  const samplesFreely = !family.sampling.fixed || (family.thinking.optional && effort === 'none');
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
  edits.push(...effortEdits(asString(own(field('reasoning'), 'effort')), family.thinking, losses));
  return { edits, losses: losses.list };
};

/** Weakest first. */
const efforts: readonly string[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

/** Each generation takes words of its own, and answers any other with a 400. */
function effortEdits(asked: string | undefined, { style, efforts: known, optional }: Thinking, losses: Losses): Edit[] {
  if (asked === undefined || style !== 'effort' || known.length === 0) return [];
  const taken: readonly string[] = optional ? ['none', ...known] : known;
  const strength = efforts.indexOf(asked);
  if (strength < 0 || taken.includes(asked)) return [];
  // Thinking less than asked for is not what more effort means, and off is not what little means: the nearest that is as strong, else the strongest.
  const nearest = known.find((word) => efforts.indexOf(word) >= strength) ?? known.at(-1);
  losses.add('reasoning.effort', 'downgraded', 'The nearest effort that this model takes.');
  return [{ path: ['reasoning', 'effort'], value: nearest }];
}
