/** The callee's end of a stream, the same over every bus: life, credit in both directions, cancel and acknowledgement. */
import { frameFlag, frameKind, type OpenSubjects } from '@model-gateway/contracts';
import type { GatewayError } from '@model-gateway/contracts/errors';
import type { OpenSubject, ServerStream } from '../bus.ts';
import { CreditedQueue } from '../kit/credited-queue.ts';
import { replyWindow, requestWindow } from '../kit/limits.ts';
import type { CalleeLink, FrameReceiver, StreamEnvironment, StreamKind, StreamPayloads } from './link.ts';

/** `ending`: tail or error wait for credit behind the data. */
type Life = 'live' | 'ending' | 'ended';

/** What a handler of `serve` gets; its link delivers the opener's frames to `receive`. */
export class StreamCallee<S extends OpenSubject> implements ServerStream<S>, FrameReceiver {
  readonly deadlineMs: number;
  private readonly link: CalleeLink;
  private readonly environment: StreamEnvironment;
  private life: Life = 'live';
  /** Bytes to the opener. Created on first use: a whole reply needs none. */
  private queue: CreditedQueue<Uint8Array | string> | null = null;
  private attempt = 0;
  private headSent = false;
  private tailSent = false;
  private settled: 'acknowledged' | 'lost' | null = null;
  private cancelReason: string | null = null;
  /** Received before `onData`; the opener's credit bounds it. */
  private undelivered: { bytes: Uint8Array; flags: number }[] | null = null;
  private dataEnded = false;
  /** Bytes consumed since the last credit frame. */
  private ungranted = 0;
  private cancelCallback: ((reason: string) => void) | null = null;
  private settledCallback: ((how: 'acknowledged' | 'lost') => void) | null = null;
  private dataCallback: ((bytes: Uint8Array, flags: number) => void) | null = null;
  private dataEndCallback: (() => void) | null = null;

  constructor(link: CalleeLink, deadlineMs: number, environment: StreamEnvironment) {
    this.link = link;
    this.deadlineMs = deadlineMs;
    this.environment = environment;
  }

  get id(): string {
    return this.link.id;
  }

  get live(): boolean {
    return this.life !== 'ended';
  }

  head(head: OpenSubjects[S]['head']): void {
    if (this.life !== 'live') return;
    if (this.headSent) throw new Error('a stream has one head');
    this.headSent = true;
    this.link.send(frameKind.head, this.link.encode(frameKind.head, head), 0, this.attempt);
  }

  data(bytes: Uint8Array | string, flags = frameFlag.messageEnd as number): boolean {
    return this.life === 'live' && this.down.push(bytes, flags, this.attempt);
  }

  onWritable(callback: () => void): void {
    this.down.onReady(() => this.run(callback));
  }

  tail(tail: OpenSubjects[S]['tail']): void {
    if (this.life !== 'live') return;
    const encoded = this.link.encode(frameKind.tail, tail);
    this.tailSent = true;
    this.finish(frameKind.tail, encoded);
  }

  whole(head: OpenSubjects[S]['head'], bytes: Uint8Array, tail: OpenSubjects[S]['tail']): void {
    if (!this.link.carriesWhole) {
      this.head(head);
      if (bytes.length > 0) this.data(bytes);
      return this.tail(tail);
    }
    if (this.life !== 'live') return;
    if (this.headSent) throw new Error('a stream has one head');
    this.headSent = true;
    this.tailSent = true;
    this.life = 'ending';
    this.link.send(frameKind.whole, { head, bytes, tail }, frameFlag.messageEnd, this.attempt);
    this.end();
  }

  fail(error: GatewayError): void {
    if (this.life !== 'live') return;
    this.finish(frameKind.error, this.link.encode(frameKind.error, error));
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
    else if (this.life === 'ended' && this.tailSent) this.link.awaitAcknowledgement();
  }

  onData(callback: (bytes: Uint8Array, flags: number) => void): void {
    this.dataCallback = callback;
    this.deliverWaiting();
    this.deliverDataEnd();
    // Over a network the opener cannot send before it knows where to.
    if (!this.headSent && this.life !== 'ended') this.link.send(frameKind.accept, null, 0, 0);
  }

  onDataEnd(callback: () => void): void {
    this.dataEndCallback = callback;
    this.deliverDataEnd();
  }

