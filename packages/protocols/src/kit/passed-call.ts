/** Calls that pass in the caller's own terms: which headers go along, and the address as the caller wrote it. */
import type { UpstreamRequest } from '../contract/index.ts';

/** They are about the caller's connection to the gateway, or for the gateway itself. */
const ours =
  /^(?:accept-encoding|origin|referer|traceparent|tracestate|baggage|via|z-request-id|x-request-id|x-http-method-override|x-original-url|x-rewrite-url|x-gateway-.*|sec-.*|access-control-.*|cf-.*|cdn-.*|true-client-ip|x-client-ip|x-cluster-client-ip)$/;

/** Of the caller's headers (which hold no credentials and none of its connection), those that an upstream gets. */
export function passedHeaders(headers: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !ours.test(name)));
}

/** An address with a query of its own, and the caller's behind it. */
export const withQuery = (url: string, query = ''): string => (query === '' ? url : `${url}${url.includes('?') ? '&' : '?'}${query}`);

/** Path and query of an address, byte for byte: a parser of URLs would encode some characters anew. */
export const exactPath = (url: string): string => /^https?:\/\/[^/?#]*(.*)$/is.exec(url)?.[1]?.replace(/^(?!\/)/, '/') ?? '/';

/** The call to `url`, whose bytes are sent unchanged. */
export const passedCall = (
  url: string,
  { method = 'POST', headers }: { method?: string | undefined; headers: Readonly<Record<string, string>> | undefined },
): UpstreamRequest => ({ method, url, path: exactPath(url), headers: passedHeaders(headers) });
