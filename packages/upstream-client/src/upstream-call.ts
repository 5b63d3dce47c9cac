/** One call: undici's callbacks in, ours out, with the limits of each phase and exactly one ending. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import { EventLoopBatcher } from '@model-gateway/collections';
import type { Timeouts } from '@model-gateway/contracts';
import type { Dispatcher } from 'undici';
import type { Dialing } from './dialer.ts';
import { createFault, type FaultPhase, faultOf, type OutboundFault } from './fault.ts';
import { incomingHeaders } from './headers.ts';
import { createInflater, type Inflater, readEncoding } from './inflate.ts';
import type { OutboundCall, OutboundHandlers } from './outbound-call.ts';
import { expectSocket, type SocketReceiver } from './request-socket.ts';
import type { Sweepable } from './sweeper.ts';

export interface CallOptions {
  handlers: OutboundHandlers;
  timeouts: Required<Timeouts>;
  maxHeaderBytes: number;
  now(): number;
  /** What is packed stays so, with its headers, where the status is one of success. */
  packed?: boolean;
  /** Asked when no connection came in time: whether all of the origin's are in use. */
  isSaturated(): boolean;
  /** Called once, when the call has ended in whatever way. */
  released(): void;
  /** A handler threw, which is a defect of the caller. Called at most once. */
  defect(error: unknown): void;
}

/** Replies that arrived in this turn of the event loop. */
const replies = new EventLoopBatcher(setImmediate);

/** Of one call: more is handed on at once, so that back-pressure stops the socket as early as ever, in the middle of a turn. */
const maxHeld = 16 * 1024;

const limitOf = { connect: 'connect_ms', 'first-byte': 'first_byte_ms', idle: 'idle_ms' } as const;

export class UpstreamCall implements OutboundCall, Dispatcher.DispatchHandler, Sweepable, Dialing, SocketReceiver {
  index = -1;
  readonly #options: CallOptions;
  readonly #startedAt: number;
  /** Start of the phase, or the last bytes. */
  #since: number;
  /** Bytes have come since the sweeper looked last: a clock reading for each chunk would say no more. */
  #received = false;
  #phase: keyof typeof limitOf = 'connect';
  #controller: Dispatcher.DispatchController | undefined;
  /** While it is opened; then the one that the request went out on. */
  #socket: Socket | undefined;
  /** The reply began before the request was out: whatever stands behind may take the rest of it for another request. */
  #early = false;
  #inflater: Inflater | undefined;
  #paused = false;
  /** What came in this turn and was not handed on yet. */
  #arrived: Buffer[] = [];
  #arrivedBytes = 0;
  /** The reply is complete, though not yet handed on. */
  #complete = false;
  #enlisted = false;
  #ended = false;
  /** While `dispatch` runs no handler may be called: the caller has no call to hold yet. */
  #dispatching = true;

  constructor(options: CallOptions) {
    this.#options = options;
    this.#startedAt = this.#since = options.now();
  }

  dispatched(): void {
    this.#dispatching = false;
  }

  get ended(): boolean {
    return this.#ended;
  }

