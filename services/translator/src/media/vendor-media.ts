/** Files that an upstream gives by address in its reply, for callers who get bytes. A vendor's signed address never reaches such a caller. */
import type { Egress, Outbound } from '@model-gateway/upstream-client';
import { type FetchedFile, fetchUrl } from './fetch-url.ts';

const maxFiles = 16;
const maxFileBytes = 32 * 1024 * 1024;
const maxTotalBytes = 64 * 1024 * 1024;
const totalMs = 60_000;

/** The call whose reply named the addresses. */
export interface NamedBy {
  /** Address of the call. */
  url: string;
  egress: Egress | undefined;
  signal: AbortSignal;
}

/** `upstreams` dials what an admin entered; `publicUrls` dials no private address (null: there is none, and nothing but the upstream itself is asked). */
export interface VendorDialers {
  readonly upstreams: Outbound;
  readonly publicUrls: Outbound | null;
}

export class VendorMedia {
  readonly #dialers: VendorDialers;

  constructor(dialers: VendorDialers) {
    this.#dialers = dialers;
  }

  /** What a reply says that the rest of it is at; undefined where that could not be had, or is not JSON. */
  async fetchJson(url: string, call: NamedBy): Promise<unknown> {
    const outbound = dialerFor(url, call.url, this.#dialers);
    const file =
      outbound && (await fetchUrl(outbound, url, { maxBytes: maxFileBytes, totalMs, signal: call.signal, egress: call.egress, type: 'application/json' }));
    if (!file) return undefined;
    try {
      return JSON.parse(Buffer.from(file.data, 'base64').toString('utf8'));
    } catch {
      return undefined;
    }
  }

  /** By address; null when one of them could not be had. */
  async fetchAll(urls: readonly string[], call: NamedBy): Promise<Map<string, FetchedFile> | null> {
    const wanted = [...new Set(urls)];
    if (wanted.length > maxFiles) return null;
    const files = new Map<string, FetchedFile>();
    let left = maxTotalBytes;
    for (const url of wanted) {
      const file = await this.#fetch(url, call, Math.min(maxFileBytes, left));
      if (!file) return null;
      left -= file.bytes;
      files.set(url, file);
    }
    return files;
  }

  async #fetch(url: string, call: NamedBy, maxBytes: number): Promise<FetchedFile | null> {
    const outbound = dialerFor(url, call.url, this.#dialers);
    if (!outbound || maxBytes <= 0) return null;
    return fetchUrl(outbound, url, { maxBytes, totalMs, signal: call.signal, egress: call.egress });
  }
}

/** What dials an address that an upstream named. An upstream of the operator's own network may name files beside itself, and no others there. */
export function dialerFor(url: string, upstreamUrl: string, { upstreams, publicUrls }: VendorDialers): Outbound | null {
  const address = readAddress(url);
  if (!address) return null;
  return address.origin === readAddress(upstreamUrl)?.origin ? upstreams : publicUrls;
}

/** null for what is not an http address, or holds a credential. */
function readAddress(url: string): URL | null {
  const address = URL.parse(url);
  return address && /^https?:$/.test(address.protocol) && address.username === '' && address.password === '' ? address : null;
}
