/** Answers about alerts. */
import { z } from 'zod';
import { count, cursorPageOf, instant, maybeText, text } from './common.ts';

export const alertTest = z.strictObject({ delivered: z.boolean(), error: maybeText.describe('Why it was not taken; never what the receiver answered') });
/** The address that the mail goes to. The field is quoted since its name is the API's, which stays, and no term of the glossary. */
export const ownerTold = z.strictObject({ ['told']: text });

export const alertMessagePage = cursorPageOf(
  z.strictObject({
    id: text.describe('Also header `x-gateway-message-id` of webhooks: a message that comes twice has one id'),
    channel: text,
    event: text,
    subject: text,
    title: text,
    text,
    state: z
      .enum(['waiting', 'sent', 'failed', 'quiet', 'unknown'])
      .describe('`quiet`: held back, since the same was sent a short time ago; `unknown`: who sent it twice ended before it could record it'),
    attempts: count,
    created_at: instant,
    sent_at: instant.nullable(),
    last_error: maybeText,
  }),
);
