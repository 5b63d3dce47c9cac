/** The callee's link over a socket. */
import { frameKind } from '@model-gateway/contracts';
import type { GatewayError } from '@model-gateway/contracts/errors';
import type { Deadline } from '../kit/deadlines.ts';
import { frameCap, settleMs } from '../kit/limits.ts';
import type { CalleeLink, FrameReceiver, StreamKind, StreamPayloads, WholeReply } from '../stream/link.ts';
import { jsonOf, type SocketStreamHost } from './host.ts';
import { payloadBytes, writeWhole } from './payload.ts';
import { marksOf, type WireFrame, wireKind } from './wire.ts';

/** Callbacks for the end of a served stream. */
interface Books {
  ended(): void;
  /** Its acknowledgement is waited for. */
  keep(): void;
  /** No frame is of interest any more. */
  forget(): void;
}

/** From the callee to the caller; after the tail also the wait for its acknowledgement. */
export class SocketCalleeLink implements CalleeLink, Deadline {
  readonly cap = frameCap;
  readonly carriesWhole = true;
  index = -1;
  endsAt = Number.POSITIVE_INFINITY;
  callee: (FrameReceiver & { readonly live: boolean }) | null = null;
  /** What the opener's `go` begins. */
  begin: (() => void) | null = null;
  private readonly host: SocketStreamHost;
  private readonly number: number;
  private readonly books: Books;
  private closed = false;
  private unsettled = false;

  constructor(host: SocketStreamHost, number: number, books: Books) {
    this.host = host;
    this.number = number;
    this.books = books;
  }

  get id(): string {
    return this.number.toString(36);
  }

  go(): void {
    const { begin } = this;
    this.begin = null;
    if (this.callee?.live) begin?.();
  }

  encode(kind: number, message: unknown): Buffer {
    return jsonOf(kind === frameKind.error ? (message as GatewayError).toWire() : message);
  }

  send<K extends StreamKind>(kind: K, payload: StreamPayloads[K], flags: number, attempt: number): void {
    const bytes = kind === frameKind.whole ? writeWhole(payload as WholeReply) : payloadBytes(kind, payload);
    this.host.send(wireKind.stream + kind, this.number, bytes, marksOf(flags, attempt));
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.begin = null;
    this.books.ended();
    if (!this.unsettled) this.books.forget();
  }

  awaitAcknowledgement(): void {
    if (this.unsettled) return;
    this.unsettled = true;
    this.host.deadlines.add(settleMs, this);
    this.books.keep();
  }

  expire(): void {
    this.lost('nobody acknowledged the tail');
  }

  lost(reason: string): void {
    this.callee?.receive(frameKind.cancel, reason, 0);
    this.settle();
    this.close();
  }

  receive(kind: StreamKind, { flags, payload }: WireFrame): void {
    switch (kind) {
      case frameKind.credit:
        return this.callee?.receive(kind, payload.readUInt32LE(0), flags);
      case frameKind.send:
        return this.callee?.receive(kind, payload, flags);
      case frameKind.sendEnd:
        return this.callee?.receive(kind, null, flags);
      case frameKind.ack:
        this.callee?.receive(kind, null, flags);
        return this.settle();
      case frameKind.cancel:
        this.callee?.receive(kind, payload.toString('utf8'), flags);
        return this.settle();
    }
  }

  private settle(): void {
    if (!this.unsettled) return;
    this.unsettled = false;
    this.host.deadlines.delete(this);
    this.books.forget();
  }
}
