/** The caller's link over NATS: opening, frames to the callee, and the checks of what comes back (sender, order, totals, credit). */
import { chunkGarbage } from '@model-gateway/collections';
import { type ErrorWire, errorShape, frameKind, openShapes } from '@model-gateway/contracts';
import { GatewayError, isGatewayError } from '@model-gateway/contracts/errors';
import type { OpenSubject, StreamHandlers } from '../bus.ts';
import { frameCap, replyWindow } from '../kit/limits.ts';
import { StreamCaller } from '../stream/caller.ts';
import type { StreamKind, StreamLink, StreamPayloads } from '../stream/link.ts';
import { asBuffer, type Frame, frameMark, readJson, u32, writeFrame } from './frame.ts';
import { sentNow } from './peer-clock.ts';
import type { Peer, SharedStream } from './peers.ts';
import type { StreamBooks, StreamHost } from './stream-host.ts';
import { type StreamId, streamKey } from './stream-id.ts';
import { totalsBytes, totalsMatch, UnitReader, writeTotals } from './units.ts';

/** What is kept of an opening until a process accepts it, in case that it has to be opened elsewhere. */
export interface Opening {
  readonly json: Uint8Array;
  readonly body: Uint8Array;
  readonly deadlineMs: number;
  /** Awake time of the last try. */
  openedAt: number;
  /** The name of the one process that may serve it; null: any. */
  readonly to: string | null;
  /** The process it was sent to; null: the queue group chose. */
  target: string | null;
  readonly tried: Set<string>;
}

/** One `open`. */
export interface OpenCall {
  readonly subject: OpenSubject;
  readonly id: StreamId;
  readonly handlers: StreamHandlers<OpenSubject>;
  /** Awake time after which the bus ends the stream itself. */
  readonly endsAt: number;
  readonly opening: Opening;
  /** The last parcel of the body is out. */
  readonly bodySent: (() => void) | undefined;
}

/** The link of one opened stream, and the stream as pulses see it. */
export class NatsCallerLink implements StreamLink, SharedStream {
  readonly caller: StreamCaller<OpenSubject>;
  readonly subject: OpenSubject;
  readonly endsAt: number;
  private readonly host: StreamHost;
  private readonly books: StreamBooks;
  private readonly units = new UnitReader();
  private streamId: StreamId;
  private currentKey: number;
  private knownPeer: Peer | null = null;
  private pendingOpening: Opening | null;
  private sharedSince: number;
  /** The highest attempt received. */
  private attempt = 0;
  private sent = 0;
  private received = 0;
  private sentBytes = 0;
  private receivedBytes = 0;
  /** Bytes that the callee was given credit for, beyond the window. */
  private granted = 0;
  /** Where the unit that ends the stream began. */
  private endsAtFrame = 0;
  /** Body parcels are `parcel` frames; what follows them is `send`. */
  private parcelBytesLeft = 0;
  private readonly bodySent: (() => void) | undefined;
  /** The reason of a cancel before the callee was known. */
  private unsentCancel: string | null = null;

  constructor(host: StreamHost, books: StreamBooks, call: OpenCall) {
    this.host = host;
    this.books = books;
    this.subject = call.subject;
    this.endsAt = call.endsAt;
    this.pendingOpening = call.opening;
    this.bodySent = call.bodySent;
    this.streamId = call.id;
    this.currentKey = streamKey(call.id.number, call.id.salt);
    this.sharedSince = host.now;
    this.caller = new StreamCaller(this, call.handlers, host.logger);
  }

  get number(): number {
    return this.streamId.number;
  }

  get salt(): number {
    return this.streamId.salt;
  }

  get key(): number {
    return this.currentKey;
  }

  get id(): string {
    return this.currentKey.toString(36);
  }

  get cap(): number {
    return this.host.cap;
  }

  /** null until a process has accepted the stream. */
  get peer(): Peer | null {
    return this.knownPeer;
  }

  /** null once a process accepted it, or nobody wants it any more. */
  get opening(): Opening | null {
    return this.pendingOpening;
  }

  get since(): number {
    return this.sharedSince;
  }

