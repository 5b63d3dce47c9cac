/** The opener's end of a stream: counts what comes, sends body parcels and bytes under credit, and knows when the other side is gone. */
import { type ErrorWire, errorShape, frameFlag, frameKind, type OpenSubjects, openShapes } from '@model-gateway/contracts';
import { GatewayError, isGatewayError, toGatewayError } from '@model-gateway/contracts/errors';
import type { OpenSubject, StreamCall, StreamHandlers } from '../bus.ts';
import { CreditedQueue } from '../kit/credited-queue.ts';
import { frameCap, replyWindow, requestWindow } from '../kit/limits.ts';
import { reportBroken } from '../kit/report-broken.ts';
import { asBuffer, type Frame, frameMark, readJson, u32, writeFrame } from './frame.ts';
import type { Peer, SharedStream } from './peers.ts';
import type { StreamBooks, StreamHost } from './stream-host.ts';
import type { StreamId } from './stream-id.ts';
import { streamKey } from './stream-id.ts';
import { totalsBytes, totalsMatch, UnitReader, writeTotals } from './units.ts';

const noBytes = new Uint8Array(0);
const openerFailed = 'the opener failed';

/** What is kept of an opening until somebody accepts it, in case that it has to be opened elsewhere. */
export interface Opening {
  readonly json: Uint8Array;
  readonly body: Uint8Array;
  readonly deadlineMs: number;
  /** Awake time of the last try. */
  openedAt: number;
  /** The process it was sent to; null: the queue group chose. */
  target: string | null;
  readonly tried: Set<string>;
}

export class NatsClientStream<S extends OpenSubject> implements StreamCall, SharedStream {
  number: number;
  salt: number;
  key: number;
  /** null once somebody accepted it. */
  opening: Opening | null;
  readonly subject: S;
  since: number;
  sentFrames = 0;
  receivedFrames = 0;
  /** Awake time after which the bus ends the stream itself. */
  readonly endsAt: number;
  peer: Peer | null = null;
  private readonly host: StreamHost;
  private readonly books: StreamBooks;
  private handlers: StreamHandlers<S> | null;
  private readonly up: CreditedQueue;
  private readonly units = new UnitReader();
  private attempt = 0;
  private sentBytes = 0;
  private receivedBytes = 0;
  private ungranted = 0;
  /** Bytes that the callee was given credit for, beyond the window. */
  private granted = 0;
  /** Where the unit that ends the stream began. */
  private endsAtFrame = 0;
  private complete = false;
  private acknowledged = false;
  /** Body parcels are `parcel` frames; what follows them is `send`. */
  private parcelBytesLeft = 0;
  /** Cancelled before we knew whom to tell. */
  private untold: string | null = null;

  constructor(host: StreamHost, books: StreamBooks, subject: S, id: StreamId, handlers: StreamHandlers<S>, endsAt: number, opening: Opening) {
    this.host = host;
    this.books = books;
    this.subject = subject;
    this.opening = opening;
    this.number = id.number;
    this.salt = id.salt;
    this.key = streamKey(id.number, id.salt);
    this.since = host.now;
    this.handlers = handlers;
    this.endsAt = endsAt;
    this.up = new CreditedQueue({
      window: requestWindow,
      cap: host.cap,
      endFlag: frameFlag.messageEnd,
      held: true,
      emit: (bytes, flags) => this.sendBytes(bytes, flags),
    });
  }

  get id(): string {
    return this.key.toString(36);
  }

  /** Opened again elsewhere: frames with the old id no longer match. */
  renew(id: StreamId): void {
    this.number = id.number;
    this.salt = id.salt;
    this.key = streamKey(id.number, id.salt);
  }

  get live(): boolean {
    return this.handlers !== null;
  }

  /** The body follows the open in parcels, once a worker has said who it is. */
  sendBody(body: Uint8Array): void {
    this.parcelBytesLeft += body.length;
    this.up.push(body, 0, 0);
  }

  send(bytes: Uint8Array, flags = frameFlag.messageEnd as number): boolean {
    return this.handlers !== null && this.up.push(bytes, flags, 0);
  }

  onSendable(callback: () => void): void {
    this.up.onReady(() => this.guard(callback));
  }

  endSend(): void {
    if (!this.handlers) return;
    const finish = () => this.counted(frameKind.sendEnd, 0, writeTotals(this.sentFrames, this.sentBytes));
    // An empty push keeps the end behind the release, when nobody has claimed the stream yet.
    if (!this.peer) this.up.push(noBytes, 0, 0);
    this.up.end(finish);
  }

  consumed(bytes: number): void {
    if (!this.handlers || !this.peer) return;
    this.ungranted += bytes;
    if (this.ungranted < replyWindow / 2) return;
    this.granted += this.ungranted;
    this.sendFrame(frameKind.credit, u32(this.ungranted));
    this.ungranted = 0;
  }

