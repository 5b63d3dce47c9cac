/** What an admin may say about how much of something may be used: the same shapes on upstreams, models, keys and groups. */
import { z } from 'zod';

const most = 1_000_000_000;
/** null, or left out: this one is not limited. */
const atMost = (largest: number) => z.int().min(1).max(largest).nullable().default(null);

/** Limits of the calls to an upstream, or of one model (spec: rate limit). */
export const rateLimitSchema = z.strictObject({
  /** Calls a minute: a bucket that holds as many. */
  rpm: atMost(most),
  max_concurrency: atMost(1_000_000),
  /** Tokens a minute, read and written ones together. */
  tpm: atMost(most),
  /** Least time between two calls that follow one another; 0 is none. */
  tps_min_interval_ms: z.int().min(0).max(3_600_000).nullable().default(null),
  /** How long a caller waits for its turn before 429. */
  wait_timeout_secs: z.int().min(0).max(3600).default(10),
  /** How full the buckets are at first, in percent. */
  initial_tokens: z.int().min(0).max(100).default(100),
});
export type RateLimit = z.output<typeof rateLimitSchema>;

/** Limit of one access key: `rpm` requests in `window_secs`. On a group: of each key in it. */
export const keyRateLimitSchema = z.strictObject({
  rpm: z.int().min(1).max(10_000_000),
  window_secs: z.int().min(1).max(86_400).default(60),
});
export type KeyRateLimit = z.output<typeof keyRateLimitSchema>;

const millionths = (amount: number): boolean => Math.abs(amount * 1_000_000 - Math.round(amount * 1_000_000)) < 1e-3;

/** Money that may be spent in a period of the UTC calendar (weeks begin on Monday). */
export const budgetSchema = z.strictObject({
  /** In units of the currency, to the millionth. */
  limit: z.number().min(0).max(most).refine(millionths, 'has more than six decimals'),
  period: z.enum(['day', 'week', 'month', 'total']),
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/, 'must be a currency code such as USD')
    .default('USD'),
});
export type Budget = z.output<typeof budgetSchema>;

const inherited = z.literal('inherit');
const orInherited = <T extends z.ZodType>(own: T) => z.union([inherited, own], 'must be inherit or an object').default('inherit');
export const inheritableRateLimit = orInherited(rateLimitSchema);
export const inheritableKeyRateLimit = orInherited(keyRateLimitSchema);
