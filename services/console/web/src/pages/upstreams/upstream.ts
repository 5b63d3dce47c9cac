/** An upstream as the API gives it, and as the form holds it. */
import { parseOrNull, printOrEmpty } from '../../components/json-text.ts';

export interface UpstreamKey {
  id?: string;
  /** A mask in answers; a new value when the admin types one. */
  key?: string;
  weight: number;
  account?: string;
}

export interface Upstream {
  name: string;
  protocol: string;
  base_url: string;
  api_keys: UpstreamKey[];
  enabled: boolean;
  custom_headers: Record<string, string>;
  user_agent: string | null;
  proxy: string | null;
  dns: { servers: string[]; ttl_secs?: number } | null;
  token_counting: 'upstreamApi' | 'tiktoken';
  timeouts: Record<string, number>;
  rate_limit: Record<string, number | null> | null;
  on_client_abort: 'cancel' | 'drain';
  extra_config: Record<string, unknown> | null;
  updated_at: number;
}

export interface UpstreamForm extends Record<string, unknown> {
  name: string;
  protocol: string;
  base_url: string;
  enabled: boolean;
  api_keys: { id?: string; key: string; shown: string; weight: number; account: string }[];
  custom_headers: { name: string; value: string }[];
  user_agent: string;
  token_counting: string;
  on_client_abort: string;
  timeouts: Record<string, number | ''>;
  extra_config: string;
}

export const timeoutNames = ['connect_ms', 'first_byte_ms', 'idle_ms', 'total_ms'] as const;

export const emptyUpstream: UpstreamForm = {
  name: '',
  protocol: 'alpha',
  base_url: '',
  enabled: true,
  api_keys: [{ key: '', shown: '', weight: 1, account: '' }],
  custom_headers: [],
  user_agent: '',
  token_counting: 'upstreamApi',
  on_client_abort: 'cancel',
  timeouts: {},
  extra_config: '',
};

export const toForm = (upstream: Upstream): UpstreamForm => ({
  name: upstream.name,
  protocol: upstream.protocol,
  base_url: upstream.base_url,
  enabled: upstream.enabled,
  // The value field stays empty: typing there replaces the key, leaving it keeps the stored one.
  api_keys: upstream.api_keys.map(({ id, key, weight, account }) => ({ ...(id && { id }), key: '', shown: key ?? '', weight, account: account ?? '' })),
  custom_headers: Object.entries(upstream.custom_headers).map(([name, value]) => ({ name, value })),
  user_agent: upstream.user_agent ?? '',
  token_counting: upstream.token_counting,
  on_client_abort: upstream.on_client_abort,
  timeouts: upstream.timeouts,
  extra_config: printOrEmpty(upstream.extra_config),
});

export const toBody = (form: UpstreamForm) => ({
  name: form.name.trim(),
  protocol: form.protocol,
  base_url: form.base_url.trim(),
  enabled: form.enabled,
  api_keys: form.api_keys
    .filter(({ id, key }) => id !== undefined || key !== '')
    .map(({ id, key, weight, account }) => ({ ...(id && { id }), ...(key && { key }), weight, ...(account && { account }) })),
  custom_headers: Object.fromEntries(form.custom_headers.filter(({ name }) => name !== '').map(({ name, value }) => [name, value])),
  user_agent: form.user_agent || null,
  token_counting: form.token_counting,
  on_client_abort: form.on_client_abort,
  timeouts: Object.fromEntries(Object.entries(form.timeouts).filter(([, value]) => value !== '')),
  extra_config: parseOrNull(form.extra_config),
});
