/** What an admin may say about how much of something may be used: the same shapes on upstreams, models, keys and groups. */
import { z } from 'zod';
import { moneyFault, moneyPattern, parseMoney, printMoney } from '../money.ts';

const max = 1_000_000_000;
/** null or absent: no limit. */
const atMost = (largest: number) => z.int().min(1).max(largest).nullable().default(null);

/** Limits of the calls to an upstream, or of one model (spec: rate limit). */
export const rateLimitSchema = z.strictObject({
  /** Calls a minute: a bucket that holds as many. */
  rpm: atMost(max),
  max_concurrency: atMost(1_000_000),
  /** Tokens a minute, read and written ones together. */
  tpm: atMost(max),
  /** Least time between two calls that follow one another; 0 is none. */
  tps_min_interval_ms: z.int().min(0).max(3_600_000).nullable().default(null),
  /** How long a caller may wait in the queue before it gets a 429. */
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

const refuseAmount = (sent: unknown): string => {
  if (typeof sent !== 'string' && typeof sent !== 'number') return 'must be an amount of the currency: a decimal string such as "5.00", or a number';
  const fault = typeof sent === 'string' ? moneyFault(sent) : null;
  if (fault !== null) return fault;
  if (Number(sent) < 0) return 'must not be negative';
  return Number(sent) > max ? `must be at most ${max}` : 'has more than six decimals';
};

/** Rounded to the nearest double, which up to this size identifies one amount of micro-units exactly; earlier versions read snapshots this way. */
const amount = z
  .union(
    [
      z
        .string()
        .regex(moneyPattern)
        .refine((text) => !moneyPattern.test(text) || parseMoney(text) <= max * 1_000_000, `must be at most ${max}`)
        .transform(Number),
      z.number().min(0).max(max).refine(millionths, 'has more than six decimals'),
    ],
    { error: ({ input }) => refuseAmount(input) },
  )
  .describe('In whole currency: a decimal string with at most six decimals, or a number');

const period = z.enum(['day', 'week', 'month', 'total']);

const micros = z
  .int()
  .min(0)
  .max(max * 1_000_000);

/** What was added to a budget in one of its periods alone, in micro-units of its currency. It means nothing in any other period. */
export const budgetCreditSchema = z
  .strictObject({
    /** First millisecond of the period that it belongs to. */
    from: z.int().min(0),
    topped_up_micros: micros.default(0),
    /** What had been spent when the budget was last reset, which no longer counts. */
    forgiven_micros: micros.default(0),
  })
  .describe('Top-ups and resets of the period that begins at `from`; written by `top-up` and `reset`');
export type BudgetCredit = z.output<typeof budgetCreditSchema>;

/** Money that may be spent in a period of the UTC calendar (weeks begin on Monday). */
export const budgetSchema = z.strictObject({
  limit: amount,
  period,
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/, 'must be a currency code such as USD')
    .default('USD'),
  credit: budgetCreditSchema.optional(),
});
export type Budget = z.output<typeof budgetSchema>;

/** A budget as replies and exports show it. */
export const budgetReplySchema = z.strictObject({
  limit: z.string().describe('Decimal string, in whole currency'),
  period,
  currency: z.string(),
  credit: budgetCreditSchema.optional(),
});
export type BudgetReply = z.output<typeof budgetReplySchema>;

/** Anything that may have a budget, with the budget as people read it. */
export const showBudget = <T extends { budget?: Budget | null }>(owner: T): Omit<T, 'budget'> & { budget?: BudgetReply | null } =>
  ({
    ...owner,
    ...(owner.budget && { budget: { ...owner.budget, limit: printMoney(Math.round(owner.budget.limit * 1_000_000)) } }),
  }) as Omit<T, 'budget'> & { budget?: BudgetReply | null };

const inherited = z.literal('inherit');
const orInherited = <T extends z.ZodType>(own: T) => z.union([inherited, own], 'must be inherit or an object').default('inherit');
export const inheritableRateLimit = orInherited(rateLimitSchema);
export const inheritableKeyRateLimit = orInherited(keyRateLimitSchema);
