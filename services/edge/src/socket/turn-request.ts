/** A turn of a WebSocket as the request that it stands for, so that it takes the same way as any other call. */
import { IncomingMessage } from 'node:http';
import { freeCarrier } from '../admission/credentials.ts';

/** Names that are about the handshake, or about the body of the request that had none. */
const ofTheHandshake = /^(?:connection|upgrade|sec-websocket-.*|content-length|content-type|content-encoding|transfer-encoding|expect)$/i;

/** The headers that all turns of a connection have. */
export interface TurnHeaders {
  headers: Record<string, string>;
  raw: string[];
}

/** `key`: one that came otherwise than in a header. */
export function turnHeaders(upgrade: IncomingMessage, key: string | null): TurnHeaders {
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  for (const [name, value] of Object.entries(upgrade.headers)) if (typeof value === 'string' && !ofTheHandshake.test(name)) headers[name] = value;
  const raw: string[] = [];
  for (let at = 0; at < upgrade.rawHeaders.length; at += 2) {
    const name = upgrade.rawHeaders[at] ?? '';
    if (!ofTheHandshake.test(name)) raw.push(name, upgrade.rawHeaders[at + 1] ?? '');
  }
  if (key !== null) {
    // Beside a credential of the caller's, which may be the same key, or a token that is meant for somebody else.
    const carrier = freeCarrier(headers);
    headers[carrier] = carrier === 'authorization' ? `Bearer ${key}` : key;
    raw.push(carrier, headers[carrier]);
  }
  return { headers, raw };
}

export function turnRequest(upgrade: IncomingMessage, { headers, raw }: TurnHeaders, body: string): IncomingMessage {
  const request = new IncomingMessage(upgrade.socket);
  const bytes = Buffer.from(body, 'utf8');
  request.method = 'POST';
  request.url = upgrade.url ?? '/';
  request.httpVersion = '1.1';
  request.headers = { ...headers, 'content-length': String(bytes.length) };
  request.rawHeaders = raw;
  request.complete = true;
  request.push(bytes);
  request.push(null);
  return request;
}