  cancel(reason: string): void {
    if (!this.handlers) return;
    this.handlers = null;
    this.up.close();
    this.books.ended();
    if (this.peer) {
      this.sendFrame(frameKind.cancel, Buffer.from(reason.slice(0, 200)));
      this.forget();
    } else {
      // Stays on the books until a worker claims it, or none does.
      this.untold = reason;
      this.opening = null;
    }
  }

  acknowledge(): void {
    if (!this.complete || this.acknowledged || !this.peer) return;
    this.acknowledged = true;
    this.host.peers.acknowledge(this.peer, this.number, this.salt);
  }

  receive(frame: Frame): void {
    if (!this.recognise(frame)) return this.host.droppedBefore(1);
    const { kind } = frame;
    if (kind === frameKind.accept) {
      // The callee was late to read the opening, and begins when we say that we still want it.
      if (frame.payload.length >= 4) this.sendFrame(frameKind.go, frame.payload.subarray(0, 4));
      return;
    }
    if (kind === frameKind.credit) {
      if (frame.payload.length >= 4) this.up.grant(asBuffer(frame.payload).readUInt32LE(0));
      return;
    }
    const take = takers[kind];
    if (!take) return;
    if (frame.attempt < this.attempt) return this.host.droppedBefore(1);
    if (frame.seq < this.receivedFrames) return this.host.droppedBefore(1);
    if (frame.seq > this.receivedFrames) return this.lost('frames were lost');
    this.attempt = frame.attempt;
    this.receivedFrames++;
    try {
      take(this as unknown as NatsClientStream<OpenSubject>, frame);
    } catch (error) {
      // What the reader refused it has logged.
      if (!isGatewayError(error)) this.host.logger.warn({ error, kind }, 'a frame could not be read');
      this.lost('a frame could not be read');
    }
  }

  /** The other side, or frames, are gone. A cancel goes out in case the callee lives: its work for this stream is useless now. */
  lost(reason: string): void {
    if (this.handlers && this.peer) this.sendFrame(frameKind.cancel, Buffer.from(reason.slice(0, 200)));
    this.receiveBroken(new GatewayError('service_lost', { cause: new Error(reason) }));
  }

  /** Ends the stream from this side, telling the callee. */
  expire(): void {
    if (this.peer) this.sendFrame(frameKind.cancel, Buffer.from('deadline'));
    this.receiveBroken(new GatewayError('timeout'));
  }

  receiveBroken(error: GatewayError): void {
    const handlers = this.end();
    if (handlers) reportBroken(handlers, error, this.host.logger);
  }

  takeHead(frame: Frame): void {
    const unit = this.units.add(frame);
    if (!unit) return;
    if ((frame.marks & frameMark.withData) === 0) return this.emitHead(this.readHead(unit));
    const split = 4 + asBuffer(unit).readUInt32LE(0);
    this.emitHead(this.readHead(unit, 4, split));
    this.emitData(unit.subarray(split), frame.flags);
  }

  takeData(frame: Frame): void {
    this.emitData(frame.payload, frame.flags);
  }

  takeWhole(frame: Frame): void {
    const unit = asBuffer(frame.payload);
    const tailAt = 8 + unit.readUInt32LE(0);
    const dataAt = tailAt + unit.readUInt32LE(4);
    const tail = this.readTail(unit, tailAt, dataAt);
    const head = this.readHead(unit, 8, tailAt);
    if (this.handlers?.whole) return this.emitWhole(head, unit.subarray(dataAt), tail);
    this.emitHead(head);
    if (dataAt < unit.length) this.emitData(unit.subarray(dataAt), frame.flags);
    this.emitTail(tail);
  }

  takeTail(frame: Frame): void {
    const unit = this.takeEnd(frame);
    if (unit) this.emitTail(this.readTail(unit, totalsBytes));
  }

  takeError(frame: Frame): void {
    const unit = this.takeEnd(frame);
    if (!unit) return;
    const { subject } = this;
    this.receiveBroken(GatewayError.fromWire(this.host.reader.read(`${subject} error`, errorShape, () => readJson(unit, totalsBytes)) as ErrorWire));
  }

  private readHead(bytes: Uint8Array, start = 0, end = bytes.length): OpenSubjects[S]['head'] {
    const { subject } = this;
    return this.host.reader.read(`${subject} head`, openShapes[subject].head, () => readJson(bytes, start, end)) as OpenSubjects[S]['head'];
  }

  private readTail(bytes: Uint8Array, start: number, end = bytes.length): OpenSubjects[S]['tail'] {
    const { subject } = this;
    return this.host.reader.read(`${subject} tail`, openShapes[subject].tail, () => readJson(bytes, start, end)) as OpenSubjects[S]['tail'];
  }

