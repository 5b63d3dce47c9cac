/** A search provider as the API gives it, and as the form holds it. */

export const kinds = ['brave', 'tavily', 'searxng', 'http'] as const;

/** A search provider, as the API returns it. */
export interface SearchProvider {
  name: string;
  kind: (typeof kinds)[number];
  base_url: string | null;
  api_key: string | null;
  price_per_search: string;
  currency: string;
  enabled: boolean;
  description: string;
}

/** A search provider, as the form holds it. */
export interface ProviderForm extends Record<string, unknown> {
  name: string;
  kind: SearchProvider['kind'];
  base_url: string;
  api_key: string;
  price_per_search: number | string;
  currency: string;
  enabled: boolean;
  description: string;
}

export const emptyProvider: ProviderForm = {
  name: '',
  kind: 'brave',
  base_url: '',
  api_key: '',
  price_per_search: 0,
  currency: 'USD',
  enabled: true,
  description: '',
};

export const toForm = ({ base_url, api_key, ...provider }: SearchProvider): ProviderForm => ({
  name: provider.name,
  kind: provider.kind,
  base_url: base_url ?? '',
  api_key: api_key ?? '',
  price_per_search: Number(provider.price_per_search),
  currency: provider.currency,
  enabled: provider.enabled,
  description: provider.description,
});

export const toBody = (form: ProviderForm) => ({
  ...form,
  name: form.name.trim(),
  base_url: form.base_url.trim() || null,
  api_key: form.api_key.trim() || null,
  price_per_search: form.price_per_search === '' ? '0' : Number(form.price_per_search).toFixed(6),
});

/** The one search configuration, with its revision. */
export interface SearchConfig {
  default_provider: string | null;
  max_uses: number;
  max_rounds: number;
  max_results: number;
  timeout_ms: number;
  fetch_enabled: boolean;
  fetch_max_bytes: number;
  fetch_max_chars: number;
  fetch_max_redirects: number;
  etag: string;
}
