/** The two ends of a stream inside one process: they call each other directly, under the same credit as over NATS. */
import { frameFlag, type OpenSubjects, openShapes } from '@model-gateway/contracts';
import { GatewayError, toGatewayError } from '@model-gateway/contracts/errors';
import type { OpenSubject, ServerStream, StreamCall, StreamHandlers } from '../bus.ts';
import { bytesOf } from '../kit/bytes-of.ts';
import { CreditedQueue } from '../kit/credited-queue.ts';
import type { Deadline } from '../kit/deadlines.ts';
import { replyWindow, requestWindow } from '../kit/limits.ts';
import type { BusLogger } from '../kit/logger.ts';
import { reportBroken } from '../kit/report-broken.ts';
import { strictBytes, strictMessage } from './strict.ts';

/** What a stream needs of its bus. */
export interface MemoryStreamHost {
  readonly strict: boolean;
  readonly logger: BusLogger;
  /** The opener's end is done. */
  callEnded(call: Deadline): void;
  /** The callee's end is done. */
  servedEnded(): void;
  /** Frames dropped by a fence. */
  droppedBefore(frames: number): void;
}

let streams = 0;

/** The opener's end. */
export class MemoryCall<S extends OpenSubject> implements StreamCall, Deadline {
  readonly number = ++streams;
  index = -1;
  endsAt = Number.POSITIVE_INFINITY;
  private handlers: StreamHandlers<S> | null;
  private readonly host: MemoryStreamHost;
  /** Set once a server was found. */
  served: MemoryServed<S> | null = null;
  private acknowledged = false;

  constructor(host: MemoryStreamHost, handlers: StreamHandlers<S>) {
    this.host = host;
    this.handlers = handlers;
  }

  get id(): string {
    return this.number.toString(36);
  }

  get live(): boolean {
    return this.handlers !== null;
  }

  /** The opener's deadline has passed. */
  expire(): void {
    this.served?.cancelled('deadline');
    this.receiveBroken(new GatewayError('timeout'));
  }

  send(bytes: Uint8Array, flags = frameFlag.messageEnd as number): boolean {
    if (!this.handlers || !this.served) return false;
    return this.served.up.push(this.host.strict ? strictBytes(bytes) : bytes, flags, 0);
  }

  onSendable(callback: () => void): void {
    this.served?.up.onReady(() => this.run(callback));
  }

  endSend(): void {
    const served = this.served;
    if (this.handlers && served) served.up.end(() => served.receiveDataEnd());
  }

  consumed(bytes: number): void {
    if (this.handlers) this.served?.down.grant(bytes);
  }

  cancel(reason: string): void {
    if (!this.handlers) return;
    this.end();
    this.served?.cancelled(reason);
  }

  acknowledge(): void {
    if (this.handlers || this.acknowledged) return;
    this.acknowledged = true;
    this.served?.settle('acknowledged');
  }

  receiveHead(head: OpenSubjects[S]['head']): void {
    if (this.handlers) this.run(() => this.handlers?.head(head));
  }

  receiveData(bytes: Uint8Array | string, flags: number): void {
    const handlers = this.handlers;
    if (!handlers) return;
    // Written out rather than through `run`: this is the hot path and makes no closure.
    try {
      if (typeof bytes === 'string' && handlers.text !== undefined) handlers.text(bytes, flags);
      else handlers.data(bytesOf(bytes), flags);
    } catch (error) {
      this.defect(error);
    }
  }

  receiveTail(tail: OpenSubjects[S]['tail']): void {
    const handlers = this.end();
    if (handlers) this.run(() => handlers.tail(tail), handlers);
  }

  receiveWhole(head: OpenSubjects[S]['head'], bytes: Uint8Array, tail: OpenSubjects[S]['tail']): void {
    if (!this.handlers?.whole) {
      this.receiveHead(head);
      if (bytes.length > 0) this.receiveData(bytes, frameFlag.messageEnd);
      return this.receiveTail(tail);
    }
    const handlers = this.end();
    try {
      handlers?.whole?.(head, bytes, tail);
    } catch (error) {
      this.defect(error, handlers);
    }
  }