  /** The last unit of a stream, once it is whole and its totals are ours. */
  private takeEnd(frame: Frame): Uint8Array | null {
    if (this.units.empty) this.endsAtFrame = frame.seq;
    const unit = this.units.add(frame);
    if (!unit) return null;
    if (totalsMatch(asBuffer(unit), this.endsAtFrame, this.receivedBytes)) return unit;
    this.lost('the totals do not match');
    return null;
  }

  /** Learns the peer from its first frame; false for frames of anybody else. */
  private recognise(frame: Frame): boolean {
    if (!this.peer) {
      if (frame.inbox === '') return false;
      const peer = this.host.peers.of(frame.inbox);
      if (!peer) return false;
      this.claim(peer);
    } else if (frame.inbox !== '' && frame.inbox !== this.peer.inbox) return false;
    const { peer } = this;
    if (peer) peer.lastSeenAt = this.host.now;
    return this.handlers !== null;
  }

  private claim(peer: Peer): void {
    this.peer = peer;
    this.opening = null;
    this.since = this.host.now;
    if (this.untold !== null) {
      this.sendFrame(frameKind.cancel, Buffer.from(this.untold.slice(0, 200)));
      this.forget();
      return;
    }
    peer.begin(this.host.now);
    peer.calls.set(this.key, this);
    this.up.release();
  }

  private emitHead(head: OpenSubjects[S]['head']): void {
    const { handlers } = this;
    if (handlers) this.guard(() => handlers.head(head));
  }

  private emitData(bytes: Uint8Array, flags: number): void {
    this.receivedBytes += bytes.length;
    const { handlers } = this;
    if (!handlers) return;
    if (this.receivedBytes - this.granted > replyWindow + frameCap) return this.lost('more came than there was credit for');
    try {
      handlers.data(bytes, flags);
    } catch (error) {
      this.defect(error);
    }
  }

  private emitWhole(head: OpenSubjects[S]['head'], bytes: Uint8Array, tail: OpenSubjects[S]['tail']): void {
    this.receivedBytes += bytes.length;
    const handlers = this.end();
    this.complete = handlers !== null;
    if (handlers) this.guard(() => handlers.whole?.(head, bytes, tail), handlers);
  }

  private emitTail(tail: OpenSubjects[S]['tail']): void {
    const handlers = this.end();
    this.complete = handlers !== null;
    if (handlers) this.guard(() => handlers.tail(tail), handlers);
  }

  private sendBytes(bytes: Uint8Array, flags: number): void {
    this.sentBytes += bytes.length;
    if (this.parcelBytesLeft > 0) {
      this.parcelBytesLeft -= bytes.length;
      this.counted(frameKind.parcel, 0, bytes);
    } else if (bytes !== noBytes) this.counted(frameKind.send, flags, bytes);
  }

  private counted(kind: number, flags: number, payload: Uint8Array): void {
    this.publish(kind, flags, this.sentFrames++, payload);
  }

  private sendFrame(kind: number, payload: Uint8Array): void {
    this.publish(kind, 0, 0, payload);
  }

  private publish(kind: number, flags: number, seq: number, payload: Uint8Array): void {
    if (!this.peer) return;
    const { number, salt, attempt } = this;
    this.host.publish(this.peer.subject, writeFrame({ kind, flags, marks: frameMark.toCallee, attempt, number, salt, seq }, this.host.inboxBytes, [payload]));
  }

  private end(): StreamHandlers<S> | null {
    const { handlers } = this;
    this.handlers = null;
    this.opening = null;
    this.up.close();
    if (handlers) this.books.ended();
    this.forget();
    return handlers;
  }

  private forget(): void {
    this.peer?.calls.delete(this.key);
    this.books.forget(this);
  }

  /** `handlers`: those of a stream that has ended with this very call. */
  private guard(callback: () => void, handlers?: StreamHandlers<S>): void {
    try {
      callback();
    } catch (error) {
      this.defect(error, handlers ?? this.handlers);
    }
  }

  /** A handler that throws is a defect of the opener: its stream ends, the callee gets a cancel, and `broken` is called. */
  private defect(error: unknown, handlers = this.handlers): void {
    this.host.logger.error({ error }, 'a stream handler threw');
    if (!handlers) return;
    this.cancel(openerFailed);
    // After the tail this only means that nobody will acknowledge it.
    if (this.complete && !this.acknowledged) this.sendFrame(frameKind.cancel, Buffer.from(openerFailed));
    this.acknowledged = true;
    reportBroken(handlers, toGatewayError(error), this.host.logger);
  }
}

/** Counted frames from the callee. Kinds not listed are ignored, so that neighbouring versions can talk. */
const takers: Record<number, (call: NatsClientStream<OpenSubject>, frame: Frame) => void> = {
  [frameKind.head]: (call, frame) => call.takeHead(frame),
  [frameKind.data]: (call, frame) => call.takeData(frame),
  [frameKind.whole]: (call, frame) => call.takeWhole(frame),
  [frameKind.tail]: (call, frame) => call.takeTail(frame),
  [frameKind.error]: (call, frame) => call.takeError(frame),
};
