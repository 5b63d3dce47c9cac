/** Callers' connections: how many there may be, how many of one address, and which of them send a body too slowly. */
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { addressKey } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import type { Logger, Metrics } from '@model-gateway/telemetry';

/** How often bodies are looked at. Two looks in a row make the ten seconds of the rule. */
export const lookMs = 5000;
const slowLooks = 2;
/** After its answer a slow caller may take this long to read it. */
const closeDelayMs = 1000;
const quietMs = 60_000;
/** Silence after which the system asks a caller's machine whether it is still there. It gives the connection up some ten seconds later. */
const probeAfterMs = 60_000;

/** Caps on callers' connections. */
export interface ConnectionLimits {
  /** Open at once; more are closed. */
  max: number;
  /** Of one address, or one /64. */
  maxPerAddress: number;
  /** 0: any pace. */
  minBodyBytesPerSecond: number;
  /** Who brings connections of many callers. */
  isProxy(address: string): boolean;
}

interface Connection {
  /** Of whom; null: nobody is counted. */
  readonly address: string | null;
  /** No request came yet. */
  silent: boolean;
  /** Whose body may still be under way. */
  request: IncomingMessage | null;
  /** Bytes of the connection at the last look at this request; -1: it was not looked at yet. */
  seen: number;
  /** Looks in a row that found it too slow. */
  slow: number;
}

export class Connections {
  readonly #open = new Map<Socket, Connection>();
  readonly #byAddress = new Map<string, number>();
  readonly #limits: ConnectionLimits;
  readonly #logger: Logger;
  readonly #refused: { total: Count; address: Count };
  #reportedAt = Number.NEGATIVE_INFINITY;
  #ended: (() => void) | null = null;

  constructor(limits: ConnectionLimits, logger: Logger, metrics: Metrics) {
    this.#limits = limits;
    this.#logger = logger;
    const refused = metrics.counter('gateway_connections_refused_total', 'Connections closed at once, by the limit that they were above.');
    this.#refused = { total: refused.of({ limit: 'total' }), address: refused.of({ limit: 'address' }) };
    metrics.gauge('gateway_connections', "Callers' connections.", () => this.#open.size);
  }

  /** Watches a server that does not listen yet. */
  watch(server: Server): void {
    server.maxConnections = this.#limits.max;
    server.on('drop', () => this.#refuse('total'));
    server.on('connection', (socket: Socket) => this.#enter(socket));
    const onRequest = (request: IncomingMessage) => this.#onRequest(request);
    server.on('request', onRequest);
    server.on('upgrade', onRequest);
    if (this.#limits.minBodyBytesPerSecond === 0) return;
    const timer = setInterval(() => this.look(lookMs), lookMs).unref();
    server.on('close', () => clearInterval(timer));
  }

  /** Closes connections on which no request came yet: Node counts these as busy, so they would hold a drain to its end. */
  closeSilent(): void {
    for (const [socket, { silent }] of this.#open) if (silent) socket.destroy();
  }

  /** Answers whose request is not here in full with this error, and closes these connections soon after. */
  dismissUnfinished(error: GatewayError): void {
    for (const [socket, { request }] of this.#open) if (request !== null && !request.complete) dismiss(socket, request, error);
  }

  /** Resolves when the last one is closed. For the drain, once. */
  ended(): Promise<void> {
    return this.#open.size === 0 ? Promise.resolve() : new Promise((resolve) => (this.#ended = resolve));
  }

  /** Looks at all bodies under way, `elapsedMs` after the last look. */
  look(elapsedMs: number): void {
    const min = (this.#limits.minBodyBytesPerSecond * elapsedMs) / 1000;
    for (const [socket, connection] of this.#open) {
      const { request, seen } = connection;
      if (request === null) continue;
      if (request.complete) {
        connection.request = null;
        continue;
      }
      connection.seen = socket.bytesRead;
      // Whose body nobody reads right now is not slow: we are.
      const isSlow = seen >= 0 && request.readableFlowing === true && socket.bytesRead - seen < min;
      connection.slow = isSlow ? connection.slow + 1 : 0;
      if (connection.slow >= slowLooks) dismiss(socket, request, new GatewayError('request_timeout', { message: 'The request body arrived too slowly.' }));
    }
  }

  #enter(socket: Socket): void {
    const address = this.#counted(socket.remoteAddress);
    if (address !== null) {
      const count = (this.#byAddress.get(address) ?? 0) + 1;
      if (count > this.#limits.maxPerAddress) {
        socket.destroy();
        return this.#refuse('address');
      }
      this.#byAddress.set(address, count);
    }
    // A caller whose machine or network is gone closes nothing: while a reply is awaited, nothing else would notice.
    socket.setKeepAlive(true, probeAfterMs);
    this.#open.set(socket, { address, silent: true, request: null, seen: -1, slow: 0 });
    socket.once('close', () => this.#leave(socket));
  }

  #onRequest(request: IncomingMessage): void {
    const connection = this.#open.get(request.socket);
    if (!connection) return;
    connection.silent = false;
    connection.request = request;
    connection.seen = -1;
    connection.slow = 0;
  }

  #counted(remoteAddress: string | undefined): string | null {
    // Without an address the caller has left already.
    return remoteAddress === undefined || this.#limits.isProxy(remoteAddress) ? null : addressKey(remoteAddress);
  }

  #leave(socket: Socket): void {
    const address = this.#open.get(socket)?.address;
    this.#open.delete(socket);
    if (this.#open.size === 0) this.#ended?.();
    if (address == null) return;
    const left = (this.#byAddress.get(address) ?? 1) - 1;
    if (left === 0) this.#byAddress.delete(address);
    else this.#byAddress.set(address, left);
  }

  /** One line a minute: a flood of connections must not become one of lines. */
  #refuse(limit: 'total' | 'address'): void {
    this.#refused[limit].add(1);
    const now = performance.now();
    if (now - this.#reportedAt < quietMs) return;
    this.#reportedAt = now;
    this.#logger.warn({ limit, open: this.#open.size, max: this.#limits.max, maxPerAddress: this.#limits.maxPerAddress }, 'a connection was refused');
  }
}

interface Count {
  add(amount: number): void;
}

/** The reader of the body gets an error and can still answer; then the connection is closed. */
function dismiss(socket: Socket, request: IncomingMessage, error: GatewayError): void {
  if (request.listenerCount('error') === 0) return void socket.destroy();
  request.emit('error', error);
  setTimeout(() => socket.destroy(), closeDelayMs).unref();
}
