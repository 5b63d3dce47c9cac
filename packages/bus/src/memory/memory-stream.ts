/** The two ends of a stream inside one process: they call each other directly, under the same credit as over a real bus. */
import { frameFlag, type OpenSubjects } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/errors';
import type { OpenSubject, ServerStream, StreamCall, StreamHandlers } from '../bus.ts';
import { CreditedQueue } from '../kit/credited-queue.ts';
import type { Deadline } from '../kit/deadlines.ts';
import { replyWindow, requestWindow } from '../kit/limits.ts';
import type { BusLogger } from '../kit/logger.ts';
import { strictBytes, strictCopy } from './strict.ts';

/** What a stream needs of its bus. */
export interface MemoryStreamHost {
  readonly strict: boolean;
  readonly logger: BusLogger;
  /** The opener's end is done. */
  callEnded(deadline: Deadline | null): void;
  /** The callee's end is done. */
  servedEnded(): void;
  /** Frames dropped by a fence. */
  fenced(frames: number): void;
}

let streams = 0;

/** The opener's end. */
export class MemoryCall<S extends OpenSubject> implements StreamCall {
  readonly id: string = (++streams).toString(36);
  private handlers: StreamHandlers<S> | null;
  private readonly host: MemoryStreamHost;
  /** Set once a server was found. */
  served: MemoryServed<S> | null = null;
  /** Set when the opener gave one. */
  deadline: Deadline | null = null;
  private acknowledged = false;

  constructor(host: MemoryStreamHost, handlers: StreamHandlers<S>) {
    this.host = host;
    this.handlers = handlers;
  }

  get live(): boolean {
    return this.handlers !== null;
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
    if (this.handlers && served) served.up.end(() => served.hearDataEnd());
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

  hearHead(head: OpenSubjects[S]['head']): void {
    if (this.handlers) this.run(() => this.handlers?.head(head));
  }

  hearData(bytes: Uint8Array, flags: number): void {
    const handlers = this.handlers;
    if (!handlers) return;
    // Written out rather than through `run`: this is the hot path and makes no closure.
    try {
      handlers.data(bytes, flags);
    } catch (error) {
      this.defect(error);
    }
  }

  hearTail(tail: OpenSubjects[S]['tail']): void {
    const handlers = this.end();
    if (handlers) this.run(() => handlers.tail(tail));
  }

  hearBroken(error: GatewayError): void {
    const handlers = this.end();
    if (handlers) this.run(() => handlers.broken(error));
  }

  private end(): StreamHandlers<S> | null {
    const handlers = this.handlers;
    if (!handlers) return null;
    this.handlers = null;
    this.host.callEnded(this.deadline);
    return handlers;
  }

  private run(callback: () => void): void {
    try {
      callback();
    } catch (error) {
      this.defect(error);
    }
  }

  /** A handler that throws is a defect of the opener: its stream ends, the callee is not harmed. */
  private defect(error: unknown): void {
    this.host.logger.error({ error }, 'a stream handler threw');
    this.cancel('the opener failed');
  }
}

type Life = 'live' | 'ending' | 'ended';

/** The callee's end. */
export class MemoryServed<S extends OpenSubject> implements ServerStream<S> {
  readonly id: string;
  readonly deadlineMs: number;
  readonly down: CreditedQueue;
  readonly up: CreditedQueue;
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

  constructor(host: MemoryStreamHost, call: MemoryCall<S>, deadlineMs: number) {
    this.host = host;
    this.call = call;
    this.id = call.id;
    this.deadlineMs = deadlineMs;
    const parts = { cap: Number.POSITIVE_INFINITY, endFlag: frameFlag.messageEnd };
    this.down = new CreditedQueue({ ...parts, window: replyWindow, emit: (bytes, flags, attempt) => this.deliver(bytes, flags, attempt) });
    this.up = new CreditedQueue({ ...parts, window: requestWindow, held: true, emit: (bytes, flags) => this.run(() => this.dataCallback?.(bytes, flags)) });
  }

  head(head: OpenSubjects[S]['head']): void {
    if (this.life !== 'live') return;
    if (this.headSent) throw new Error('a stream has one head');
    this.headSent = true;
    this.call.hearHead(this.host.strict ? strictCopy(head) : head);
  }

  data(bytes: Uint8Array, flags = frameFlag.messageEnd as number): boolean {
    return this.life === 'live' && this.down.push(this.host.strict ? strictBytes(bytes) : bytes, flags, this.attempt);
  }

  onWritable(callback: () => void): void {
    this.down.onReady(() => this.run(callback));
  }

  tail(tail: OpenSubjects[S]['tail']): void {
    if (this.life !== 'live') return;
    this.life = 'ending';
    this.tailSent = true;
    const sent = this.host.strict ? strictCopy(tail) : tail;
    this.down.end(() => {
      this.end();
      this.call.hearTail(sent);
    });
  }

  whole(head: OpenSubjects[S]['head'], bytes: Uint8Array, tail: OpenSubjects[S]['tail']): void {
    this.head(head);
    if (bytes.length > 0) this.data(bytes);
    this.tail(tail);
  }

  fail(error: GatewayError): void {
    if (this.life !== 'live') return;
    this.life = 'ending';
    const sent = this.host.strict ? GatewayError.fromWire(error.toWire()) : error;
    this.down.end(() => {
      this.end();
      this.call.hearBroken(sent);
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

  fence(attempt: number): void {
    if (attempt <= this.attempt) return;
    this.attempt = attempt;
    this.host.fenced(this.down.fence(attempt));
  }

  hearDataEnd(): void {
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

  private deliver(bytes: Uint8Array, flags: number, attempt: number): void {
    if (attempt < this.attempt) this.host.fenced(1);
    else this.call.hearData(bytes, flags);
  }

  private end(): void {
    if (this.life === 'ended') return;
    this.life = 'ended';
    // Until it is settled only the row is waited for: what the callbacks hold (bodies, sockets) must not wait with it.
    if (this.cancelReason === null && this.tailSent) this.cancelCallback = null;
    this.dataCallback = null;
    this.dataEndCallback = null;
    this.down.close();
    this.up.close();
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
