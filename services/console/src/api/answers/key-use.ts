/** Where and when an access key was used. */
import { z } from 'zod';
import { count, instant, maybeText, micros, money, text } from './common.ts';

const figures = {
  requests: count,
  errors: count,
  first_at: instant,
  last_at: instant,
  cost: z.array(z.strictObject({ currency: text, cost: money, cost_micros: micros })),
};
const parts = z.array(z.strictObject({ value: maybeText.describe('null: the requests say nothing'), ...figures }));

export const keyUseAnswer = z.strictObject({
  name: text,
  owner: text,
  from: instant,
  to: instant,
  total: z.strictObject(figures).nullable().describe('null: no request in this time'),
  truncated: z.boolean().describe('Only the latest 20,000 requests were read'),
  addresses: parts,
  user_agents: parts,
  models: parts,
  known_addresses: z
    .array(
      z.strictObject({
        address: text.describe('IPv6 addresses by their /64'),
        first_at: instant,
        last_at: instant,
        accepted_at: instant.nullable().describe("When somebody said that it is the owner's; null: nobody did"),
        is_new: z.boolean().describe('First seen in the last 24 hours, by a key that was used from elsewhere before, and accepted by nobody'),
      }),
    )
    .describe('The 256 first addresses of the last 90 days, also of requests that are forgotten by now'),
});

export const acceptedAddresses = z.strictObject({ accepted: count });
