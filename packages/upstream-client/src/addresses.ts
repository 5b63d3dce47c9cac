/** Addresses of upstreams, taken apart once: the same few are called again and again. */
import { LRUCache } from 'lru-cache';

/** What of an address a call needs. */
export interface CallAddress {
  origin: string;
  /** Path and query. */
  path: string;
}

const maxKept = 256;
/** A caller's query makes many addresses; those are not worth keeping. */
const maxKeptLength = 512;
const anyHttp = /^https?:$/;

function take(url: string | URL): CallAddress | undefined {
  const parsed = typeof url === 'string' ? URL.parse(url) : url;
  if (parsed === null || !anyHttp.test(parsed.protocol) || parsed.username !== '' || parsed.password !== '') return undefined;
  return { origin: parsed.origin, path: parsed.pathname + parsed.search };
}

/** undefined for what is not an http(s) address, or has credentials in it. Throws nothing. */
export function createAddressReader(): (url: string | URL) => CallAddress | undefined {
  const kept = new LRUCache<string, CallAddress>({ max: maxKept });
  return (url) => {
    if (typeof url !== 'string' || url.length > maxKeptLength) return take(url);
    const known = kept.get(url);
    if (known) return known;
    const address = take(url);
    if (!address) return undefined;
    kept.set(url, address);
    return address;
  };
}
