/** Figures by which a request limits its replies, as untrusted callers write them. */
import { asNumber } from './read.ts';
import { isStandardTier } from './service-tier.ts';

/** More than any endpoint gives for one request. */
const maxReplies = 128;

/** A limit in tokens; undefined for what is none. */
export function asLimit(value: unknown): number | undefined {
  const number = asNumber(value);
  return number === undefined || number < 0 ? undefined : Math.ceil(number);
}

/** Of film, longer than any model makes at once. */
const maxSeconds = 3_600;

/** Forms have texts alone, and protobuf's JSON allows digits in a string. */
export const figure = (found: unknown): unknown => (typeof found === 'string' && found.trim() !== '' ? Number(found) : found);

/** Whole seconds that were asked for; undefined for what makes no sense. */
export function asSeconds(value: unknown): number | undefined {
  const number = asNumber(value);
  return number === undefined || number <= 0 ? undefined : Math.min(maxSeconds, Math.ceil(number));
}

/** How many replies were asked for; 1 for what makes no sense. */
export function asReplies(value: unknown): number {
  const number = asNumber(value);
  return number === undefined || number < 1 ? 1 : Math.min(maxReplies, Math.ceil(number));
}

/** Of several spellings of one limit the largest: which of them holds is the upstream's to say. */
export function largestLimit(...values: readonly unknown[]): number | undefined {
  const limits = values.flatMap((value) => asLimit(value) ?? []);
  return limits.length === 0 ? undefined : Math.max(...limits);
}

/** Words of requests for tiers that replies, and so prices, may call otherwise. */
const servedAs: ReadonlyMap<string, readonly string[]> = new Map([
  ['fast', ['fast', 'priority']],
  ['performance', ['performance', 'priority']],
]);

/** What a request says of the tiers that its reply may name; nothing where it asks for none. */
export function tiersAsked(...words: readonly unknown[]): { serviceTiers?: string[] } {
  const serviceTiers = words.flatMap((word) => {
    const tier = typeof word === 'string' ? word.toLowerCase() : '';
    return isStandardTier(tier) ? [] : (servedAs.get(tier) ?? [tier]);
  });
  return serviceTiers.length > 0 ? { serviceTiers } : {};
}
