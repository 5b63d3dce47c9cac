/** What a request is aimed at, read as every server has to read it. */
import type { IncomingMessage } from 'node:http';
import { GatewayError } from '@model-gateway/contracts/errors';

const slash = 47;

/** As proxies are asked, a target may name its host, too (`http://gateway/v1/models`): every server has to take it. */
export function originForm(request: IncomingMessage): string {
  const target = request.url ?? '/';
  if (target.charCodeAt(0) === slash) return target;
  const path = /^https?:\/\/[^/?#]*(.*)$/is.exec(target)?.[1];
  if (path === undefined) return target;
  request.url = path.startsWith('/') ? path : `/${path}`;
  return request.url;
}

/** Google's SDK for JavaScript joins the address of its WebSockets and their path with two slashes. */
export const singleSlash = (path: string): string => (path.startsWith('//ws/') ? path.slice(1) : path);

/** Requests that two servers may read differently: not one Host header (HTTP/1.0 may leave it out), or a transfer encoding that HTTP/1.0 does not have, or that is more than chunks. */
export function isAmbiguous(request: IncomingMessage): boolean {
  const encoding = request.headers['transfer-encoding'];
  if (encoding !== undefined && (request.httpVersionMinor === 0 || encoding.toLowerCase() !== 'chunked')) return true;
  let hosts = 0;
  for (let at = 0; at < request.rawHeaders.length; at += 2) {
    const name = request.rawHeaders[at]!;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  return hosts > 1 || (hosts === 0 && request.httpVersionMinor > 0);
}

/** The one expectation that HTTP has, which Node meets. */
const knownExpectation = /(?:^|\W)100-continue(?:$|\W)/i;

/** Why a request is refused by its head alone, whatever it is aimed at; undefined: it is not. */
export function refusalOfHead(request: IncomingMessage): GatewayError | undefined {
  if (isAmbiguous(request)) {
    const message = 'The request must have exactly one Host header, and no transfer encoding but chunked.';
    return new GatewayError('invalid_request', { message, headers: { connection: 'close' } });
  }
  const { expect } = request.headers;
  if (expect === undefined || request.httpVersionMinor === 0 || knownExpectation.test(expect)) return undefined;
  return new GatewayError('invalid_request', { status: 417, message: 'The header Expect may ask for 100-continue alone; leave it out.' });
}
