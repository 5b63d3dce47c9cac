/** One realtime session: the caller's WebSocket on this side, a stream to a translator on the other. Frames pass as they are. */
import { type StreamCall, type StreamHandlers, WholeMessages } from '@model-gateway/bus';
import { frameFlag, type RealtimeControl, type RealtimeTail, type SocketClose } from '@model-gateway/contracts';
import { type ErrorCode, errorCodes, GatewayError } from '@model-gateway/contracts/errors';
import type { WebSocket } from 'ws';
import { BudgetWatch } from '../admission/budget-watch.ts';
import type { PresentCaller } from '../admission/present-caller.ts';
import type { EdgeContext } from '../context.ts';
import type { OpenSocket } from '../open-connections.ts';
import { ArrivingBytes } from '../socket/arriving-bytes.ts';
import type { FirstFrames } from './first-frames.ts';
import type { SessionEntry } from './session-entry.ts';

/** Base64 of sound makes long frames; no vendor takes longer ones. */
export const maxFrameBytes = 16 * 1024 * 1024;

const maxPingMs = 15_000;
/** A peer that answers no ping for this many of them is gone. */
const missedPings = 2;
/** After the close frame a peer has this long to read it. */
const closeDelayMs = 1000;
/** What was sent before a proper close may take this long to be read by the other side; the library allows a peer as much. */
const lastFramesMs = 30_000;
/** A response under way may end, but not go on for longer than this, when the session has to end. */
const lastResponseMs = 4000;

/** Codes that may not be sent: an ordinary one says it to the peer. */
const localCodes: ReadonlySet<number> = new Set([1004, 1006, 1015]);
const maxReasonBytes = 123;

/** What ends with the session. */
export interface SessionHold {
  readonly entry: SessionEntry;
  readonly presentCaller: PresentCaller;
  released(): void;
  /** Present where a frame of the caller's names the model: until then no translator has the session. */
  readonly first?: FirstFrames;
}

export class SessionSocket implements OpenSocket, StreamHandlers<'translator.realtime'> {
  index = -1;
  readonly #hold: SessionHold;
  readonly #context: EdgeContext;
  readonly #messages = new WholeMessages(maxFrameBytes);
  #call: StreamCall | undefined;
  #socket: WebSocket | undefined;
  #waiting: { bytes: Buffer; flags: number; consumed: number }[] = [];
  /** How it ended before the handshake was answered. */
  #end: SocketClose | undefined;
  #failure: GatewayError | undefined;
  #streamOver = false;
  #released = false;
  #leaving = false;
  /** The upstream has said something. */
  #begun = false;
  #unanswered = 0;
  #activeAt = performance.now();
  readonly #budget: BudgetWatch;
  #timers: NodeJS.Timeout[] = [];
  readonly #opened: { resolve(): void; reject(error: unknown): void };
  /** An upstream has taken the session. Rejects with what the caller is refused with. */
  readonly opened: Promise<void>;

  constructor(hold: SessionHold, context: EdgeContext) {
    this.#hold = hold;
    this.#context = context;
    this.#budget = new BudgetWatch(context);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.opened = promise;
    this.#opened = { resolve, reject };
    // Nobody may be waiting when the caller leaves.
    promise.catch(() => {});
  }

  /** Why there is no session after all, though an upstream had taken it: the refusal can still go out over HTTP. */
  get failure(): GatewayError | undefined {
    return this.#failure;
  }

  /** Nobody is there any more for whom a stream would be opened. */
  get isOver(): boolean {
    return this.#streamOver || this.#released;
  }

