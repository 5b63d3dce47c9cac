/** Where alerts go: a webhook, a Slack-shaped webhook, or mail. */
import { z } from 'zod';
import { resourceName } from './name.ts';
import { personSchema } from './owner.ts';

export const alertKinds = ['webhook', 'slack', 'email'] as const;

export const alertEvents = [
  'budget',
  'upstream_failing',
  'upstream_recovered',
  'price_missing',
  'ban',
  'key_expiring',
  'key_new_address',
  'credential_needs_login',
] as const;
export type AlertEvent = (typeof alertEvents)[number];

const mailAddress = personSchema.refine((text) => /^[^@]+@[^@]+$/.test(text), 'must be an e-mail address');
/** A value in a request, or a mask in replies; null: none. */
const secret = z
  .string()
  .min(1)
  .max(4096)
  .regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces')
  .nullable()
  .default(null);

const smtpShape = {
  host: z
    .string()
    .min(1)
    .max(253)
    .regex(/^[A-Za-z0-9.:-]+$/, 'must be a host name or an address'),
  port: z.int().min(1).max(65_535).default(587),
  /** `starttls`: TLS is demanded after the greeting; `tls`: from the first byte; `none`: no TLS, for a server on this machine or network. */
  security: z.enum(['starttls', 'tls', 'none']).default('starttls'),
  username: z.string().min(1).max(254).nullable().default(null),
};

const shape = {
  name: resourceName,
  kind: z.enum(alertKinds),
  /** Sender of mail. */
  from: mailAddress.nullable().default(null),
  to: z.array(mailAddress).max(50).default([]).describe('Who gets mail'),
  to_owner: z.boolean().default(false).describe('Mail about an access key goes to its owner as well, where that is an e-mail address'),
  events: z
    .array(z.enum(alertEvents))
    .max(alertEvents.length)
    .default([...alertEvents]),
  quiet_minutes: z
    .int()
    .min(0)
    .max(10_080)
    .default(60)
    .describe('The same event of the same thing is sent once in so many minutes; what is held back is recorded'),
  enabled: z.boolean().default(true),
  description: z.string().max(2000).default(''),
};

/** What an admin sends for an alert channel, and what replies show, secrets masked. */
export const alertChannelSchema = z.strictObject({
  ...shape,
  /** Of webhooks. Its path is a secret: replies show its origin and a mask. */
  url: z
    .string()
    .max(2048)
    .regex(/^https?:\/\/[^\s#@/?\\]+(?:[/?][^\s#]*)?$/i, 'must be an http or https address without credentials')
    .nullable()
    .default(null),
  secret: secret.describe('Signs webhooks: header `x-gateway-signature: sha256=` and the hexadecimal HMAC-SHA256 of the body'),
  smtp: z
    .strictObject({ ...smtpShape, password: secret })
    .nullable()
    .default(null),
});
export type AlertChannelInput = z.output<typeof alertChannelSchema>;

const storedSmtp = z.strictObject(smtpShape);
const storedShape = z.strictObject(shape);
/** An alert channel as stored: secrets sealed. */
export type AlertChannelRecord = z.output<typeof storedShape> & {
  id: string;
  smtp: z.output<typeof storedSmtp> | null;
  /** Origin of `sealed_url`, for lists. */
  origin: string | null;
  sealed_url: string | null;
  sealed_secret: string | null;
  sealed_password: string | null;
};
