/** One page as text: redirects are followed here, so that every address passes the guard of the client that calls it. */
import type { Outbound } from '@model-gateway/upstream-client';
import { type Domains, mayUse } from './domains.ts';
import { cutText, decode, readHtml, titleOf } from './page-text.ts';
import { readBytes } from './read-bytes.ts';

/** Bounds of one fetch. */
export interface FetchLimits extends Domains {
  maxBytes: number;
  maxChars: number;
  maxRedirects: number;
  /** For all redirects together. */
  timeoutMs: number;
  signal: AbortSignal;
}

/** A page, as a model is shown it. */
export interface FetchedPage {
  /** Where it was found in the end. */
  url: string;
  title: string;
  text: string;
  /** There was more text than is taken. */
  cut: boolean;
}

/** `not-accessible` does not tell why: callers must not learn what is behind an address. */
export type FetchOutcome =
  | { ok: true; page: FetchedPage }
  | { ok: false; code: 'invalid-url' | 'not-allowed' | 'not-accessible' | 'unsupported-type' | 'too-large' };

const maxUrlLength = 2_048;
const isRedirect = (status: number): boolean => [301, 302, 303, 307, 308].includes(status);

/** `outbound` must be one that refuses private addresses. */
export async function fetchPage(outbound: Outbound, address: string, limits: FetchLimits): Promise<FetchOutcome> {
  const until = performance.now() + limits.timeoutMs;
  const first = readAddress(address);
  if (first === null) return { ok: false, code: 'invalid-url' };
  let url: string = first;
  for (let hops = 0; hops <= limits.maxRedirects; hops++) {
    if (!mayUse(url, limits)) return { ok: false, code: 'not-allowed' };
    const timeoutMs = Math.ceil(until - performance.now());
    if (timeoutMs <= 0) break;
    const headers = { accept: 'text/html, text/plain;q=0.9, application/json;q=0.8, */*;q=0.1' };
    const answer = await readBytes(outbound, { method: 'GET', url, headers, maxBytes: limits.maxBytes, timeoutMs, signal: limits.signal });
    if (answer === 'too-large') return { ok: false, code: 'too-large' };
    if (answer === 'failed') break;
    if (answer.body) return readPage(url, answer.body, answer.headers['content-type'] ?? '', limits);
    const next: string | null = isRedirect(answer.status) ? readAddress(answer.headers['location'] ?? '', url) : null;
    if (next === null) break;
    url = next;
  }
  return { ok: false, code: 'not-accessible' };
}

/** null: no address that may be fetched. Fragments are the reader's own. */
function readAddress(text: string, base?: string): string | null {
  const url = text.length > maxUrlLength || text === '' ? null : URL.parse(text, base);
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') return null;
  url.hash = '';
  return url.href;
}

function readPage(url: string, body: Buffer, contentType: string, { maxChars }: FetchLimits): FetchOutcome {
  const type = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const isHtml = type === 'text/html' || type === 'application/xhtml+xml';
  if (!isHtml && !/^text\/|[/+](?:json|xml|yaml)$/.test(type)) return { ok: false, code: 'unsupported-type' };
  const source = decode(body, contentType);
  const { text, isCut } = isHtml ? readHtml(source) : { text: source, isCut: false };
  const title = (isHtml && titleOf(source)) || url;
  return { ok: true, page: { url, title, text: cutText(text, maxChars), cut: isCut || text.length > maxChars } };
}
