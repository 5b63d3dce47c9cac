/** The four shapes of search APIs: how each is asked, and where its results stand. Nothing here trusts what was answered. */
import type { SearchKind } from '@model-gateway/contracts';
import { countryName, type UserPlace } from './user-place.ts';

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
  place: UserPlace;
}

/** How one kind of provider is asked, and the untrusted entries of its answer. */
interface ProviderShape {
  ask(question: ProviderQuestion): ProviderCall;
  resultsOf(answer: unknown): unknown;
  /** The longest query that it takes; absent: as long as the gateway takes. */
  maxQuery?: { characters: number; words?: number };
}

export const field = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;

const bearer = (key: string | null): Record<string, string> => (key === null ? {} : { authorization: `Bearer ${key}` });

const withQuery = (address: string, query: Record<string, string>): string => {
  const url = new URL(address);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url.href;
};

/** Brave's own headers; only text that a header can hold. See https://api-dashboard.search.brave.com/documentation/services/web-search */
const placeHeaders = ({ country, region, city, timezone }: UserPlace): Record<string, string> => {
  const said = { 'x-loc-country': country?.toUpperCase(), 'x-loc-state-name': region, 'x-loc-city': city, 'x-loc-timezone': timezone };
  return Object.fromEntries(Object.entries(said).filter((entry): entry is [string, string] => /^[\x20-\x7e]+$/.test(entry[1] ?? '')));
};

const post = ({ address, key, query, maxResults }: ProviderQuestion, more: object): ProviderCall => ({
  method: 'POST',
  url: address,
  headers: { accept: 'application/json', 'content-type': 'application/json', ...bearer(key) },
  body: Buffer.from(JSON.stringify({ query, max_results: maxResults, ...more }), 'utf8'),
});

/** The instance's own address is enough: its API has one path. */
const searxngAddress = (address: string): string => {
  const url = new URL(address);
  if (url.pathname === '/') url.pathname = '/search';
  return url.href;
};

export const providerShapes: Readonly<Record<SearchKind, ProviderShape>> = {
  http: {
    ask: (question) => post(question, Object.keys(question.place).length > 0 ? { user_location: question.place } : {}),
    resultsOf: (answer) => field(answer, 'results'),
  },
  tavily: {
    ask(question) {
      const country = countryName(question.place.country);
      return post(question, country === undefined ? {} : { country });
    },
    resultsOf: (answer) => field(answer, 'results'),
    // It answers 400 beyond.
    maxQuery: { characters: 400 },
  },
  brave: {
    ask: ({ address, key, query, maxResults, place }) => ({
      method: 'GET',
      url: withQuery(address, { q: query, count: String(maxResults) }),
      headers: { accept: 'application/json', ...placeHeaders(place), ...(key !== null && { 'x-subscription-token': key }) },
    }),
    resultsOf: (answer) => field(field(answer, 'web'), 'results'),
    // It answers 422 beyond. See https://api-dashboard.search.brave.com/api-reference/web/search/get
    maxQuery: { characters: 400, words: 50 },
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
