/** The caller's end of a stream, the same over every bus: life, credit in both directions, cancel and acknowledgement. */
import { frameFlag, frameKind } from '@model-gateway/contracts';
import { type GatewayError, toGatewayError } from '@model-gateway/contracts/errors';
import type { OpenSubject, StreamCall, StreamHandlers } from '../bus.ts';
import { bytesOf } from '../kit/bytes-of.ts';
import { CreditedQueue } from '../kit/credited-queue.ts';
import { replyWindow, requestWindow } from '../kit/limits.ts';
import type { BusLogger } from '../kit/logger.ts';
import { reportBroken } from '../kit/report-broken.ts';
import type { FrameReceiver, StreamKind, StreamLink, StreamPayloads, WholeReply } from './link.ts';

const handlerFailed = 'the opener failed';
/** Keeps the end of the data behind the release of a held queue; never sent. */
const marker = new Uint8Array(0);

/** What `open` returns; its link delivers the callee's frames to `receive`. */
export class StreamCaller<S extends OpenSubject> implements StreamCall, FrameReceiver {
  private readonly link: StreamLink;
  private readonly logger: BusLogger;
  /** null: the stream has ended. */
  private handlers: StreamHandlers<S> | null;
  /** Bytes to the callee. Created on first use: most calls send none. */
  private queue: CreditedQueue | null = null;
  /** The callee cannot be reached yet. */
  private held = true;
  /** Bytes of `data` consumed since the last credit frame. */
  private ungranted = 0;
  /** The stream ended with a tail. */
  private complete = false;
  private acknowledged = false;

  constructor(link: StreamLink, handlers: StreamHandlers<S>, logger: BusLogger) {
    this.link = link;
    this.handlers = handlers;
    this.logger = logger;
  }

  get id(): string {
    return this.link.id;
  }

  get live(): boolean {
    return this.handlers !== null;
  }

  /** The callee can be reached: what was sent so far goes out. */
  release(): void {
    this.held = false;
    this.queue?.release();
  }

  send(bytes: Uint8Array, flags = frameFlag.messageEnd as number): boolean {
    return this.handlers !== null && this.up.push(bytes, flags, 0);
  }

  onSendable(callback: () => void): void {
    this.up.onReady(() => {
      try {
        callback();
      } catch (error) {
        this.defect(error, this.handlers);
      }
    });
  }

  endSend(): void {
    if (!this.handlers) return;
    if (this.held) this.up.push(marker, 0, 0);
    this.up.end(() => this.link.send(frameKind.sendEnd, null, 0, 0));
  }

  consumed(bytes: number): void {
    if (!this.handlers) return;
    this.ungranted += bytes;
    if (this.ungranted < replyWindow / 2) return;
    const granted = this.ungranted;
    this.ungranted = 0;
    this.link.send(frameKind.credit, granted, 0, 0);
  }

  cancel(reason: string): void {
    if (!this.handlers) return;
    this.handlers = null;
    this.queue?.close();
    this.link.send(frameKind.cancel, reason, 0, 0);
    this.link.close();
  }

  acknowledge(): void {
    if (!this.complete || this.acknowledged) return;
    this.acknowledged = true;
    this.link.send(frameKind.ack, null, 0, 0);
  }

  receive<K extends StreamKind>(kind: K, payload: StreamPayloads[K], flags: number): void {
    switch (kind) {
      case frameKind.data:
        return this.receiveData(payload as Uint8Array | string, flags);
      case frameKind.head:
        return this.receiveHead(payload);
      case frameKind.tail:
        return this.receiveTail(payload);
      case frameKind.whole:
        return this.receiveWhole(payload as WholeReply, flags);
      case frameKind.error:
        return this.receiveError(payload as GatewayError);
      case frameKind.credit:
        this.queue?.grant(payload as number);
    }
  }

  private get up(): CreditedQueue {
    this.queue ??= new CreditedQueue({
      window: requestWindow,
      cap: this.link.cap,
      endFlag: frameFlag.messageEnd,
      held: this.held,
      emit: (bytes, flags) => {
        if (bytes !== marker) this.link.send(frameKind.send, bytes, flags, 0);
      },
    });
    return this.queue;
  }

  private receiveHead(head: unknown): void {
    const { handlers } = this;
    if (!handlers) return;
    try {
      handlers.head(head as never);
    } catch (error) {
      this.defect(error, this.handlers);
    }
  }

  private receiveData(bytes: Uint8Array | string, flags: number): void {
    const { handlers } = this;
    if (!handlers) return;
    try {
      if (typeof bytes === 'string' && handlers.text !== undefined) handlers.text(bytes, flags);
      else handlers.data(bytesOf(bytes), flags);
    } catch (error) {
      this.defect(error, this.handlers);
    }
  }

  private receiveTail(tail: unknown): void {
    const handlers = this.end();
    if (!handlers) return;
    this.complete = true;
    try {
      handlers.tail(tail as never);
    } catch (error) {
      this.defect(error, handlers);
    }
  }

  private receiveWhole({ head, bytes, tail }: WholeReply, flags: number): void {
    if (!this.handlers?.whole) {
      this.receiveHead(head);
      if (bytes.length > 0) this.receiveData(bytes, flags);
      return this.receiveTail(tail);
    }
    const handlers = this.end();
    this.complete = true;
    try {
      handlers?.whole?.(head as never, bytes, tail as never);
    } catch (error) {
      this.defect(error, handlers);
    }
  }

  private receiveError(error: GatewayError): void {
    const handlers = this.end();
    if (handlers) reportBroken(handlers, error, this.logger);
  }

  private end(): StreamHandlers<S> | null {
    const { handlers } = this;
    if (!handlers) return null;
    this.handlers = null;
    this.queue?.close();
    this.link.close();
    return handlers;
  }

  /** A handler that throws is a defect of the opener: its stream ends, the callee gets a cancel, and `broken` is called. `handlers`: null after a cancel. */
  private defect(error: unknown, handlers: StreamHandlers<S> | null): void {
    this.logger.error({ error }, 'a stream handler threw');
    if (!handlers) return;
    this.cancel(handlerFailed);
    // After the tail this only means that nobody will acknowledge it.
    if (this.complete && !this.acknowledged) this.link.send(frameKind.cancel, handlerFailed, 0, 0);
    this.acknowledged = true;
    reportBroken(handlers, toGatewayError(error), this.logger);
  }
}
