/** What of the caller's headers may go further in: lower case, single values, nothing hop-by-hop, no credential, none of ours. */
import type { IncomingMessage } from 'node:http';
import { credentialHeaders } from './credentials.ts';

const hopByHop = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'host',
  'content-length',
  'expect',
  'http2-settings',
]);
/** A caller's header never raises trust: names under which proxies and this gateway speak are dropped. */
const reserved = /^(?:x-gw-|x-forwarded-|forwarded$|x-real-ip$|sec-websocket-)|_/;
const maxValue = 8192;

export function innerHeaders(request: IncomingMessage): Record<string, string> {
  const out: Record<string, string> = {};
  const { headers } = request;
  const named =
    headers.connection?.includes(',') || !/^(?:keep-alive|close)?$/i.test(headers.connection ?? '') ? connectionNames(headers.connection) : undefined;
  for (const name in headers) {
    const value = headers[name];
    if (typeof value !== 'string' || value.length > maxValue) continue;
    if (hopByHop.has(name) || credentialHeaders.has(name) || named?.has(name) || reserved.test(name)) continue;
    out[name] = value;
  }
  return out;
}

const connectionNames = (value = ''): Set<string> => new Set(value.split(',').map((name) => name.trim().toLowerCase()));
