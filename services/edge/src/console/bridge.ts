/**
 * Carries a console request over the bus as one ordinary HTTP/1.1 exchange: the request is printed as it would stand on a wire, the console's
 * own non-listening server answers it, and its bytes are read back by Node's parser through an in-memory socket.
 */
import { type ClientRequest, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { GatewayError } from '@model-gateway/contracts/errors';
import type { EdgeContext } from '../context.ts';
import { discardRequestBody } from '../http/discard-request-body.ts';
import { securityHeaders } from '../http/security-headers.ts';
import { BusSocket } from './bus-socket.ts';

const hopByHop = new Set(['connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'te', 'trailer', 'transfer-encoding', 'upgrade']);
const reserved = /^x-gw-|^x-forwarded-|^forwarded$|^x-real-ip$/;

/** What the bridge uses of the edge. */
type BridgeContext = Pick<EdgeContext, 'bus' | 'admission' | 'reporting' | 'connections'>;

export function bridgeToConsole(context: BridgeContext): (request: IncomingMessage & { originalUrl?: string }, response: ServerResponse) => void {
  return (request, response) => {
    const headers: Record<string, string | string[]> = {};
    for (const [name, value] of Object.entries(request.headers)) if (value !== undefined && !hopByHop.has(name) && !reserved.test(name)) headers[name] = value;
    if (request.headers['transfer-encoding'] !== undefined) headers['transfer-encoding'] = 'chunked';
    headers['connection'] = 'close';
    const socket = new BusSocket(context.bus, context.admission.clientAddress(request) ?? '');
    const inner: ClientRequest = httpRequest({
      method: request.method ?? 'GET',
      path: request.originalUrl ?? request.url ?? '/',
      headers,
      setHost: false,
      createConnection: () => socket as never,
    });
    inner.on('response', (answer) => {
      const out: Record<string, string | string[]> = {};
      for (const [name, value] of Object.entries(answer.headers)) if (value !== undefined && !hopByHop.has(name)) out[name] = value;
      response.writeHead(answer.statusCode ?? 502, out);
      answer.pipe(response);
      answer.on('error', () => response.destroy());
    });
    inner.on('error', (error) => refuse(response, socket.failure ?? error, context));
    response.on('close', () => {
      inner.destroy();
      // The console may answer before it has read the whole body: the rest must not block the connection's next request.
      discardRequestBody(request, context.connections.discardLimits);
    });
    request.on('error', (error) => inner.destroy(error));
    request.pipe(inner);
  };
}

function refuse(response: ServerResponse, error: unknown, context: BridgeContext): void {
  if (response.headersSent) return void response.destroy();
  const known = error instanceof GatewayError ? error : new GatewayError('service_unavailable', { message: 'The console is unavailable.', cause: error });
  if (!response.destroyed) {
    response.writeHead(known.status, {
      'content-type': 'application/json',
      ...securityHeaders,
    });
    response.end(JSON.stringify({ error: { code: known.code, message: known.message } }));
  }
  context.reporting.logger.warn({ error: known }, 'console exchange failed');
}
