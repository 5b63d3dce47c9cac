/** The client of upstreams: `send` a request and receive its reply through callbacks, with back-pressure and exactly one ending. */

import type { Timeouts } from '@model-gateway/contracts';
import { LRUCache } from 'lru-cache';
import type { AddressPolicy } from './address.ts';
import { createAddressReader } from './addresses.ts';
import { createFault, DialError } from './fault.ts';
import { outgoingHeaders } from './headers.ts';
import { guardedLookup, type Resolve } from './lookup.ts';
import { maxHeaderBytes } from './origin-transport.ts';
import type { OutboundCall, OutboundHandlers, OutboundRequest } from './outbound-call.ts';
import { createPools } from './pools.ts';
import { type Opened, openSocket } from './socket.ts';
import { createSweeper } from './sweeper.ts';
import { UpstreamCall } from './upstream-call.ts';
import { createWebSocketDialer, type WebSocketDialer } from './web-socket.ts';

export interface OutboundOptions {
  allowPrivate: boolean;
  timeouts: Required<Timeouts>;
  /** Sent when the request names none. */
  userAgent: string;
  logger: { warn(fields: Record<string, unknown>, message: string): void; error(fields: Record<string, unknown>, message: string): void };
  /** How names become addresses; the system's resolver when absent. */
  resolve?: Resolve;
  /** Connections to one origin at once (and way out); further calls wait inside their connect time, then fail as `busy`. Default 1250. */
  maxConnections?: number;
  /** Whether HTTP/2 is spoken with upstreams that offer it over TLS, where an upstream does not say it itself (`egress`). Default false. */
  http2?: boolean;
  /** PEM certificates trusted instead of the system's. */
  ca?: string;
}

export interface Outbound {
  send(request: OutboundRequest, handlers: OutboundHandlers): OutboundCall;
  /** Opens a WebSocket. The receiver owns it from then on: `close` does not close it. */
  openWebSocket: WebSocketDialer['open'];
  /** Opens a TCP connection to an allowed address, for protocols other than HTTP. The receiver owns it from then on. */
  openSocket(target: { host: string; port: number }, opened: Opened): void;
  /** Accepts no more calls, lets those under way finish for `graceMs` (default 5,000), then aborts them. */
  close(graceMs?: number): Promise<void>;
  /** Which addresses are dialled. */
  readonly policy: AddressPolicy;
  stats(): { pools: number; active: number };
}

const ended = (): DialError => new DialError('connect', 'connect', 'outbound is closed');

function fill(defaults: Required<Timeouts>, own: Timeouts | undefined): Required<Timeouts> {
  if (own === undefined) return defaults;
  return {
    connect_ms: own.connect_ms ?? defaults.connect_ms,
    first_byte_ms: own.first_byte_ms ?? defaults.first_byte_ms,
    idle_ms: own.idle_ms ?? defaults.idle_ms,
    total_ms: own.total_ms ?? defaults.total_ms,
  };
}

/** A saturated origin is named in the log this often at most. */
const saturatedLogMs = 10_000;

/** Creates the process's client; it holds the connections of all upstreams. */
export function createOutbound({ allowPrivate, timeouts: defaults, userAgent, logger, maxConnections = 1250, ...way }: OutboundOptions): Outbound {
  const policy: AddressPolicy = Object.freeze({ allowPrivate });
  const pools = createPools({ policy, maxConnections, ...way });
  const sweeper = createSweeper<UpstreamCall>();
  const readAddress = createAddressReader();
  const now = (): number => performance.now();
  const saturatedAt = new LRUCache<string, number>({ max: 256 });
  const dropped = (header: string): void => logger.warn({ header }, 'header cannot be sent');
  const webSockets = createWebSocketDialer({ policy, resolve: way.resolve, ca: way.ca, userAgent, dropped });
  let closed = false;

  /** All connections to an origin are in use, or one access key uses its whole share of them. */
  function reportSaturated(origin: string, accessKey: string | undefined, why: string): void {
    const [at, what] = [now(), `${origin} ${why}`];
    if (at - (saturatedAt.get(what) ?? Number.NEGATIVE_INFINITY) < saturatedLogMs) return;
    saturatedAt.set(what, at);
    logger.warn({ origin, max_connections: maxConnections, ...(accessKey !== undefined && { access_key: accessKey }) }, why);
  }

  function begin(request: OutboundRequest, handlers: OutboundHandlers, ended: () => void, isSaturated = () => false): UpstreamCall {
    const timeouts = fill(defaults, request.timeouts);
    const call: UpstreamCall = new UpstreamCall({
      handlers,
      timeouts,
      maxHeaderBytes: Math.min(request.maxHeaderBytes ?? maxHeaderBytes, maxHeaderBytes),
      now,
      packed: request.packed === true,
      isSaturated,
      released() {
        sweeper.remove(call);
        ended();
      },
      defect: (error) => logger.error({ error }, 'outbound handler failed'),
    });
    sweeper.add(call, Math.min(timeouts.connect_ms, timeouts.first_byte_ms, timeouts.idle_ms, timeouts.total_ms));
    return call;
  }

  return {
    send(request, handlers) {
      const url = readAddress(request.url);
      if (closed || url === undefined) {
        const call = begin(request, handlers, () => {});
        call.refuse(
          closed
            ? createFault('aborted', 'connect', new Error('outbound is closed'))
            : createFault('protocol', 'connect', new Error('not an http(s) URL'), 'The address of the upstream is not valid.'),
        );
        return call;
      }
      const origin = pools.get(url.origin, request.egress);
      const headers = outgoingHeaders(request.headers, userAgent, (name) => logger.warn({ header: name, origin: url.origin }, 'header cannot be sent'));
      const { accessKey } = request;
      if (accessKey !== undefined && !origin.shares.take(accessKey)) {
        reportSaturated(url.origin, accessKey, 'an access key holds its whole share of the connections to an upstream');
        const call = begin(request, handlers, () => {});
        call.refuse(createFault('busy', 'connect', new Error(`the access key ${accessKey} holds its share of ${maxConnections} connections`)));
        return call;
      }
      origin.active++;
      const isSaturated = () => {
        if (origin.active <= maxConnections) return false;
        reportSaturated(url.origin, undefined, 'all connections to an upstream are in use');
        return true;
      };
      const call = begin(
        request,
        handlers,
        () => {
          origin.active--;
          if (accessKey !== undefined) origin.shares.giveBack(accessKey);
        },
        isSaturated,
      );
      origin.transport.dispatch(
        { path: request.path ?? url.path, method: request.method, headers, body: bodyOf(request.body, headers) },
        call,
        request.timeouts?.connect_ms ?? defaults.connect_ms,
      );
      call.dispatched();
      return call;
    },
    openWebSocket: (request, handlers) => webSockets.open(request, handlers),
    openSocket: (target, opened) => void (closed ? opened(ended(), null) : openSocket(target, policy, guardedLookup(policy, way.resolve), opened)),
    async close(graceMs = 5000) {
      closed = true;
      const late = setTimeout(() => {
        sweeper.forEach((call) => call.abort(new Error('outbound closes')));
      }, graceMs);
      await pools.close();
      clearTimeout(late);
    },
    policy,
    stats: () => ({ pools: pools.size, active: sweeper.size }),
  };
}

/** A body in pieces is sent with the total length of all of them. */
function bodyOf(body: OutboundRequest['body'], headers: string[]): Uint8Array | readonly Uint8Array[] | null {
  if (body === undefined || body instanceof Uint8Array) return body ?? null;
  headers.push('content-length', String(body.reduce((sum, piece) => sum + piece.length, 0)));
  return body;
}
