/** What a member sees of the own keys. */
import { budgetReplySchema } from '@model-gateway/contracts';
import { z } from 'zod';
import { count, cursorPageOf, epochMs, instant, maybeText, micros, money, text } from './common.ts';

const memberKeys = z.strictObject({ max: count, max_budget: budgetReplySchema.nullable(), max_days: count.nullable() });

export const myGroups = z.strictObject({
  items: z.array(
    z.strictObject({
      name: text,
      description: text,
      enabled: z.boolean(),
      is_member: z.boolean().describe('false: only a key of yours is in it'),
      models: z.array(text).describe('Names that its keys may call'),
      member_keys: memberKeys.nullable().describe('Within what members make keys; null: they make none'),
      keys: count.describe('Of yours'),
    }),
  ),
});

const ownKey = z.strictObject({
  name: text,
  key: text.describe('A mask, but right after it was made or rotated'),
  group: text,
  enabled: z.boolean(),
  description: text,
  anonymous: z.boolean(),
  expires_at: maybeText,
  created_at: instant,
  last_used_at: instant.nullable(),
  previous_valid_until: instant.nullable(),
  budget: budgetReplySchema.omit({ credit: true }).nullable().describe('Its limit holds what was topped up in the present period'),
  spent: money.nullable().describe("Of the budget's present period, without what a reset forgave; null: it has none"),
});
export const myKey = ownKey;
export const myKeys = z.strictObject({ items: z.array(ownKey) });

export const myRequests = cursorPageOf(
  z.strictObject({
    id: text,
    started_at: epochMs,
    access_key: maybeText,
    model: maybeText,
    requested_model: maybeText,
    stream: z.boolean(),
    status: z.int(),
    error_code: maybeText,
    input_tokens: count,
    output_tokens: count,
    cost: money.nullable(),
    currency: maybeText,
    duration_ms: count,
    client_ip: maybeText,
    user_agent: maybeText,
    session_id: maybeText,
  }),
);

const sums = z.array(
  z.strictObject({
    value: text,
    requests: count,
    errors: count,
    cost: z.array(z.strictObject({ currency: text, cost: money, cost_micros: micros })),
  }),
);
export const myCosts = z.strictObject({ from: instant, to: instant, keys: sums, models: sums });
