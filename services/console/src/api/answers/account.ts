/** Answers about who signs in: users, sessions, one's own account. */
import { z } from 'zod';
import { instant, maybeText, stored, text } from './common.ts';

const role = z.enum(['admin', 'monitor', 'member']);

export const signInOptions = z.strictObject({ password: z.boolean(), oidc: z.strictObject({ label: text }).nullable() });

/** `token`: the bearer of the other calls, shown this once. */
export const signedIn = z.strictObject({ token: text, expires_at: instant, user: z.strictObject({ username: text, role }) });

export const ownAccount = z.strictObject({
  actor: text,
  username: maybeText,
  role,
  session: z.strictObject({ id: text, expires_at: instant, ends_at: instant }).nullish(),
});

export const sessionList = z.strictObject({
  items: z.array(
    z.strictObject({
      id: text,
      username: text,
      created_at: instant,
      last_seen_at: instant,
      expires_at: instant,
      ends_at: instant,
      ip_address: text,
      user_agent: text,
      current: z.boolean(),
    }),
  ),
});

export const shownUser = z.strictObject({
  ...stored,
  username: text,
  role,
  enabled: z.boolean(),
  has_password: z.boolean(),
  email: maybeText,
  /** Issuer of the OpenID identity that signs in as this user. */
  identity: maybeText,
  last_login_at: instant.nullable(),
});

export const auditRecord = z.strictObject({
  id: text,
  occurred_at: instant,
  actor: text,
  action: text,
  entity_type: text,
  entity_id: text,
  diff: z.record(z.string(), z.json()).nullable(),
  ip_address: maybeText,
  request_id: maybeText,
});
