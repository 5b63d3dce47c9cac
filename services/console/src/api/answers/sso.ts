/** Answers about credentials that came by login. */
import { ssoStates } from '@model-gateway/contracts';
import { loginFlows } from '@model-gateway/protocols/login';
import { z } from 'zod';
import { instant, maybeText, stored, text } from './common.ts';

const maybeInstant = instant.nullable();

export const ssoProfile = z.strictObject({
  id: text,
  name: text,
  note: text,
  experimental: z.boolean(),
  flows: z.array(z.enum(loginFlows)),
  protocols: z.array(text),
  settings: z.array(z.strictObject({ name: text, description: text, default: maybeText, required: z.boolean(), secret: z.boolean() })),
});
export const ssoProfiles = z.strictObject({ items: z.array(ssoProfile) });

export const ssoCredential = z.strictObject({
  ...stored,
  name: text,
  profile: text,
  /** Whether logins of this kind are enabled here. */
  enabled: z.boolean(),
  account: maybeText,
  description: text,
  /** Without those that are secret. */
  settings: z.record(z.string(), text),
  tokens: maybeText.describe('A mask, where there are any'),
  state: z.enum(ssoStates),
  reason: maybeText.describe('Why the last refresh failed'),
  way_out: maybeText.describe('What somebody has to do; null: nothing'),
  expires_at: maybeInstant,
  refreshed_at: maybeInstant,
  refresh_due_at: maybeInstant,
  upstreams: z.array(text).describe('Upstreams that use it'),
});

/** `upstream_error`: the credential was kept, and only its upstream is not there. */
export const importedCredential = z.strictObject({ credential: ssoCredential, upstream: maybeText, upstream_error: maybeText });

/** A login under way, or how it ended. */
export const ssoLogin = z.strictObject({
  id: text,
  name: text,
  profile: text,
  status: z.enum(['pending', 'done', 'failed']),
  error: maybeText,
  user_code: maybeText.describe('To be entered at the page'),
  verification_uri: maybeText,
  verification_uri_complete: maybeText.describe('The page with the code in it, for a link or a QR code'),
  interval_ms: z.number().nullable().describe('Look no more often than that'),
  authorize_url: maybeText.describe('The page of a login in a browser'),
  expires_at: instant,
  credential: maybeText,
  upstream: maybeText,
  upstream_error: maybeText,
});
