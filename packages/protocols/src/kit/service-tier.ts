/** Service tiers of the chat-completions family, by all the words that callers of any protocol use for them. */
import type { Losses } from './losses.ts';

const tiers: ReadonlyMap<string, string> = new Map([
  ...['auto', 'default', 'flex', 'scale', 'priority', 'fast'].map((tier) => [tier, tier] as const),
  ['standard_only', 'default'],
]);

/** The vendor's own word; undefined, with a loss, where it has none: any other is a 400. */
export function fitServiceTier(asked: string | undefined, losses: Pick<Losses, 'add'>): string | undefined {
  if (asked === undefined) return undefined;
  const tier = tiers.get(asked);
  if (tier === undefined) losses.add('service_tier', 'dropped', 'Not a tier of this vendor.');
  else if (tier !== asked) losses.add('service_tier', 'renamed', 'Sent under this vendor’s name.');
  return tier;
}
