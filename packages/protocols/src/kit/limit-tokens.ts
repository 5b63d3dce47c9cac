import type { Edit } from '@model-gateway/json-bytes';
import type { ModelFamily } from '@model-gateway/model-catalog';
import type { Target } from '../contract/index.ts';
import { familyOf } from './family.ts';
import type { Losses } from './losses.ts';
import { asNumber } from './read.ts';

/** The limit as a body that is being written names it: between the model's bounds, undefined when the caller gave none. */
export const fitTokens = (field: string, asked: number | undefined, target: Target, losses: Pick<Losses, 'add'>): number | undefined =>
  (limitTokens([field], asked, familyOf(target), losses)[0]?.value as number | undefined) ?? asked;

/**
 * The edit that brings a reply's token limit between the model's bounds; [] when it is there, absent or no number, or negative: that is no limit to many
 * self-hosted servers and refused by the others, and one token to none. `min` is the endpoint's own.
 */
export function limitTokens(path: Edit['path'], value: unknown, family: ModelFamily, losses: Pick<Losses, 'add'>, min = 1): Edit[] {
  const asked = asNumber(value);
  if (asked === undefined || asked < 0) return [];
  const fewest = Math.max(min, family.minOutput);
  const limited = Math.min(Math.max(asked, fewest), family.output ?? Number.POSITIVE_INFINITY);
  if (limited === asked) return [];
  losses.add(
    String(path.at(-1)),
    'downgraded',
    limited > asked ? `Raised to ${limited}, the least that is taken.` : `Limited to ${limited}, the most that this model writes.`,
  );
  return [{ path, value: limited }];
}
