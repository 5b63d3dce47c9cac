/** Answers that pages of other origins may read (CORS). A call is admitted by a key that its page has to have, never by what the browser holds. */
import type { IncomingMessage, ServerResponse } from 'node:http';

const methods = 'GET, HEAD, POST, PUT, PATCH, DELETE';
const preflightSeconds = '600';

/** Lets the page that asks, if it is one, read the status, headers and body of the answer. */
export function letPagesRead({ headers }: IncomingMessage, response: ServerResponse): void {
  if (headers.origin === undefined) return;
  response.setHeader('access-control-allow-origin', '*');
  response.setHeader('access-control-expose-headers', '*');
  response.setHeader('vary', 'origin');
}

/** The method of the request that a browser asks about beforehand; undefined: this is no such question. */
export function preflightOf({ method, headers }: IncomingMessage): string | undefined {
  return method === 'OPTIONS' && headers.origin !== undefined ? headers['access-control-request-method'] : undefined;
}

/** What a browser asks before it sends the request itself, without a credential. */
export function answerPreflight(response: ServerResponse, allowed = methods): void {
  const { 'transfer-encoding': encoding, 'content-length': length = '0' } = response.req.headers;
  response.writeHead(204, {
    // Browsers send no body with it, and none is read.
    ...((encoding !== undefined || length !== '0') && { connection: 'close' }),
    'access-control-allow-methods': allowed,
    // A wildcard would leave out `authorization`.
    'access-control-allow-headers': response.req.headers['access-control-request-headers'] ?? 'authorization, content-type',
    'access-control-max-age': preflightSeconds,
  });
  response.end();
}
