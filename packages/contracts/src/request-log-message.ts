/**
 * Validation of a request log row before it is stored. Any user of the bus can publish anything, and versions differ: each item is read through this
 * before other code sees it. Absent fields get their empty value, so that older senders are understood; unknown fields are dropped.
 */
import { z } from 'zod';
import { isCompleteRow } from './complete-row.ts';
import type { RequestRow } from './row.ts';

/** Upstreams may report any number as a count; a sum must stay within the safe integers. */
const largest = 1e15;

/** A whole number from 0. A count that is no such number came from an upstream, and is no reason to lose the row. */
const toCount = (value: number): number => (Number.isNaN(value) ? 0 : Math.min(largest, Math.max(0, Math.round(value))));

const number = (context: z.RefinementCtx): never => {
  context.addIssue({ code: 'custom', message: 'is not a number' });
  return z.NEVER;
};
/** Absent or null is 0: JSON has no word for what is not finite but null. Zod takes an absent field of a transformed shape only where that says `optional`. */
const count = z
  .unknown()
  .optional()
  .transform((value, context) => (value === null || value === undefined ? 0 : typeof value === 'number' ? toCount(value) : number(context)));
const maybeCount = z
  .unknown()
  .optional()
  .transform((value, context) =>
    value === null || value === undefined || Number.isNaN(value) ? null : typeof value === 'number' ? toCount(value) : number(context),
  );

const text = z.string();
const maybeText = text.nullable().default(null);
/** Names of protocols and the like: those of a later version are kept as they are. */
const word = z.string().max(64).nullable().default(null);

const attempt = z.object({
  upstream: text,
  key_index: z.int(),
  status: z.int().nullable().default(null),
  error_code: maybeText,
  duration_ms: count,
  model: text.optional(),
  key: text.optional(),
  message: z.string().max(8_192).optional(),
});
const loss = z.object({ field: text, action: z.string().max(64), detail: text });

/** Milliseconds since the epoch that a Date can hold; how far in the future they may lie is for the consumer, who has a clock. */
export const boundedInstant = z.int().min(0).max(8_640_000_000_000_000);
/** Minted ids are much shorter. */
export const boundedId = z.string().min(1).max(200);

const columns = {
  id: boundedId,
  client_request_id: maybeText,
  started_at: boundedInstant,
  authority: z.union([z.literal(1), z.literal(2)]),
  access_key: maybeText,
  key_group: maybeText,
  model: maybeText,
  requested_model: maybeText,
  upstream: maybeText,
  upstream_model_id: maybeText,
  client_protocol: word,
  upstream_protocol: word,
  stream: z.boolean().default(false),
  status: z.int().min(0).max(999),
  error_code: maybeText,
  attempts: z.array(attempt).default([]),
  input_tokens: count,
  output_tokens: count,
  cache_read_tokens: count,
  cache_write_tokens: count,
  cache_write_1h_tokens: count,
  reasoning_tokens: count,
  usage_source: word,
  cost_micros: maybeCount,
  currency: z.string().max(64).nullable().default(null),
  queue_ms: maybeCount,
  ttfb_ms: maybeCount,
  first_content_ms: maybeCount,
  duration_ms: count,
  request_bytes: count,
  response_bytes: count,
  client_ip: maybeText,
  user_agent: maybeText,
  session_id: maybeText,
  losses: z.array(loss).default([]),
  pipeline: z.array(text).default([]),
  routes: z.array(text).default([]),
  ending: word,
  kind: z.string().max(64).default('call'),
  of: z.string().max(200).nullable().default(null),
  audio_input_tokens: count,
  audio_output_tokens: count,
  image_input_tokens: count,
  image_output_tokens: count,
  helpers: z.array(z.object({ model: text, input: count, output: count, reasoning: count })).default([]),
  turn_id: z.string().max(200).nullable().default(null),
  path: z.string().max(2048).nullable().default(null),
  images: maybeCount,
  seconds: maybeCount,
  characters: maybeCount,
  service_tier: z.string().max(40).nullable().default(null),
} satisfies Record<keyof RequestRow, z.ZodType>;

/** Values of a later version pass: the type lists what this version knows. */
export const requestRowSchema = z.object(columns) as unknown as z.ZodType<RequestRow>;

/** Almost every row is as this version writes it: that is looked at in a fraction of the time, and nothing is copied. */
export const requestLogMessage: Pick<z.ZodType<RequestRow>, 'safeParse'> = {
  safeParse: (value) => (isCompleteRow(value) ? { success: true, data: value } : requestRowSchema.safeParse(value)),
};