  /** The stream that carries the session. */
  use(call: StreamCall): void {
    this.#call = call;
    call.onSendable(() => this.#socket?.resume());
    for (const { data, isBinary } of this.#hold.first?.take() ?? []) this.#up(data, isBinary);
  }

  /** The caller's handshake was accepted. */
  attach(socket: WebSocket): void {
    this.#socket = socket;
    const { config, connections, admission } = this.#context;
    connections.sockets.add(this);
    this.#activeAt = performance.now();
    const arriving = new ArrivingBytes(admission.bodyBudget);
    this.#hold.entry.request.socket.prependListener('data', (chunk: Buffer) => {
      if (!arriving.take(chunk.length)) this.#closeSocket({ code: 1013, reason: 'The gateway holds too many request bodies.' });
    });
    socket.on('message', (data: Buffer, isBinary: boolean) => {
      arriving.release();
      this.#up(data, isBinary);
    });
    socket.on('pong', (data) => {
      arriving.releaseControl(data.length);
      this.#unanswered = 0;
    });
    socket.on('ping', (data) => arriving.releaseControl(data.length));
    // What the library finds wrong it answers with a close frame, which must still go out.
    socket.on('error', () => this.#terminateSoon());
    socket.on('close', (code, reason) => {
      arriving.close();
      this.#closed(code, reason.toString('utf8'));
    });
    const pingMs = Math.min(maxPingMs, config.realtimeIdleMs / 2);
    this.#timers.push(
      setInterval(() => this.#look(), pingMs).unref(),
      setTimeout(() => this.#leave({ code: 1000, reason: 'The session has reached its age.' }, lastResponseMs), config.realtimeLifetimeMs).unref(),
    );
    for (const { bytes, flags, consumed } of this.#waiting.splice(0)) this.#down(bytes, flags, consumed);
    if (this.#end) this.#closeSocket(this.#end);
    else if (connections.draining) this.drain();
  }

  /** The caller left before its handshake was answered. */
  abandon(): void {
    this.#streamOver = true;
    this.#call?.cancel('client gone');
    this.#release();
    this.#opened.reject(new GatewayError('client_gone'));
  }

  head(): void {
    this.#opened.resolve();
  }

  data(bytes: Uint8Array, flags: number): void {
    const message = this.#messages.push(bytes, flags);
    if (message === null) return this.#call?.consumed(bytes.length);
    if (message === 'too-long') return this.#giveUp({ code: 1009, reason: 'The message is too long.' });
    if (this.#socket) return this.#down(message, flags, bytes.length);
    this.#waiting.push({ bytes: message, flags, consumed: bytes.length });
  }

  tail({ close }: RealtimeTail): void {
    this.#streamOver = true;
    const said = close.code === 1006 && close.reason === '' ? { code: 1011, reason: 'The upstream connection was lost.' } : close;
    this.#end = said;
    // A session that ended at once has still begun.
    this.#opened.resolve();
    if (this.#socket) this.#closeSocket(said, !this.#leaving);
  }

  broken(error: GatewayError): void {
    this.#streamOver = true;
    const socket = this.#socket;
    if (!socket) {
      this.#failure = error;
      this.#release();
      return this.#opened.reject(error);
    }
    const { entry } = this.#hold;
    if (error.code === 'service_lost' || error.code === 'service_unavailable') entry.publish(101, error);
    else entry.endTrace(101, error.code);
    const text = entry.adapter?.writeError(error, `event_${entry.id}`);
    if (typeof text === 'string' && socket.readyState === socket.OPEN) socket.send(text);
    // What would have been refused before the handshake, had the caller said there what it wants.
    const isRefused = this.#hold.first !== undefined && !this.#begun && error.status < 500;
    this.#closeSocket({ code: isRefused ? 1008 : 1011, reason: error.message });
  }

  drain(): void {
    // Closed already: who has not read its end by now does not hold up the process.
    if (this.#streamOver) return this.#terminateSoon();
    this.#leave({ code: 1001, reason: 'The gateway is shutting down.' }, Math.min(lastResponseMs, this.#context.config.drainMs / 2));
  }

  terminate(): void {
    this.#socket?.terminate();
  }

  checkAccess(): void {
    if (this.#leaving) return;
    const caller = this.#hold.presentCaller();
    if (!caller) return this.#leave({ code: 1008, reason: 'The access key may not be used for this model any more.' }, lastResponseMs, 'model_not_granted');
    this.#budget.check(caller, () => this.#leave({ code: 1008, reason: errorCodes.budget_exhausted.message }, lastResponseMs, 'budget_exhausted'));
  }

  #up(data: Buffer, isBinary: boolean): void {
    this.#unanswered = 0;
    this.#activeAt = performance.now();
    if (this.#streamOver) return;
    if (!this.#call && this.#hold.first) {
      if (!this.#hold.first.hold(data, isBinary)) this.#giveUp({ code: 1013, reason: 'Too much was sent before the session began.' });
      return;
    }
    if (this.#call?.send(data, isBinary ? frameFlag.messageEnd : frameFlag.messageEnd | frameFlag.text) === false) this.#socket?.pause();
  }

  #down(bytes: Buffer, flags: number, consumed: number): void {
    const socket = this.#socket;
    if (socket?.readyState !== socket?.OPEN) return;
    this.#begun = true;
    this.#activeAt = performance.now();
    socket?.send(bytes, { binary: (flags & frameFlag.text) === 0 }, () => this.#call?.consumed(consumed));
  }

  /** Pings, and the limit of silence. */
  #look(): void {
    const socket = this.#socket;
    if (!socket || socket.readyState !== socket.OPEN) return;
    if (performance.now() - this.#activeAt >= this.#context.config.realtimeIdleMs)
      return this.#leave({ code: 1000, reason: 'The session was idle for too long.' }, 0);
    // Pongs of a caller who is not read from, since the upstream does not read, cannot arrive.
    if (socket.isPaused) this.#unanswered = 0;
    else if (this.#unanswered++ >= missedPings) return socket.terminate();
    socket.ping();
  }

  /** Ends the session once no response is running, in `withinMs` at the latest: the translator knows, and answers with the tail. */
  #leave(close: SocketClose, withinMs: number, errorCode?: ErrorCode): void {
    if (this.#leaving || this.#streamOver) return;
    if (!this.#call) return this.#giveUp(close);
    this.#leaving = true;
    this.#control({ close, withinMs, ...(errorCode && { errorCode }) });
    this.#timers.push(setTimeout(() => this.#giveUp(close), withinMs + closeDelayMs).unref());
  }

  /** Closes without waiting for the translator. */
  #giveUp(close: SocketClose): void {
    if (!this.#streamOver) this.#call?.cancel('client gone');
    this.#streamOver = true;
    this.#end = close;
    this.#opened.resolve();
    this.#closeSocket(close);
  }

  #control(control: RealtimeControl): void {
    this.#call?.send(Buffer.from(JSON.stringify(control)), frameFlag.messageEnd | frameFlag.control);
  }

  /** `patient`: the peer may read what was sent before, however slowly. */
  #closeSocket({ code, reason }: SocketClose, patient = false): void {
    const socket = this.#socket;
    if (!socket || socket.readyState !== socket.OPEN) return;
    // Its answer to the close frame has to be read.
    socket.resume();
    if (code === 1005) socket.close();
    else socket.close(localCodes.has(code) ? 1011 : code, cutReason(reason));
    if (!patient) this.#terminateSoon();
  }

  #terminateSoon(): void {
    setTimeout(() => this.#socket?.terminate(), closeDelayMs).unref();
  }

  #closed(code: number, reason: string): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#context.connections.sockets.remove(this);
    this.#release();
    this.#hold.first?.fail(new GatewayError('client_gone'));
    if (this.#streamOver) return;
    // A caller that broke off has said nothing that could be handed on.
    if (code === 1006) {
      this.#streamOver = true;
      this.#call?.cancel('client gone');
      return;
    }
    this.#control({ close: { code, reason } });
    this.#call?.endSend();
    setTimeout(() => this.#call?.cancel('client gone'), lastFramesMs).unref();
  }

  #release(): void {
    if (this.#released) return;
    this.#released = true;
    this.#hold.released();
  }
}

/** As much of it as a close frame holds. */
function cutReason(reason: string): string {
  const bytes = Buffer.from(reason, 'utf8');
  if (bytes.length <= maxReasonBytes) return reason;
  let end = maxReasonBytes;
  // Not inside a character.
  while ((bytes[end]! & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end);
}
