/** The four shapes of search APIs: how each is asked, and where its results stand. Nothing here trusts what was answered. */
import type { SearchKind } from '@model-gateway/contracts';

/** A question in a provider's terms. */
export interface ProviderCall {
  method: 'GET' | 'POST';
  url: string;
  headers: Record<string, string>;
  body?: Buffer;
}

/** What a call is made of. */
export interface ProviderQuestion {
  address: string;
  key: string | null;
  query: string;
  maxResults: number;
}

/** How one kind of provider is asked, and the untrusted entries of its answer. */
interface ProviderShape {
  ask(question: ProviderQuestion): ProviderCall;
  resultsOf(answer: unknown): unknown;
}

export const field = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;

const bearer = (key: string | null): Record<string, string> => (key === null ? {} : { authorization: `Bearer ${key}` });

const withQuery = (address: string, query: Record<string, string>): string => {
  const url = new URL(address);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url.href;
};

const post = ({ address, key, query, maxResults }: ProviderQuestion): ProviderCall => ({
  method: 'POST',
  url: address,
  headers: { accept: 'application/json', 'content-type': 'application/json', ...bearer(key) },
  body: Buffer.from(JSON.stringify({ query, max_results: maxResults }), 'utf8'),
});

/** The instance's own address is enough: its API has one path. */
const searxngAddress = (address: string): string => {
  const url = new URL(address);
  if (url.pathname === '/') url.pathname = '/search';
  return url.href;
};

export const providerShapes: Readonly<Record<SearchKind, ProviderShape>> = {
  http: { ask: post, resultsOf: (answer) => field(answer, 'results') },
  tavily: { ask: post, resultsOf: (answer) => field(answer, 'results') },
  brave: {
    ask: ({ address, key, query, maxResults }) => ({
      method: 'GET',
      url: withQuery(address, { q: query, count: String(maxResults) }),
      headers: { accept: 'application/json', ...(key !== null && { 'x-subscription-token': key }) },
    }),
    resultsOf: (answer) => field(field(answer, 'web'), 'results'),
  },
  searxng: {
    ask: ({ address, key, query }) => ({
      method: 'GET',
      url: withQuery(searxngAddress(address), { q: query, format: 'json' }),
      headers: { accept: 'application/json', ...bearer(key) },
    }),
    resultsOf: (answer) => field(answer, 'results'),
  },
};