  get sentFrames(): number {
    return this.sent;
  }

  get receivedFrames(): number {
    return this.received;
  }

  /** Opened again elsewhere: frames with the old id no longer match. */
  renew(id: StreamId): void {
    this.streamId = id;
    this.currentKey = streamKey(id.number, id.salt);
  }

  /** Its opening goes out only now. */
  restart(now: number): void {
    this.sharedSince = now;
  }

  /** The body follows the open in parcels, once a process has accepted the stream. */
  sendBody(body: Uint8Array): void {
    this.parcelBytesLeft += body.length;
    this.caller.send(body, 0);
  }

  send<K extends StreamKind>(kind: K, payload: StreamPayloads[K], flags: number): void {
    switch (kind) {
      case frameKind.send:
        return this.sendBytes(payload as Uint8Array, flags);
      case frameKind.sendEnd:
        return this.counted(frameKind.sendEnd, 0, writeTotals(this.sent, this.sentBytes));
      case frameKind.credit:
        if (!this.knownPeer) return;
        this.granted += payload as number;
        return this.uncounted(frameKind.credit, u32(payload as number));
      case frameKind.cancel:
        return this.sendCancel(payload as string);
      case frameKind.ack:
        if (this.knownPeer) this.host.peers.acknowledge(this.knownPeer, this.number, this.salt);
    }
  }

  close(): void {
    this.pendingOpening = null;
    this.books.ended();
    // Cancelled before the callee was known: it stays on the books until a process accepts it, or none does.
    if (this.unsentCancel === null) this.forget();
  }

  receive(frame: Frame): void {
    if (!this.recognise(frame)) return this.host.droppedBefore(1);
    const { kind } = frame;
    if (kind === frameKind.accept) {
      // The callee was late to read the opening, and begins when we confirm that we still want it.
      if (frame.payload.length >= 4) this.publish(frameKind.go, 0, sentNow(), frame.payload.subarray(0, 4));
      return;
    }
    if (kind === frameKind.credit) {
      if (frame.payload.length >= 4) this.caller.receive(kind, asBuffer(frame.payload).readUInt32LE(0), 0);
      return;
    }
    const take = takers[kind];
    if (!take) return;
    if (frame.attempt < this.attempt) return this.host.droppedBefore(1);
    if (frame.seq < this.received) return this.host.droppedBefore(1);
    if (frame.seq > this.received) return this.lost('frames were lost');
    this.attempt = frame.attempt;
    this.received++;
    try {
      take(this, frame);
    } catch (error) {
      // What the reader refused it has logged.
      if (!isGatewayError(error)) this.host.logger.warn({ error, kind }, 'a frame could not be read');
      this.lost('a frame could not be read');
    }
  }

  /** The other side, or frames, are gone. A cancel goes out in case the callee lives: its work for this stream is useless now. */
  lost(reason: string): void {
    if (this.caller.live && this.knownPeer) this.sendCancel(reason);
    this.fail(new GatewayError('service_lost', { cause: new Error(reason) }));
  }

  /** The deadline has passed: ends the stream on both sides. */
  expire(): void {
    if (this.knownPeer) this.sendCancel('deadline');
    this.fail(new GatewayError('timeout'));
  }

  /** Ends the stream on this side. */
  fail(error: GatewayError): void {
    this.caller.receive(frameKind.error, error, 0);
    // Also of a caller that had cancelled before the callee was known.
    this.forget();
  }

  takeHead(frame: Frame): void {
    const unit = this.units.add(frame);
    if (!unit) return;
    if ((frame.marks & frameMark.withData) === 0) return this.caller.receive(frameKind.head, this.read('head', unit, 0, unit.length), 0);
    const split = 4 + asBuffer(unit).readUInt32LE(0);
    this.caller.receive(frameKind.head, this.read('head', unit, 4, split), 0);
    this.takeBytes(unit.subarray(split), frame.flags);
  }

  takeData(frame: Frame): void {
    this.takeBytes(frame.payload, frame.flags);
  }

