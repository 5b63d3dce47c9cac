/** An upstream as the API gives it, and as the form holds it. */
import type { ResourceState } from '@model-gateway/console/answers';
import type { OnBreak } from '@model-gateway/contracts';
import { providerPresets } from '@model-gateway/protocols/playground';
import { parseOrNull, printOrEmpty } from '../../components/json-text.ts';
import { emptyRateLimit, type RateLimitForm, rateLimitBody, rateLimitForm } from '../../components/rate-limit-fields.tsx';
import { noRewriting, type RewritingForm, rewritingBody, rewritingForm, type StoredRewriting } from '../../components/rewriting.ts';

/** A key of an upstream; its value is masked. */
export interface UpstreamKey {
  id?: string;
  /** A mask in answers; a new value when the admin types one. */
  key?: string;
  weight: number;
  account?: string;
  label?: string;
  /** Of answers: tells keys apart. */
  fingerprint?: string | null;
}

interface Tls {
  ca: string | null;
  client_cert: string | null;
  client_key: string | null;
  min_version: string | null;
  server_name: string | null;
}

/** An upstream, as the API returns it. */
export interface Upstream extends StoredRewriting {
  name: string;
  /** How it stands; absent right after a change. */
  state?: ResourceState;
  protocol: string;
  base_url: string;
  api_keys: UpstreamKey[];
  /** Instead of keys: name of a credential that came by login. */
  sso_credential?: string | null;
  /** Why it is out of routing. */
  unavailable?: string | null;
  enabled: boolean;
  custom_headers: Record<string, string>;
  user_agent: string | null;
  proxy: string | null;
  dns: { servers: string[]; ttl_secs: number | null } | null;
  tls: Tls | null;
  token_counting: 'upstreamApi' | 'tiktoken';
  timeouts: Record<string, number>;
  rate_limit: unknown;
  on_client_abort: 'cancel' | 'drain';
  on_break?: OnBreak | null;
  neutral_headers: boolean;
  extra_config: Record<string, unknown> | null;
  script_error_mode?: string;
}

/** An upstream, as the form holds it. */
export interface UpstreamForm extends Record<string, unknown>, RewritingForm {
  name: string;
  protocol: string;
  base_url: string;
  enabled: boolean;
  /** Empty: it has keys. */
  sso_credential: string;
  api_keys: { id?: string; key: string; shown: string; weight: number; account: string; label: string; fingerprint: string }[];
  custom_headers: { name: string; value: string }[];
  user_agent: string;
  proxy: string;
  dns: { servers: string[]; ttl_secs: number | '' };
  tls: Record<keyof Tls, string>;
  token_counting: string;
  on_client_abort: string;
  /** Empty: not set. */
  on_break: string;
  neutral_headers: boolean;
  timeouts: Record<string, number | ''>;
  rate_limit: RateLimitForm;
  extra_config: string;
  script_error_mode: string;
}

export const timeoutNames = ['connect_ms', 'first_byte_ms', 'idle_ms', 'total_ms'] as const;
export const newKey = { key: '', shown: '', weight: 1, account: '', label: '', fingerprint: '' };
const noTls: UpstreamForm['tls'] = { ca: '', client_cert: '', client_key: '', min_version: '', server_name: '' };

export const emptyUpstream: UpstreamForm = {
  name: '',
  protocol: providerPresets[0]!.protocol,
  base_url: '',
  enabled: true,
  sso_credential: '',
  api_keys: [newKey],
  custom_headers: [],
  user_agent: '',
  proxy: '',
  dns: { servers: [], ttl_secs: '' },
  tls: noTls,
  token_counting: 'upstreamApi',
  on_client_abort: 'cancel',
  on_break: '',
  neutral_headers: false,
  timeouts: {},
  rate_limit: emptyRateLimit,
  extra_config: '',
  ...noRewriting,
  script_error_mode: 'log-and-continue',
};

export const toForm = (upstream: Upstream): UpstreamForm => ({
  name: upstream.name,
  protocol: upstream.protocol,
  base_url: upstream.base_url,
  enabled: upstream.enabled,
  sso_credential: upstream.sso_credential ?? '',
  // The value field stays empty: typing there replaces the key, leaving it keeps the stored one.
  api_keys: upstream.api_keys.map(({ id, key, weight, account, label, fingerprint }) => ({
    ...(id && { id }),
    key: '',
    shown: key ?? '',
    weight,
    account: account ?? '',
    label: label ?? '',
    fingerprint: fingerprint ?? '',
  })),
  custom_headers: Object.entries(upstream.custom_headers).map(([name, value]) => ({ name, value })),
  user_agent: upstream.user_agent ?? '',
  proxy: upstream.proxy ?? '',
  dns: { servers: upstream.dns?.servers ?? [], ttl_secs: upstream.dns?.ttl_secs ?? '' },
  tls: Object.fromEntries(Object.keys(noTls).map((field) => [field, upstream.tls?.[field as keyof Tls] ?? ''])) as UpstreamForm['tls'],
  token_counting: upstream.token_counting,
  on_client_abort: upstream.on_client_abort,
  on_break: upstream.on_break ?? '',
  neutral_headers: upstream.neutral_headers,
  timeouts: upstream.timeouts,
  rate_limit: rateLimitForm(upstream.rate_limit),
  extra_config: printOrEmpty(upstream.extra_config),
  ...rewritingForm(upstream),
  script_error_mode: upstream.script_error_mode ?? 'log-and-continue',
});

/** Masks of proxy and client key go back as they came: the API keeps what it has. */
export const toBody = (form: UpstreamForm) => ({
  name: form.name.trim(),
  protocol: form.protocol,
  base_url: form.base_url.trim(),
  enabled: form.enabled,
  sso_credential: form.sso_credential || null,
  api_keys: (form.sso_credential ? [] : form.api_keys)
    .filter(({ id, key }) => id !== undefined || key !== '')
    .map(({ id, key, weight, account, label }) => ({
      ...(id && { id }),
      ...(key && { key }),
      weight,
      ...(account && { account }),
      ...(label.trim() && { label: label.trim() }),
    })),
  custom_headers: Object.fromEntries(form.custom_headers.filter(({ name }) => name !== '').map(({ name, value }) => [name, value])),
  user_agent: form.user_agent || null,
  proxy: form.proxy.trim() || null,
  dns:
    form.dns.servers.length === 0 && form.dns.ttl_secs === ''
      ? null
      : { servers: form.dns.servers, ttl_secs: form.dns.ttl_secs === '' ? null : form.dns.ttl_secs },
  tls: Object.values(form.tls).every((value) => value === '')
    ? null
    : Object.fromEntries(Object.entries(form.tls).map(([field, value]) => [field, value || null])),
  token_counting: form.token_counting,
  on_client_abort: form.on_client_abort,
  on_break: form.on_break || null,
  neutral_headers: form.neutral_headers,
  timeouts: Object.fromEntries(Object.entries(form.timeouts).filter(([, value]) => value !== '')),
  rate_limit: rateLimitBody(form.rate_limit, null),
  extra_config: parseOrNull(form.extra_config),
  ...rewritingBody(form),
  script_error_mode: form.script_error_mode,
});
