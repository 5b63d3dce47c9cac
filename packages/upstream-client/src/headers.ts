/** Header values on the way out are made safe; those on the way in become one flat record. */
import type { IncomingHttpHeaders } from 'node:http';

/** They belong to the connection, which is ours. */
const connectionNames = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
const tokenName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/;
/** Node writes header values as Latin-1: what lies above cannot be sent, and control characters would start a new header. */
const sendable = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Names that were judged good: the same few go out with every call. Full, it is left as it is: callers' names would only churn. */
const names = new Map<string, string>();
const maxNames = 512;

/** The name in lower case; undefined for one that cannot be sent. */
function judgeName(name: string): string | undefined {
  const known = names.get(name);
  if (known !== undefined) return known;
  const lower = name.toLowerCase();
  if (connectionNames.has(lower) || !tokenName.test(name)) return undefined;
  if (names.size < maxNames) names.set(name, lower);
  return lower;
}

/**
 * Headers as undici takes them. What cannot be sent is left out and named to `dropped` (never its value). `accept-encoding` is always
 * `identity`: replies are read as they come, inflating costs more than the bytes saved.
 */
export function outgoingHeaders(headers: Readonly<Record<string, string>>, userAgent: string, dropped: (name: string) => void): string[] {
  const out: string[] = ['accept-encoding', 'identity'];
  let hasAgent = false;
  for (const name in headers) {
    if (!Object.hasOwn(headers, name)) continue;
    const lower = judgeName(name);
    if (lower === 'accept-encoding') continue;
    const value = headers[name];
    if (lower === undefined || typeof value !== 'string' || !sendable.test(value)) {
      dropped(name.slice(0, 64).toLowerCase());
      continue;
    }
    if (lower === 'user-agent') hasAgent = true;
    out.push(lower, value);
  }
  if (!hasAgent) out.push('user-agent', userAgent);
  return out;
}

/** Size of a reply's header lines, as the limit counts them. */
export function incomingHeaders(headers: IncomingHttpHeaders): { headers: Record<string, string>; bytes: number } {
  const out: Record<string, string> = {};
  let bytes = 0;
  for (const name of Object.keys(headers)) {
    const value = headers[name];
    if (value === undefined || name === '__proto__') continue;
    const text = typeof value === 'string' ? value : value.join(', ');
    out[name] = text;
    bytes += name.length + text.length + 4;
  }
  return { headers: out, bytes };
}
