/** Opens WebSockets to upstreams: the same guarded addresses, proxies, DNS servers and TLS settings as for calls. */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { WebSocket } from 'ws';
import type { AddressPolicy } from './address.ts';
import { createDialer } from './dialer.ts';
import type { Egress } from './egress/egress.ts';
import { createResolvers } from './egress/resolvers.ts';
import { createFault, DialError, faultOf, type OutboundFault } from './fault.ts';
import { incomingHeaders, outgoingHeaders } from './headers.ts';
import type { Resolve } from './lookup.ts';

/** A WebSocket to be opened. */
export interface WebSocketRequest {
  /** `ws:` or `wss:`, without credentials or fragment. */
  url: string;
  headers: Readonly<Record<string, string>>;
  egress?: Egress | undefined;
  /** For the connection and the upstream's answer to the handshake, in ms. */
  handshakeMs: number;
  /** Longest message of the upstream, in bytes. */
  maxPayload: number;
}

/** Exactly one of them is called, later than `open` returns. */
export interface WebSocketHandlers {
  /** Open, and paused: `resume` is called once its listeners are set. */
  opened(socket: WebSocket): void;
  /** The upstream answered the handshake as an ordinary request. */
  refused(status: number, headers: Record<string, string>, body: string): void;
  failed(fault: OutboundFault): void;
}

export interface WebSocketDialer {
  /** Returns a function that gives up the attempt without calling a handler. */
  open(request: WebSocketRequest, handlers: WebSocketHandlers): () => void;
}

export interface WebSocketDialerOptions {
  policy: AddressPolicy;
  resolve?: Resolve | undefined;
  ca?: string | undefined;
  userAgent: string;
  /** A header that cannot be sent is left out, and named. */
  dropped(header: string): void;
}

/** What is read of a refusal's body. */
const maxRefusalBytes = 64 * 1024;
/** Set by the handshake itself, or meant for calls with bodies. */
const ofTheHandshake = /^(?:sec-websocket-.*|accept-encoding|content-type|accept)$/;

export function createWebSocketDialer(options: WebSocketDialerOptions): WebSocketDialer {
  const resolvers = createResolvers(options);
  return {
    open(request, handlers) {
      const { egress } = request;
      let over = false;
      let dialled: Socket | undefined;
      const dialing = (socket: Socket): void => {
        dialled = socket;
      };
      const connect = createDialer({ ...options, resolve: resolvers.acquire(egress), egress, current: () => ({ dialing }) });
      const once = (report: () => void): void => {
        if (over) return;
        over = true;
        void resolvers.release(egress);
        report();
      };
      let socket: WebSocket;
      try {
        socket = createSocket(request, connect, options);
      } catch (error) {
        setImmediate(() => once(() => handlers.failed(createFault('protocol', 'connect', error, 'The address of the upstream is not valid.'))));
        return () => once(() => {});
      }
      const onError = (error: Error): void => {
        dialled?.destroy();
        once(() => handlers.failed(faultOfHandshake(error)));
      };
      socket.on('error', onError);
      socket.once('open', () => {
        // What came with the answer must find its listeners.
        socket.pause();
        once(() => {
          socket.off('error', onError);
          handlers.opened(socket);
        });
      });
      socket.once('unexpected-response', (_request, reply: IncomingMessage) => {
        readRefusal(reply, (body) => {
          once(() => handlers.refused(reply.statusCode ?? 0, incomingHeaders(reply.headers).headers, body));
          socket.terminate();
        });
      });
      return () => {
        once(() => {});
        dialled?.destroy();
        socket.terminate();
      };
    },
  };
}

type Connect = ReturnType<typeof createDialer>;

const createSocket = (request: WebSocketRequest, connect: Connect, options: WebSocketDialerOptions): WebSocket =>
  new WebSocket(request.url, [], {
    headers: headersOf(request, options),
    maxPayload: request.maxPayload,
    perMessageDeflate: false,
    followRedirects: false,
    handshakeTimeout: request.handshakeMs,
    createConnection: dialFor(request.url, connect) as never,
  });

function headersOf({ headers }: WebSocketRequest, { userAgent, dropped }: WebSocketDialerOptions): Record<string, string> {
  const list = outgoingHeaders(headers, userAgent, dropped);
  const out: Record<string, string> = {};
  for (let at = 0; at < list.length; at += 2) if (!ofTheHandshake.test(list[at]!)) out[list[at]!] = list[at + 1]!;
  return out;
}

type Connected = (error: Error | null, socket?: Socket) => void;

/** For Node's HTTP client, which takes a connection that comes later through the callback. */
const dialFor =
  (url: string, connect: Connect) =>
  (_options: unknown, connected: Connected): undefined => {
    const { protocol, hostname, port } = new URL(url);
    const target = { hostname: hostname.replace(/^\[|\]$/g, ''), protocol: protocol === 'wss:' ? 'https:' : 'http:', port };
    connect(target as Parameters<Connect>[0], (error, socket) => (error ? connected(error) : connected(null, socket as Socket)));
  };

/** Reads the body of a refusal, which says why. One that is too long, or does not end in time, is cut. */
function readRefusal(reply: IncomingMessage, done: (body: string) => void): void {
  const parts: Buffer[] = [];
  let size = 0;
  let ended = false;
  const end = (): void => {
    if (ended) return;
    ended = true;
    clearTimeout(late);
    reply.off('data', onData);
    reply.destroy();
    done(Buffer.concat(parts).toString('utf8', 0, maxRefusalBytes));
  };
  const late = setTimeout(end, 2000).unref();
  const onData = (part: Buffer): void => {
    parts.push(part);
    size += part.length;
    if (size >= maxRefusalBytes) end();
  };
  reply.on('data', onData);
  reply.once('end', end);
  reply.once('error', end);
}

function faultOfHandshake(error: Error): OutboundFault {
  if (error instanceof DialError) return faultOf(error, 'connect');
  if (/handshake has timed out/i.test(error.message)) return createFault('timeout', 'first-byte', error);
  // The reply does not follow the WebSocket protocol.
  if (/sec-websocket|upgrade header|subprotocol|invalid/i.test(error.message)) return createFault('protocol', 'first-byte', error);
  return createFault('reset', 'first-byte', error);
}