  consumed(bytes: number): void {
    if (this.life === 'ended') return;
    this.ungranted += bytes;
    if (this.ungranted < requestWindow / 2) return;
    const granted = this.ungranted;
    this.ungranted = 0;
    this.link.send(frameKind.credit, granted, 0, this.attempt);
  }

  dropBefore(attempt: number): void {
    if (attempt <= this.attempt) return;
    this.attempt = attempt;
    if (this.queue) this.environment.droppedBefore(this.queue.dropBefore(attempt));
  }

  receive<K extends StreamKind>(kind: K, payload: StreamPayloads[K], flags: number): void {
    switch (kind) {
      case frameKind.credit:
        this.queue?.grant(payload as number);
        return;
      case frameKind.send:
        return this.receiveData(payload as Uint8Array, flags);
      case frameKind.sendEnd:
        this.dataEnded = true;
        return this.deliverDataEnd();
      case frameKind.cancel:
        return this.cancelled(payload as string);
      case frameKind.ack:
        if (this.tailSent) this.settle('acknowledged');
    }
  }

  private get down(): CreditedQueue<Uint8Array | string> {
    this.queue ??= new CreditedQueue<Uint8Array | string>({
      window: replyWindow,
      cap: this.link.cap,
      endFlag: frameFlag.messageEnd,
      emit: (bytes, flags, attempt) => this.link.send(frameKind.data, bytes, flags, attempt),
    });
    return this.queue;
  }

  /** The last frame, once all data before it is out. */
  private finish(kind: typeof frameKind.tail | typeof frameKind.error, message: unknown): void {
    this.life = 'ending';
    const send = () => {
      this.link.send(kind, message, 0, this.attempt);
      this.end();
    };
    if (this.queue) this.queue.end(send);
    else send();
  }

  private receiveData(bytes: Uint8Array, flags: number): void {
    if (this.life === 'ended') return;
    const { dataCallback } = this;
    if (!dataCallback || this.undelivered) {
      this.undelivered ??= [];
      this.undelivered.push({ bytes, flags });
      return;
    }
    try {
      dataCallback(bytes, flags);
    } catch (error) {
      this.reportDefect(error);
    }
  }

  /** Credit that a callback gives may bring more data at once: it waits behind what is delivered here. */
  private deliverWaiting(): void {
    for (let piece = this.undelivered?.shift(); piece; piece = this.undelivered?.shift()) {
      const { bytes, flags } = piece;
      this.run(() => this.dataCallback?.(bytes, flags));
    }
    this.undelivered = null;
  }

  private deliverDataEnd(): void {
    const callback = this.dataEndCallback;
    if (!callback || !this.dataEnded || this.undelivered !== null || this.life === 'ended') return;
    this.dataEndCallback = null;
    this.run(callback);
  }

  /** The opener left. After the tail this only means that nobody will acknowledge it. */
  private cancelled(reason: string): void {
    const { life } = this;
    if (this.tailSent) {
      const open = this.settled === null;
      // Before the end, which would otherwise wait for the acknowledgement.
      this.settled ??= 'lost';
      this.end();
      if (open) this.reportSettled('lost');
      return;
    }
    if (life === 'live') this.cancelReason = reason;
    this.end();
    const callback = this.cancelCallback;
    if (life === 'live' && callback) this.run(() => callback(reason));
  }

  private settle(how: 'acknowledged' | 'lost'): void {
    if (this.settled) return;
    this.settled = how;
    this.reportSettled(how);
  }

  private reportSettled(how: 'acknowledged' | 'lost'): void {
    const callback = this.settledCallback;
    if (callback) this.run(() => callback(how));
  }

  /** Nothing more goes out. */
  private end(): void {
    if (this.life === 'ended') return;
    this.life = 'ended';
    // Until it is settled only the acknowledgement is waited for: what the callbacks hold (bodies, sockets) must not wait with it.
    if (this.tailSent) this.cancelCallback = null;
    this.dataCallback = null;
    this.dataEndCallback = null;
    this.undelivered = null;
    this.queue?.close();
    this.link.close();
    if (this.tailSent && !this.settled && this.settledCallback) this.link.awaitAcknowledgement();
  }

  private run(callback: () => void): void {
    try {
      callback();
    } catch (error) {
      this.reportDefect(error);
    }
  }

  private reportDefect(error: unknown): void {
    this.environment.logger.error({ error }, 'a stream callback threw');
  }
}