  takeWhole(frame: Frame): void {
    const unit = asBuffer(frame.payload);
    const tailAt = 8 + unit.readUInt32LE(0);
    const dataAt = tailAt + unit.readUInt32LE(4);
    const tail = this.read('tail', unit, tailAt, dataAt);
    const head = this.read('head', unit, 8, tailAt);
    this.caller.receive(frameKind.whole, { head, bytes: unit.subarray(dataAt), tail }, frame.flags);
  }

  takeTail(frame: Frame): void {
    const unit = this.takeEnd(frame);
    if (unit) this.caller.receive(frameKind.tail, this.read('tail', unit, totalsBytes, unit.length), 0);
  }

  takeError(frame: Frame): void {
    const unit = this.takeEnd(frame);
    if (!unit) return;
    const error = this.host.reader.read(`${this.subject} error`, errorShape, () => readJson(unit, totalsBytes)) as ErrorWire;
    this.caller.receive(frameKind.error, GatewayError.fromWire(error), 0);
  }

  private takeBytes(bytes: Uint8Array, flags: number): void {
    this.receivedBytes += bytes.length;
    if (this.receivedBytes - this.granted > replyWindow + frameCap) return this.lost('more came than there was credit for');
    this.caller.receive(frameKind.data, bytes, flags);
  }

  private read(part: 'head' | 'tail', bytes: Uint8Array, start: number, end: number): unknown {
    return this.host.reader.read(`${this.subject} ${part}`, openShapes[this.subject][part], () => readJson(bytes, start, end));
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
    if (!this.knownPeer) {
      if (frame.inbox === '') return false;
      const peer = this.host.peers.of(frame.inbox);
      if (!peer) return false;
      this.claim(peer);
    } else if (frame.inbox !== '' && frame.inbox !== this.knownPeer.inbox) return false;
    const peer = this.knownPeer;
    if (peer) peer.lastSeenAt = this.host.now;
    return this.caller.live;
  }

  private claim(peer: Peer): void {
    this.knownPeer = peer;
    this.pendingOpening = null;
    this.sharedSince = this.host.now;
    if (this.unsentCancel !== null) {
      this.sendCancel(this.unsentCancel);
      this.forget();
      return;
    }
    peer.begin(this.host.now);
    peer.calls.set(this.key, this);
    this.caller.release();
  }

  private sendBytes(bytes: Uint8Array, flags: number): void {
    this.sentBytes += bytes.length;
    if (this.parcelBytesLeft > 0) {
      this.parcelBytesLeft -= bytes.length;
      this.counted(frameKind.parcel, 0, bytes);
      chunkGarbage.add(bytes.length);
      if (this.parcelBytesLeft <= 0) this.bodySent?.();
    } else this.counted(frameKind.send, flags, bytes);
  }

  private sendCancel(reason: string): void {
    if (this.knownPeer) this.uncounted(frameKind.cancel, Buffer.from(reason.slice(0, 200)));
    else this.unsentCancel = reason;
  }

  private counted(kind: number, flags: number, payload: Uint8Array): void {
    this.publish(kind, flags, this.sent++, payload);
  }

  private uncounted(kind: number, payload: Uint8Array): void {
    this.publish(kind, 0, 0, payload);
  }

  private publish(kind: number, flags: number, seq: number, payload: Uint8Array): void {
    if (!this.knownPeer) return;
    const { number, salt, attempt } = this;
    this.host.publish(
      this.knownPeer.subject,
      writeFrame({ kind, flags, marks: frameMark.toCallee, attempt, number, salt, seq }, this.host.inboxBytes, [payload]),
    );
  }

  private forget(): void {
    this.knownPeer?.calls.delete(this.key);
    this.books.forget(this);
  }
}

/** Counted frames from the callee. Kinds not listed are ignored, so that neighbouring versions can talk. */
const takers: Record<number, (link: NatsCallerLink, frame: Frame) => void> = {
  [frameKind.head]: (link, frame) => link.takeHead(frame),
  [frameKind.data]: (link, frame) => link.takeData(frame),
  [frameKind.whole]: (link, frame) => link.takeWhole(frame),
  [frameKind.tail]: (link, frame) => link.takeTail(frame),
  [frameKind.error]: (link, frame) => link.takeError(frame),
};
