/** Calls that pass in the caller's own terms: which headers go along, and the address as the caller wrote it. */
import type { Target, UpstreamRequest } from '../contract/index.ts';

/** They are about the caller's connection to the gateway, or for the gateway itself. */
const ours =
  /^(?:accept-encoding|origin|referer|traceparent|tracestate|baggage|via|z-request-id|x-request-id|x-http-method-override|x-original-url|x-rewrite-url|x-gateway-.*|sec-.*|access-control-.*|cf-.*|cdn-.*|true-client-ip|x-client-ip|x-cluster-client-ip)$/;
/** By these an upstream recognises the caller's program. */
const program = /^(?:user-agent|x-stainless-.*|x-goog-api-client|x-app)$/;

/** Of the caller's headers (which hold no credentials and none of its connection), those that an upstream gets. */
export function passedHeaders(headers: Readonly<Record<string, string>> = {}, { neutralHeaders }: Pick<Target, 'neutralHeaders'>): Record<string, string> {
  const passed: Record<string, string> = {};
  for (const name of Object.keys(headers)) if (!ours.test(name) && !(neutralHeaders && program.test(name))) passed[name] = headers[name]!;
  return passed;
}

/** An address with a query of its own, and the caller's behind it. */
export const withQuery = (url: string, query = ''): string => (query === '' ? url : `${url}${url.includes('?') ? '&' : '?'}${query}`);

/** Path and query exactly as they stand in the address: a reader of addresses would encode some characters anew. */
export const exactPath = (url: string): string => /^https?:\/\/[^/?#]*(.*)$/is.exec(url)?.[1]?.replace(/^(?!\/)/, '/') ?? '/';

/** The call to `url`, whose bytes are sent as they stand there. */
export const passedCall = (
  url: string,
  { target, method, headers }: { target: Target; method?: string | undefined; headers: Readonly<Record<string, string>> | undefined },
): UpstreamRequest => ({ method: method ?? 'POST', url, path: exactPath(url), headers: passedHeaders(headers, target) });
