import { z } from 'zod';
import { protocolIds } from '../protocol-id.ts';
import { bodyRulesSchema } from './body-rule.ts';
import { rateLimitSchema } from './limits.ts';
import { resourceName, type WithLater } from './name.ts';
import { onBreakSchema } from './on-break.ts';
import { type ScriptField, scriptErrorMode, scriptFields } from './scripts.ts';

/** Time-outs of calls to one upstream, in ms. Each is optional; the process-wide default fills it. */
export const timeoutsSchema = z.strictObject({
  connect_ms: z.int().min(1).max(600_000).optional(),
  first_byte_ms: z.int().min(1).max(3_600_000).optional(),
  idle_ms: z.int().min(1).max(3_600_000).optional(),
  total_ms: z.int().min(1).max(86_400_000).optional(),
});
export type Timeouts = z.infer<typeof timeoutsSchema>;

/** Name → template. Which names and templates are refused is for the console to say: `packages/body-rules` reads them. */
export const customHeadersSchema = z
  .record(z.string().max(128), z.string().max(8192))
  .refine((headers) => Object.keys(headers).length <= 64, 'holds more than 64 headers');

/** An upstream key as an admin sends it. A masked or absent `key` leaves the stored one as it is. */
export const upstreamKeySchema = z.strictObject({
  /** Stable id of the entry; kept when its value is rotated. */
  id: z.string().max(64).optional(),
  key: z
    .string()
    .min(1)
    .max(16_384)
    .regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces')
    .optional(),
  weight: z.int().min(0).max(1_000_000).default(1),
  account: z.string().min(1).max(200).optional(),
  /** A name that people give this key, so that they can distinguish keys without seeing their characters. */
  label: z.string().min(1).max(100).optional().describe('What people call this key'),
  /** Only in replies; ignored when sent. */
  fingerprint: z
    .string()
    .max(64)
    .nullish()
    .describe('Eight hexadecimal digits that tell keys apart, none of them a character of the key. Ignored where it is sent'),
  /** Only in replies; ignored when sent. */
  state: z.json().optional().describe('How its latest attempts went. Ignored where it is sent'),
});

/** Resolver of one upstream: servers without a scheme or with udp://, tls://, https://, tried in order. */
export const dnsSchema = z.strictObject({
  servers: z.array(z.string().min(1).max(2048)).max(8).default([]),
  /** Longest life of an answer, in seconds. */
  ttl_secs: z.int().min(0).max(86_400).nullable().default(null),
});

const pem = z.string().min(1).max(262_144).nullable().default(null);
export const tlsSchema = z.strictObject({
  /** PEM certificates, trusted instead of the system's. */
  ca: pem,
  /** PEM, the chain after it. */
  client_cert: pem,
  /** PEM, not encrypted. A masked or absent value leaves the stored one as it is. */
  client_key: pem,
  min_version: z.enum(['1.2', '1.3']).nullable().default(null),
  /** Sent as SNI and verified instead of the host of the URL. */
  server_name: z.string().min(1).max(253).nullable().default(null),
});

export const httpUrl = z
  .string()
  .max(2048)
  .regex(/^https?:\/\/[^\s/?#@\\]+(?:\/[^\s?#\\]*)?$/i, 'must be an http(s) URL without credentials, query or fragment')
  .refine((url) => !url.endsWith('/'), 'must not end with a slash');

/** The same, or a whole endpoint with its query. Whether a query is in place is for the console to say. */
export const endpointUrl = z
  .string()
  .max(2048)
  .regex(/^https?:\/\/[^\s/?#@\\]+(?:\/[^\s?#\\]*)?(?:\?[^\s#\\]*)?$/i, 'must be an http(s) URL without credentials or fragment')
  .refine((url) => !url.endsWith('/') && !url.includes('/?'), 'must not end with a slash');

/** The body an admin sends to create or replace an upstream. The console refuses fields of features that do not exist yet, by name. */
export const upstreamSchema = z.strictObject({
  name: resourceName,
  protocol: z.enum(protocolIds),
  base_url: httpUrl,
  /** Required, so that it cannot be forgotten; `[]` is an upstream that takes no key, as self-hosted ones do. */
  api_keys: z.array(upstreamKeySchema).max(1000),
  /** Name of a credential that came by login; `api_keys` is empty then. */
  sso_credential: resourceName.nullable().default(null),
  enabled: z.boolean().default(true),
  custom_headers: customHeadersSchema.default({}),
  user_agent: z
    .string()
    .max(512)
    .regex(/^[\x20-\x7e]*$/, 'must be printable ASCII')
    .nullable()
    .default(null),
  token_counting: z.enum(['upstreamApi', 'tiktoken']).default('upstreamApi'),
  timeouts: timeoutsSchema.default({}),
  /** http, https, socks4, socks4a, socks5 or socks5h address, with `user:password@` when it wants them. */
  proxy: z.string().max(2048).nullable().default(null),
  dns: dnsSchema.nullable().default(null),
  tls: tlsSchema.nullable().default(null),
  rate_limit: rateLimitSchema.nullable().default(null),
  on_client_abort: z.enum(['cancel', 'drain']).default('cancel'),
  /** For key groups that leave it open; null: `finish`. */
  on_break: onBreakSchema.nullable().default(null),
  /** Send the credential under its neutral header name (`x-gamma-api-key`) instead of the real provider's. */
  neutral_headers: z.boolean().default(false),
  extra_config: z.record(z.string(), z.json()).nullable().default(null),
  /** Come before those of the model. */
  request_body_rules: bodyRulesSchema.default([]),
  ...scriptFields,
  script_error_mode: scriptErrorMode,
});
export type UpstreamInput = z.input<typeof upstreamSchema>;
export type Upstream = WithLater<
  z.output<typeof upstreamSchema>,
  'rate_limit' | 'on_break' | 'request_body_rules' | 'sso_credential' | ScriptField | 'script_error_mode'
>;

/** A stored key: the value is sealed (AES-256-GCM, key id), opened only by the translator's outbound. */
export interface SealedUpstreamKey {
  id: string;
  sealed: string;
  weight: number;
  account?: string;
  label?: string;
}

/** A stored proxy: its address without credentials, and these sealed as `user:password`. */
export interface StoredProxy {
  url: string;
  sealed: string | null;
}

/** Stored TLS settings: the client's private key is sealed. */
export type StoredTls = Omit<z.output<typeof tlsSchema>, 'client_key'> & { sealed_key: string | null };

/** An upstream as snapshots carry it: settings that it does not have are left out. */
export type UpstreamRecord = Omit<Upstream, 'api_keys' | 'proxy' | 'dns' | 'tls'> & {
  id: string;
  api_keys: SealedUpstreamKey[];
  /** Custom headers that carry a credential: name → sealed template. All other custom headers are in `custom_headers`. */
  sealed_headers?: Record<string, string>;
  proxy?: StoredProxy;
  dns?: NonNullable<Upstream['dns']>;
  tls?: StoredTls;
  /** Set by the gateway while its credential gives no token: why no request is sent there. */
  unavailable?: string;
  /** Only in the copy for services without the master key: a digest that changes whenever something left out of that copy changes. */
  withheld?: string;
};
