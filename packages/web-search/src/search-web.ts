/** One search: asks a provider in its own terms, and gives the pages that it found, checked and cut to size. */
import { maxResultChars, type SearchKind, searchAddresses } from '@model-gateway/contracts';
import type { Outbound } from '@model-gateway/upstream-client';
import { type Domains, mayUse } from './domains.ts';
import { cutText, toPlainText } from './page-text.ts';
import { field, providerShapes } from './providers.ts';
import { readBytes } from './read-bytes.ts';
import type { UserPlace } from './user-place.ts';

/** Who is asked; `key` is null for a provider without one. */
export interface SearchProvider {
  kind: SearchKind;
  base_url: string | null;
  key: string | null;
}

/** Bounds of one search. */
export interface SearchLimits extends Domains {
  maxResults: number;
  /** Whom results are for; what of it a kind of provider takes, `placeTaken` says. */
  place?: UserPlace | undefined;
  timeoutMs: number;
  signal: AbortSignal;
}

/** A page that was found. */
export interface FoundPage {
  url: string;
  title: string;
  /** What the provider quotes of it. */
  text: string;
  /** Its age as the provider says it. */
  age?: string;
}

/** `unavailable`: the provider could not be asked, refused, or answered nothing that can be read. */
export type SearchOutcome = { ok: true; pages: FoundPage[] } | { ok: false; code: 'unavailable' | 'too-many-requests' | 'invalid-query' | 'query-too-long' };

const maxQueryLength = 1_000;
const maxAnswerBytes = 4 * 1024 * 1024;
/** Entries of an answer that are looked at. */
const maxEntries = 200;
const maxUrlLength = 2_048;
const maxTitleLength = 300;
const maxAgeLength = 64;

export async function searchWeb(outbound: Outbound, provider: SearchProvider, query: string, limits: SearchLimits): Promise<SearchOutcome> {
  const asked = query.trim();
  if (asked === '') return { ok: false, code: 'invalid-query' };
  const shape = providerShapes[provider.kind];
  const { characters = maxQueryLength, words = Number.POSITIVE_INFINITY } = shape.maxQuery ?? {};
  if (asked.length > characters || asked.split(/\s+/).length > words) return { ok: false, code: 'query-too-long' };
  const address = provider.base_url ?? searchAddresses[provider.kind];
  if (address === null || !URL.canParse(address)) return { ok: false, code: 'unavailable' };
  const call = shape.ask({ address, key: provider.key, query: asked, maxResults: limits.maxResults, place: limits.place ?? {} });
  const answer = await readBytes(outbound, { ...call, maxBytes: maxAnswerBytes, timeoutMs: limits.timeoutMs, signal: limits.signal });
  if (typeof answer === 'string') return { ok: false, code: 'unavailable' };
  if (answer.status === 429) return { ok: false, code: 'too-many-requests' };
  const results = answer.body && Array.isArray(shape.resultsOf(parse(answer.body))) ? (shape.resultsOf(parse(answer.body)) as unknown[]) : null;
  if (results === null) return { ok: false, code: 'unavailable' };
  const pages = results.slice(0, maxEntries).flatMap((entry) => readPage(entry, limits));
  return { ok: true, pages: withoutRepeats(pages).slice(0, limits.maxResults) };
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8')) as unknown;
  } catch {
    return undefined;
  }
}

const textOf = (entry: unknown, ...names: string[]): string => {
  for (const name of names) {
    const value = field(entry, name);
    if (typeof value === 'string' && value.trim() !== '') return value;
  }
  return '';
};

const clean = (text: string, length: number): string =>
  cutText(
    toPlainText(text.slice(0, 4 * length))
      .replace(/\s+/g, ' ')
      .trim(),
    length,
  );

/** An address that says no more than where a page is: no words in it, and nobody's name before the host. null: it is none. */
function readAddress(text: string): string | null {
  const url = text.length > maxUrlLength ? null : URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') return null;
  return /^[^\s\p{Cc}]+$/u.test(text) && text.isWellFormed() ? text : url.href;
}

function readPage(entry: unknown, domains: Domains): FoundPage[] {
  const url = readAddress(textOf(entry, 'url'));
  if (url === null || !mayUse(url, domains)) return [];
  const age = clean(textOf(entry, 'age', 'page_age', 'published_date', 'publishedDate'), maxAgeLength);
  return [
    {
      url,
      title: clean(textOf(entry, 'title'), maxTitleLength) || url,
      text: clean(textOf(entry, 'content', 'description', 'snippet', 'text'), maxResultChars),
      ...(age !== '' && { age }),
    },
  ];
}

const withoutRepeats = (pages: readonly FoundPage[]): FoundPage[] => [...new Map(pages.map((page) => [page.url, page])).values()];
