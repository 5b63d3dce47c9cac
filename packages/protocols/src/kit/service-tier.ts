/** Service tiers of the chat-completions family, by all the words that callers of any protocol use for them. */
import { standardServiceTiers, type Usage } from '@model-gateway/contracts';
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

/** Tiers that upstreams say they served a reply in, in the words of the chat-completions family. */
export type ServedTier = 'default' | 'flex' | 'scale' | 'priority' | 'fast' | 'ultrafast' | 'batch';

/** Whether a word, in lower case, names no tier with a price of its own. A request's `auto` may be served in another all the same, which is billed, not reserved. */
export const isStandardTier = (word: string): boolean => word === '' || standardServiceTiers.has(word);

/** What a reply's word for its tier adds to its usage: nothing for the standard tier. One that only its vendor has keeps the vendor's word. */
export function billedTier(word: unknown, words: ReadonlyMap<string, ServedTier>): Pick<Usage, 'serviceTier'> {
  const said = typeof word === 'string' ? word.toLowerCase() : '';
  const tier = isStandardTier(said) ? 'default' : (words.get(said) ?? said);
  return tier === 'default' || !/^[a-z0-9_-]{1,40}$/.test(tier) ? {} : { serviceTier: tier };
}

/** The tier of a reply by one vendor's words. `auto` and what is absent tell nothing. A word that nobody else knows is a loss. */
export function readServedTier(word: unknown, words: ReadonlyMap<string, ServedTier>, losses: Pick<Losses, 'add'>): ServedTier | undefined {
  if (typeof word !== 'string' || word === 'auto' || word === '') return undefined;
  const tier = words.get(word);
  if (tier === undefined) losses.add('reply.service_tier', 'dropped', 'Other protocols have no word for the tier that served it.');
  return tier;
}

/** `tier` in the words of the protocol that the caller speaks; undefined, with a loss, where it has none. */
export function writeServedTier(tier: ServedTier | undefined, words: ReadonlyMap<ServedTier, string>, losses: Pick<Losses, 'add'>): string | undefined {
  if (tier === undefined) return undefined;
  const word = words.get(tier);
  if (word === undefined) losses.add('reply.service_tier', 'dropped', 'This protocol has no word for the tier that served it.');
  return word;
}