  pause(): void {
    // The connection of a complete reply may be another call's by now.
    if (this.#ended || this.#complete || this.#paused) return;
    this.#paused = true;
    this.#controller?.pause();
    this.#inflater?.pause();
  }

  resume(): void {
    if (this.#ended || this.#complete || !this.#paused) return;
    this.#paused = false;
    this.#since = this.#options.now();
    this.#inflater?.resume();
    this.#controller?.resume();
  }

  abort(reason: unknown): void {
    this.#arrived.length = 0;
    this.#fail(createFault('aborted', this.#faultPhase(), reason));
  }

  /** Ends the call without undici having said anything. */
  refuse(fault: OutboundFault): void {
    queueMicrotask(() => this.#fail(fault));
  }

  dialing(socket: Socket): void {
    // A proxy may be asked for one more address after the call was given up.
    if (this.#ended) socket.destroy();
    else this.#socket = socket;
  }

  socketAssigned(socket: Socket): void {
    this.#socket = socket;
  }

  sweep(now: number): void {
    if (this.#ended || this.#complete) return;
    const { timeouts } = this.#options;
    if (now - this.#startedAt > timeouts.total_ms) {
      this.#expire('total', timeouts.total_ms);
      return;
    }
    // While we hold the call back, the silence is ours.
    if (this.#phase === 'idle' && this.#paused) return;
    if (this.#received) {
      this.#received = false;
      this.#since = now;
      return;
    }
    const limit = timeouts[limitOf[this.#phase]];
    if (now - this.#since <= limit) return;
    // Neither dialled nor written to an existing connection: it waited for a free one.
    const waited = this.#phase === 'connect' && this.#socket === undefined && this.#options.isSaturated();
    if (waited) this.#fail(createFault('busy', 'connect', new Error(`no free connection in ${limit} ms`)));
    else this.#expire(this.#phase, limit);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Called anew for a request that an HTTP/2 server gave back unread.
    this.#socket = undefined;
    this.#controller = controller;
    if (this.#ended) {
      controller.abort(new Error('given up before it was sent'));
      return;
    }
    if (this.#paused) controller.pause();
    expectSocket(this);
    this.#phase = 'first-byte';
    this.#since = this.#options.now();
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, raw: IncomingHttpHeaders): void {
    // Views into the socket's first chunk, 64 KiB that would live as long as the reply.
    controller.rawHeaders = null;
    if (this.#ended || status < 200) return;
    if (this.#socket !== undefined && this.#socket.writableLength > 0) this.#early = true;
    this.#phase = 'idle';
    this.#since = this.#options.now();
    const { headers, bytes } = incomingHeaders(raw);
    const encoding = this.#options.packed && status < 300 ? null : readEncoding(headers['content-encoding']);
    if (bytes > this.#options.maxHeaderBytes || encoding === 'unreadable') {
      const why = encoding === 'unreadable' ? 'an unknown or layered content-encoding' : `a head of ${bytes} bytes`;
      this.#fail(createFault('protocol', 'first-byte', new Error(`reply with ${why}`)));
      return;
    }
    if (encoding !== null) {
      this.#inflater = this.#createInflater(encoding);
      delete headers['content-encoding'];
      delete headers['content-length'];
    }
    this.#deliver(() => this.#options.handlers.head(status, headers));
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#ended) return;
    this.#received = true;
    if (this.#inflater === undefined) this.#data(chunk);
    else if (!this.#inflater.write(chunk)) controller.pause();
  }

  onResponseEnd(): void {
    if (this.#early) this.#socket?.destroy();
    if (this.#ended) return;
    if (this.#inflater === undefined) this.#end();
    else this.#inflater.end();
  }

  /** `shared`: another call on the same connection has reported its end. */
  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error, shared = false): void {
    if (this.#ended) return;
    const fault = faultOf(error, this.#faultPhase());
    if (shared) fault.shared = true;
    if (this.#dispatching) this.refuse(fault);
    else this.#fail(fault);
  }

  #createInflater(encoding: Parameters<typeof createInflater>[0]): Inflater {
    return createInflater(encoding, {
      data: (chunk) => this.#data(chunk),
      end: () => this.#end(),
      error: (error) => this.#fail(createFault('protocol', 'body', error)),
      drained: () => {
        if (!this.#paused) this.#controller?.resume();
      },
    });
  }

  #faultPhase(): FaultPhase {
    return this.#phase === 'idle' ? 'body' : this.#phase;
  }

  #expire(phase: FaultPhase, limit: number): void {
    this.#fail(createFault('timeout', phase, new Error(`${phase} limit of ${limit} ms`)));
  }

  #data(chunk: Buffer): void {
    if (this.#ended) return;
    this.#arrived.push(chunk);
    this.#arrivedBytes += chunk.length;
    if (this.#arrivedBytes > maxHeld) this.#handOnArrived();
    else this.#enlist();
  }

  #end(): void {
    if (this.#ended) return;
    this.#complete = true;
    this.#enlist();
  }

  #enlist(): void {
    if (this.#enlisted) return;
    this.#enlisted = true;
    replies.add(this.#handOn);
  }

  readonly #handOn = (): void => {
    this.#enlisted = false;
    this.#handOnArrived();
    if (!this.#complete || this.#ended) return;
    this.#ended = true;
    this.#options.released();
    this.#deliver(() => this.#options.handlers.end());
  };

  #handOnArrived(): void {
    const arrived = this.#arrived;
    if (arrived.length === 0) return;
    this.#arrived = [];
    this.#arrivedBytes = 0;
    for (const chunk of arrived) {
      if (this.#ended) return;
      // Written out rather than through `#deliver`: this is the hot path and makes no closure.
      try {
        this.#options.handlers.data(chunk);
      } catch (error) {
        this.#defect(error);
      }
    }
  }

  /** Destroys the connection rather than reusing it: an unread rest would be the next reply's beginning. */
  #fail(fault: OutboundFault): void {
    this.#handOnArrived();
    if (this.#ended) return;
    this.#ended = true;
    this.#options.released();
    this.#inflater?.destroy();
    // The connection of a complete reply may be another call's by now.
    if (!this.#complete) this.#disconnect(new Error('call ended', { cause: fault.cause }));
    this.#deliver(() => this.#options.handlers.error(fault));
  }

  #disconnect(reason: Error): void {
    if (this.#controller !== undefined) this.#controller.abort(reason);
    else this.#socket?.destroy(reason);
  }

  /** A handler that throws must not unwind into who called. */
  #deliver(handler: () => void): void {
    try {
      handler();
    } catch (error) {
      this.#defect(error);
    }
  }

  #defect(error: unknown): void {
    this.#options.defect(error);
    this.abort(error);
  }
}
