/** Answers of statistics: figures over time and by what they are told apart by, budgets. */
import { attemptDimensions, groupings } from '@model-gateway/storage/dimensions';
import { z } from 'zod';
import { count, epochMs, instant, maybeText, micros, money, text } from './common.ts';
import { lastFailure } from './health.ts';
import { resourceState } from './state.ts';

const number = z.number();
const latencies = { p50: number.nullable(), p95: number.nullable(), p99: number.nullable() };

const figures = {
  requests: count,
  /** Without callers who left. */
  errors: count,
  /** null: of no request. */
  error_rate: number.min(0).max(1).nullable(),
  /** Requests whose upstream reported no usage, or only part of it. */
  estimated_requests: count,
  /** With tokens and without a price. */
  unpriced_requests: count,
  input_tokens: count,
  output_tokens: count,
  cache_read_tokens: count,
  cache_write_tokens: count,
  reasoning_tokens: count,
  /** Beside those of text. */
  audio_input_tokens: count,
  audio_output_tokens: count,
  total_tokens: count,
  cost: z.array(z.strictObject({ currency: text, cost: money, cost_micros: micros })),
};

const timedFigures = {
  ...figures,
  /** Milliseconds; quantiles are mostly a few per cent off, and at most 19 %. */
  duration_ms: z.strictObject({ ...latencies, average: number.nullable() }),
  first_content_ms: z.strictObject(latencies),
};

/** Counts, tokens and costs of a group of requests. */
export type Figures = z.output<z.ZodObject<typeof figures>>;
/** Figures with the latencies of the same requests. */
export type TimedFigures = z.output<z.ZodObject<typeof timedFigures>>;

/** What tells the figures apart. */
const by = z.enum(groupings);
const range = { from: epochMs, to: epochMs };
const answeredRange = { ...range, granularity: z.enum(['minute', 'hour', 'day']) };
const summaryOf = { ...answeredRange, ...timedFigures };
const session = { session_id: text, access_key: text, first_at: epochMs, last_at: epochMs, ...figures };

export const statsSummary = z.strictObject({
  ...summaryOf,
  /** Messages of the bus that were set aside since they could not be stored, of any time: above 0 an admin should look. */
  dead_letters: count,
  previous: z.strictObject(summaryOf).optional(),
});
export const statsSeries = z.strictObject({
  ...range,
  granularity: z.enum(['minute', 'quarter', 'hour', 'day']).describe('`quarter`: of an hour'),
  by: by.nullable(),
  items: z.array(z.strictObject({ start: epochMs, value: maybeText.optional(), ...timedFigures })),
});
export const statsTop = z.union([
  z.strictObject({ ...range, by: z.literal('session'), items: z.array(z.strictObject({ value: text, ...session })) }),
  z.strictObject({ ...answeredRange, by, items: z.array(z.strictObject({ value: maybeText, ...timedFigures })) }),
]);
export const statsAttempts = z.strictObject({
  ...range,
  granularity: z.enum(['hour', 'day']),
  by: z.enum(attemptDimensions),
  items: z.array(
    z.strictObject({
      /** Where the answer is told apart by time. */
      start: epochMs.optional(),
      /** null: none, as the key entry of an upstream without keys. */
      value: maybeText,
      /** Of a key entry. */
      upstream: text.optional(),
      attempts: count,
      /** Without callers who left, and counts of tokens that an upstream does not give. */
      failed: count,
      failure_rate: number.min(0).max(1),
      /** `ok`, `client_gone`, `no_count`, `no_such_path`, `http_` and the status, or a word for what had none; the most frequent first. */
      outcomes: z.array(z.strictObject({ outcome: text, attempts: count })),
      duration_ms: z.strictObject({ ...latencies, average: number.nullable() }),
    }),
  ),
});
export const statsSessions = z.strictObject({ ...range, items: z.array(z.strictObject(session)) });

const budget = z.strictObject({
  kind: z.enum(['key', 'group']),
  name: text,
  currency: text,
  period: z.enum(['day', 'week', 'month', 'total']),
  from: epochMs,
  /** null: it never begins anew. */
  to: epochMs.nullable(),
  limit: money,
  limit_micros: micros,
  spent: money.describe('Since the period began, without what a reset forgave'),
  spent_micros: micros,
  topped_up: money.describe('Added to the limit for this period alone, and part of it here'),
  topped_up_micros: micros,
  forgiven: money.describe('Spent before the last reset in this period'),
  forgiven_micros: micros,
  share: number,
  state: z.enum(['ok', 'warning', 'exhausted']),
});
export const spendAnswer = z.strictObject({
  ...range,
  items: z.array(
    z.strictObject({
      value: text,
      requests: count,
      unpriced_requests: count,
      cost: z.array(z.strictObject({ currency: text, cost: money, cost_micros: micros, daily_micros: z.array(micros).describe('Of each day from `from` on') })),
      budget: budget.nullable(),
    }),
  ),
});
export const oneBudget = budget;
export const budgetList = z.strictObject({ items: z.array(budget), total: count });

/** The first of each kind, and how many there are. */
export const attentionAnswer = z.strictObject({
  upstreams: z.strictObject({ total: count, items: z.array(z.strictObject({ name: text, state: resourceState, last_failure: lastFailure })) }),
  budgets: z.strictObject({ total: count, items: z.array(budget) }),
  unpriced: z
    .strictObject({ total: count, requests: count, share: number, items: z.array(z.strictObject({ model: text, requests: count })) })
    .describe('Models without a price that were used in the last 24 hours'),
  new_addresses: z
    .strictObject({ total: count, items: z.array(z.strictObject({ access_key: text, addresses: z.array(text), first_at: instant })) })
    .describe('Keys that were used in the last 24 hours from an address they had not been used from before, which nobody accepted'),
  dead_letters: count,
});
