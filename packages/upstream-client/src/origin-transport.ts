/** How calls reach one origin: over HTTP/2 where it is offered and taken, else over undici's pool of HTTP/1.1 connections. */
import type { Socket } from 'node:net';
import { type buildConnector, Pool } from 'undici';
import { createDialer, type DialerOptions, type Dialing } from './dialer.ts';
import { createFault } from './fault.ts';
import { Http2Connections, type Waiting } from './http2-connections.ts';
import type { SentRequest } from './http2-stream.ts';
import type { UpstreamCall } from './upstream-call.ts';

/** Idle sockets are closed before common servers do it (a shorter `Keep-Alive` hint of the server wins). */
const keepAliveMs = 30_000;
/** Above every sensible reply head; calls may ask for less. */
export const maxHeaderBytes = 64 * 1024;

export interface TransportOptions extends Omit<DialerOptions, 'current'> {
  maxConnections: number;
}

export class OriginTransport {
  readonly #pool: Pool;
  /** undefined: not offered, or not taken. */
  #http2: Http2Connections | undefined;
  /** The call that undici dials for right now; set only while it dispatches. */
  #current: Dialing | undefined;
  /** The open connection by which an origin without HTTP/2 was found out: the pool takes it first. */
  #spare: Socket | undefined;
  #closing = false;

  constructor(origin: string, { maxConnections, ...options }: TransportOptions) {
    const dial = createDialer({ ...options, http2: false, current: () => this.#current });
    const connect: buildConnector.connector = (target, callback) => {
      const spare = this.#spare;
      if (spare === undefined) return dial(target, callback);
      this.#spare = undefined;
      spare.off('error', ignore).off('close', this.#dropSpare);
      // undici does not expect it in the same turn.
      queueMicrotask(() => callback(null, spare.ref() as never));
    };
    this.#pool = new Pool(origin, {
      connections: maxConnections,
      pipelining: 1,
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: 10 * keepAliveMs,
      // Every time-out is the sweeper's: undici's would fire while we hold the call back.
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: maxHeaderBytes,
      // It takes a reply that was reset for a whole one, and holds calls back on a connection that the server gave up (undici 8.12).
      allowH2: false,
      connect,
    });
    if (options.http2 && origin.startsWith('https:')) this.#http2 = this.#offerHttp2(origin, maxConnections, options);
  }

  get closed(): boolean {
    return this.#closing;
  }

  /** `connectMs`: how long the call waits for a connection. */
  dispatch(request: SentRequest, call: UpstreamCall, connectMs: number): void {
    if (this.#http2) return this.#http2.dispatch({ request, call, connectMs });
    this.#current = call;
    try {
      // undici takes every iterable of bytes as a body, which its types do not say.
      this.#pool.dispatch({ ...request, method: request.method as 'POST', body: request.body as Uint8Array | null }, call);
    } catch (error) {
      call.refuse(createFault('protocol', 'connect', error, 'The request could not be sent.'));
    } finally {
      this.#current = undefined;
    }
  }

  /** Ends idle connections at once and the others when their calls have ended. */
  async close(): Promise<void> {
    this.#closing = true;
    await this.#http2?.close();
    this.#spare?.destroy();
    await this.#pool.close();
  }

  #offerHttp2(origin: string, maxConnections: number, options: Omit<TransportOptions, 'maxConnections'>): Http2Connections {
    let onSocket: ((socket: Socket) => void) | undefined;
    const dial = createDialer({ ...options, http2: true, current: () => onSocket && { dialing: onSocket } });
    const { protocol, hostname, host, port } = new URL(origin);
    // As undici names its targets: addresses of IPv6 without brackets.
    const target = { protocol, host, hostname: hostname.replace(/^\[(.*)\]$/, '$1'), port };
    return new Http2Connections({
      origin,
      maxConnections,
      idleMs: keepAliveMs,
      dial(dialing, opened) {
        onSocket = dialing;
        dial(target, opened);
        onSocket = undefined;
      },
      declined: (socket, waiting) => this.#decline(socket, waiting),
    });
  }

  #decline(socket: Socket, waiting: readonly Waiting[]): void {
    this.#http2 = undefined;
    if (this.#closing) return void socket.on('error', ignore).destroy();
    this.#spare = socket.on('error', ignore).once('close', this.#dropSpare).unref();
    for (const { request, call, connectMs } of waiting) if (!call.ended) this.dispatch(request, call, connectMs);
  }

  /** Nobody took it before the upstream closed it, as it does with idle connections. */
  readonly #dropSpare = (): void => {
    this.#spare = undefined;
  };
}

const ignore = (): void => {};