  receiveBroken(error: GatewayError): void {
    const handlers = this.end();
    if (handlers) reportBroken(handlers, error, this.host.logger);
  }

  private end(): StreamHandlers<S> | null {
    const handlers = this.handlers;
    if (!handlers) return null;
    this.handlers = null;
    this.host.callEnded(this);
    return handlers;
  }

  /** `handlers`: those of a stream that has ended with this very call. */
  private run(callback: () => void, handlers?: StreamHandlers<S>): void {
    try {
      callback();
    } catch (error) {
      this.defect(error, handlers ?? this.handlers);
    }
  }

  /** A handler that throws is a defect of the opener: its stream ends, the callee is not harmed, and its `broken` is called. */
  private defect(error: unknown, handlers = this.handlers): void {
    this.host.logger.error({ error }, 'a stream handler threw');
    if (!handlers) return;
    this.end();
    this.served?.cancelled('the opener failed');
    reportBroken(handlers, toGatewayError(error), this.host.logger);
  }
}

const parts = { cap: Number.POSITIVE_INFINITY, endFlag: frameFlag.messageEnd };

type Life = 'live' | 'ending' | 'ended';

/** The callee's end. */
export class MemoryServed<S extends OpenSubject> implements ServerStream<S> {
  readonly deadlineMs: number;
  /** Made on first use: whole replies need neither. */
  private downward: CreditedQueue<Uint8Array | string> | null = null;
  private upward: CreditedQueue | null = null;
  private readonly subject: S;
  private readonly call: MemoryCall<S>;
  private readonly host: MemoryStreamHost;
  private life: Life = 'live';
  private attempt = 0;
  private headSent = false;
  private tailSent = false;
  private cancelReason: string | null = null;
  private settled: 'acknowledged' | 'lost' | null = null;
  private cancelCallback: ((reason: string) => void) | null = null;
  private settledCallback: ((how: 'acknowledged' | 'lost') => void) | null = null;
  private dataCallback: ((bytes: Uint8Array, flags: number) => void) | null = null;
  private dataEndCallback: (() => void) | null = null;
  private dataEnded = false;

  constructor(host: MemoryStreamHost, subject: S, call: MemoryCall<S>, deadlineMs: number) {
    this.host = host;
    this.subject = subject;
    this.call = call;
    this.deadlineMs = deadlineMs;
  }

  get id(): string {
    return this.call.id;
  }

  /** Bytes to the opener. */
  get down(): CreditedQueue<Uint8Array | string> {
    this.downward ??= new CreditedQueue({ ...parts, window: replyWindow, emit: (bytes, flags, attempt) => this.deliver(bytes, flags, attempt) });
    return this.downward;
  }

  /** Bytes from the opener after the open. */
  get up(): CreditedQueue {
    this.upward ??= new CreditedQueue({
      ...parts,
      window: requestWindow,
      held: true,
      emit: (bytes, flags) => this.run(() => this.dataCallback?.(bytes, flags)),
    });
    return this.upward;
  }

  head(head: OpenSubjects[S]['head']): void {
    if (this.life !== 'live') return;
    if (this.headSent) throw new Error('a stream has one head');
    this.headSent = true;
    this.call.receiveHead(this.host.strict ? this.strictHead(head) : head);
  }

  data(bytes: Uint8Array | string, flags = frameFlag.messageEnd as number): boolean {
    return this.life === 'live' && this.down.push(this.host.strict && typeof bytes !== 'string' ? strictBytes(bytes) : bytes, flags, this.attempt);
  }

  onWritable(callback: () => void): void {
    this.down.onReady(() => this.run(callback));
  }

