/** Search APIs as their vendors run them: each refuses what its documentation does not allow, and a suite that asked for it fails. */
import { field } from '../../packages/web-search/src/providers.ts';
import { type Answer, AnsweringServer, answerJson, type Received } from './answering-server.ts';

/** Vendors with rules of their own. */
export type SearchVendor = 'brave' | 'tavily' | 'searxng' | 'http';

export interface VendorPage {
  title: string;
  url: string;
  text: string;
}

type Rules = (asked: Received, url: URL) => string | null;

const only = (found: Iterable<string>, allowed: readonly string[]): string | null => {
  const strange = [...found].filter((name) => !allowed.includes(name));
  return strange.length === 0 ? null : `unknown: ${strange.join(', ')}`;
};
const isQuery = (text: unknown, longest: number): boolean => typeof text === 'string' && text.trim() !== '' && text.length <= longest;
const isCount = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 20;
const bodyOf = (asked: Received): unknown => {
  try {
    return JSON.parse(asked.body.toString());
  } catch {
    return undefined;
  }
};

/** See https://api-dashboard.search.brave.com/api-reference/web/search/get, https://docs.tavily.com/documentation/api-reference/endpoint/search, https://docs.searxng.org/dev/search_api.html */
const rules: Record<SearchVendor, Rules> = {
  brave(asked, url) {
    if (asked.method !== 'GET' || url.pathname !== '/res/v1/web/search') return `no ${asked.method} ${url.pathname}`;
    if (asked.body.length > 0) return 'a GET has no body';
    const query = url.searchParams.get('q') ?? '';
    if (!isQuery(query, 400) || query.split(/\s+/).length > 50) return 'q must have 1 to 400 characters and 50 words';
    if (!isCount(Number(url.searchParams.get('count') ?? '20'))) return 'count must be 1 to 20';
    if (!/^[A-Z]{2}$/.test(String(asked.headers['x-loc-country'] ?? 'GB'))) return 'x-loc-country must be two letters';
    return only(url.searchParams.keys(), [
      'q',
      'count',
      'offset',
      'country',
      'search_lang',
      'ui_lang',
      'safesearch',
      'freshness',
      'result_filter',
      'extra_snippets',
    ]);
  },
  tavily(asked, url) {
    if (asked.method !== 'POST' || url.pathname !== '/search') return `no ${asked.method} ${url.pathname}`;
    if (asked.headers['content-type'] !== 'application/json') return 'the content type must be application/json';
    const body = bodyOf(asked);
    if (!isQuery(field(body, 'query'), 400)) return 'Query is too long. Max query length is 400 characters.';
    if (!isCount(field(body, 'max_results'))) return 'max_results must be 0 to 20';
    const country = field(body, 'country') ?? 'united kingdom';
    if (typeof country !== 'string' || country !== country.toLowerCase() || country.length < 4) return 'country must be a name in lower case';
    return only(Object.keys(body as object), ['query', 'max_results', 'country', 'search_depth', 'topic', 'time_range', 'include_domains', 'exclude_domains']);
  },
  searxng(asked, url) {
    if (asked.method !== 'GET' || url.pathname !== '/search') return `no ${asked.method} ${url.pathname}`;
    if (!isQuery(url.searchParams.get('q'), 10_000)) return 'no query';
    // Without it the instance answers a page; where it is not enabled, 403.
    if (url.searchParams.get('format') !== 'json') return 'format must be json';
    return only(url.searchParams.keys(), ['q', 'format', 'categories', 'language', 'pageno', 'time_range', 'safesearch']);
  },
  http(asked) {
    const body = bodyOf(asked);
    if (asked.method !== 'POST' || !isQuery(field(body, 'query'), 1000) || !isCount(field(body, 'max_results'))) return 'no question';
    return only(Object.keys(body as object), ['query', 'max_results', 'user_location']);
  },
};
const isKnown: Record<SearchVendor, (asked: Received, key: string) => boolean> = {
  brave: ({ headers }, key) => headers['x-subscription-token'] === key && headers.authorization === undefined,
  tavily: ({ headers }, key) => headers.authorization === `Bearer ${key}`,
  searxng: () => true,
  http: ({ headers }, key) => headers.authorization === `Bearer ${key}`,
};
const found: Record<SearchVendor, (pages: readonly VendorPage[], query: string) => unknown> = {
  brave: (pages, original) => ({
    type: 'search',
    query: { original, more_results_available: false },
    web: {
      type: 'search',
      results: pages.map(({ title, url, text }) => ({ type: 'search_result', title, url, description: `<strong>${text}</strong>`, age: '1 day ago' })),
    },
  }),
  tavily: (pages, query) => ({
    query,
    answer: null,
    images: [],
    results: pages.map(({ title, url, text }) => ({ title, url, content: text, score: 0.9, raw_content: null })),
    response_time: 0.5,
  }),
  searxng: (pages, query) => ({
    query,
    number_of_results: 0,
    results: pages.map(({ title, url, text }) => ({ title, url, content: text, engine: 'duckduckgo', category: 'general', score: 1 })),
    answers: [],
    unresponsive_engines: [],
  }),
  http: (pages) => ({ results: pages.map(({ title, url, text }) => ({ title, url, content: text })) }),
};

/** One vendor's server. */
export class VendorSearch extends AnsweringServer {
  readonly vendor: SearchVendor;
  readonly key: string;
  /** What it refused that its documentation does not allow: a fault of whoever asked. */
  readonly refused: string[] = [];
  /** Answers instead of the vendor's own, for vendors that are not well. */
  instead: Answer | null = null;

  constructor(vendor: SearchVendor, key: string, pages: readonly VendorPage[]) {
    super();
    this.vendor = vendor;
    this.key = key;
    this.answer = (response, asked) => {
      if (this.instead) return this.instead(response, asked);
      const url = new URL(asked.path, 'http://vendor');
      if (!isKnown[vendor](asked, key)) return answerJson({ error: 'invalid key' }, 401)(response, asked);
      const fault = rules[vendor](asked, url);
      if (fault !== null) {
        this.refused.push(fault);
        return answerJson({ detail: { error: fault } }, 422)(response, asked);
      }
      return answerJson(found[vendor](pages, url.searchParams.get('q') ?? String(field(bodyOf(asked), 'query'))))(response, asked);
    };
  }

  /** The address to configure. */
  get searchUrl(): string {
    return `${this.address}${{ brave: '/res/v1/web/search', tavily: '/search', searxng: '', http: '/find' }[this.vendor]}`;
  }
}
