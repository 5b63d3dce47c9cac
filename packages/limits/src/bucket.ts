/** A token bucket in whole numbers: it holds one minute's worth, and fills by its rate with every millisecond. */

/** Parts of a token: at a rate of n a minute, n parts flow in each millisecond. */
const parts = 60_000;
/** After this long any bucket is full, even one with the maximum debt of one minute. */
const maxFillMs = 2 * parts;

/** State of a token bucket. */
export interface Bucket {
  /** In 1/60,000 of a token; below zero: more was used than reserved. */
  level: number;
  /** Milliseconds of the last change. */
  at: number;
}

/** `percent` of a full bucket. */
export const openBucket = (rate: number, percent: number, now: number): Bucket => ({ level: rate * (parts / 100) * percent, at: now });

/** A clock that went back changes nothing. */
export function fillBucket(bucket: Bucket, rate: number, now: number): void {
  const elapsed = Math.min(Math.max(0, now - bucket.at), maxFillMs);
  bucket.level = Math.min(rate * parts, bucket.level + elapsed * rate);
  bucket.at = Math.max(bucket.at, now);
}

/** A call that needs more than a full bucket takes all of it instead of waiting for ever. */
const price = (rate: number, tokens: number): number => Math.min(tokens, rate) * parts;

/** Milliseconds until `tokens` can be taken; 0: now. The bucket is filled up to now. */
export const waitForTokens = (bucket: Bucket, rate: number, tokens: number): number => Math.max(0, Math.ceil((price(rate, tokens) - bucket.level) / rate));

export function takeTokens(bucket: Bucket, rate: number, tokens: number): void {
  bucket.level -= price(rate, tokens);
}

/** What a call used beyond its reservation (or left of it, when negative). A debt is at most one minute's worth. */
export function settleTokens(bucket: Bucket, rate: number, tokens: number): void {
  bucket.level = Math.min(rate * parts, Math.max(-rate * parts, bucket.level - tokens * parts));
}

/** Whole tokens that are there now, for people to read. */
export const tokensLeft = (bucket: Bucket): number => Math.floor(bucket.level / parts);