  tail(tail: OpenSubjects[S]['tail']): void {
    if (this.life !== 'live') return;
    this.life = 'ending';
    this.tailSent = true;
    const sent = this.host.strict ? this.strictTail(tail) : tail;
    this.down.end(() => {
      this.end();
      this.call.receiveTail(sent);
    });
  }

  whole(head: OpenSubjects[S]['head'], bytes: Uint8Array, tail: OpenSubjects[S]['tail']): void {
    if (this.life !== 'live') return;
    if (this.headSent) throw new Error('a stream has one head');
    this.headSent = true;
    this.tailSent = true;
    const { strict } = this.host;
    this.end();
    if (strict) this.call.receiveWhole(this.strictHead(head), strictBytes(bytes), this.strictTail(tail));
    else this.call.receiveWhole(head, bytes, tail);
  }

  fail(error: GatewayError): void {
    if (this.life !== 'live') return;
    this.life = 'ending';
    const sent = this.host.strict ? GatewayError.fromWire(error.toWire()) : error;
    this.down.end(() => {
      this.end();
      this.call.receiveBroken(sent);
    });
  }

  onCancel(callback: (reason: string) => void): void {
    this.cancelCallback = callback;
    const reason = this.cancelReason;
    if (reason !== null) this.run(() => callback(reason));
  }

  onSettled(callback: (how: 'acknowledged' | 'lost') => void): void {
    this.settledCallback = callback;
    const how = this.settled;
    if (how) this.run(() => callback(how));
  }

  onData(callback: (bytes: Uint8Array, flags: number) => void): void {
    this.dataCallback = callback;
    this.up.release();
  }

  onDataEnd(callback: () => void): void {
    this.dataEndCallback = callback;
    if (this.dataEnded) this.run(callback);
  }

  consumed(bytes: number): void {
    this.up.grant(bytes);
  }

  dropBefore(attempt: number): void {
    if (attempt <= this.attempt) return;
    this.attempt = attempt;
    this.host.droppedBefore(this.down.dropBefore(attempt));
  }

  receiveDataEnd(): void {
    this.dataEnded = true;
    if (this.dataEndCallback && this.life !== 'ended') this.run(this.dataEndCallback);
  }

  /** The opener left. After the tail this only means that nobody will acknowledge it. */
  cancelled(reason: string): void {
    const { life } = this;
    this.end();
    if (this.tailSent) this.settle('lost');
    else if (life === 'live') {
      this.cancelReason = reason;
      const callback = this.cancelCallback;
      if (callback) this.run(() => callback(reason));
    }
  }

  settle(how: 'acknowledged' | 'lost'): void {
    if (this.settled || !this.tailSent) return;
    this.settled = how;
    const callback = this.settledCallback;
    if (callback) this.run(() => callback(how));
  }

  private strictHead(head: OpenSubjects[S]['head']): OpenSubjects[S]['head'] {
    return strictMessage(`${this.subject} head`, openShapes[this.subject].head, head);
  }

  private strictTail(tail: OpenSubjects[S]['tail']): OpenSubjects[S]['tail'] {
    return strictMessage(`${this.subject} tail`, openShapes[this.subject].tail, tail);
  }

  private deliver(bytes: Uint8Array | string, flags: number, attempt: number): void {
    if (attempt < this.attempt) this.host.droppedBefore(1);
    else this.call.receiveData(bytes, flags);
  }

  private end(): void {
    if (this.life === 'ended') return;
    this.life = 'ended';
    // Until it is settled only the row is waited for: what the callbacks hold (bodies, sockets) must not wait with it.
    if (this.cancelReason === null && this.tailSent) this.cancelCallback = null;
    this.dataCallback = null;
    this.dataEndCallback = null;
    this.downward?.close();
    this.upward?.close();
    this.host.servedEnded();
  }

  private run(callback: () => void): void {
    try {
      callback();
    } catch (error) {
      this.host.logger.error({ error }, 'a stream callback threw');
    }
  }
}
