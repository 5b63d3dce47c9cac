/** The callee's link over NATS: numbered frames to the opener, its body and sends, the checks of what comes, and the question whether to begin. */
import { frameKind } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import type { OpenSubject } from '../bus.ts';
import { bytesOf } from '../kit/bytes-of.ts';
import { frameCap, requestWindow, settleMs } from '../kit/limits.ts';
import { soon } from '../kit/soon.ts';
import { StreamCallee } from '../stream/callee.ts';
import type { CalleeLink, StreamKind, StreamPayloads } from '../stream/link.ts';
import type { Beginner } from './begins.ts';
import { asBuffer, type Frame, type FrameHeader, frameMark, jsonBytes, u32, writeFrame } from './frame.ts';
import { Gathering } from './gathering.ts';
import type { Peer, UnsettledStream } from './peers.ts';
import type { StreamBooks, StreamHost } from './stream-host.ts';
import { type StreamId, streamKey } from './stream-id.ts';
import { cutUnit, totalsMatch, writeTotals } from './units.ts';

const none = new Uint8Array(0);
/** A `go` is good for this long after it was asked for: for less than the silence after which the opener would have given us up. */
const goodForMs = 1500;

/** An open that came in. */
export interface AcceptedOpen {
  readonly peer: Peer;
  readonly id: StreamId;
  readonly deadlineMs: number;
}

/** The link of one served stream, and the stream as pulses see it. */
export class NatsCalleeLink implements CalleeLink, UnsettledStream, Beginner {
  readonly carriesWhole = false;
  readonly callee: StreamCallee<OpenSubject>;
  readonly number: number;
  readonly salt: number;
  readonly key: number;
  readonly peer: Peer;
  readonly since: number;
  private readonly host: StreamHost;
  private readonly books: StreamBooks;
  /** The opener knows our inbox. */
  private introducedYet = false;
  private settlesAt = Number.POSITIVE_INFINITY;
  private sent = 0;
  private received = 0;
  private sentBytes = 0;
  private receivedBytes = 0;
  /** Bytes that the opener was given credit for, beyond the window. */
  private granted = 0;
  /** Of the last frame. */
  private attempt = 0;
  /** Head and first data of this turn: with the tail of the same turn they make one frame. */
  private waitingHead: Buffer | null = null;
  private waitingData: Uint8Array | null = null;
  private waitingFlags = 0;
  private body: Gathering | null = null;
  private sendEnded = false;
  /** What begins with the opener's `go`, the number it has to name, and when it was asked for. */
  private begin: (() => void) | null = null;
  private goNumber = 0;
  private goAskedAt = 0;

  constructor(host: StreamHost, books: StreamBooks, { peer, id, deadlineMs }: AcceptedOpen) {
    this.host = host;
    this.books = books;
    this.peer = peer;
    this.number = id.number;
    this.salt = id.salt;
    this.key = streamKey(id.number, id.salt);
    this.since = host.now;
    this.callee = new StreamCallee(this, deadlineMs, host);
    peer.begin(host.now);
    peer.served.set(this.key, this);
  }

  get id(): string {
    return this.key.toString(36);
  }

  get cap(): number {
    return this.host.cap;
  }

  get live(): boolean {
    return this.callee.live;
  }

  get introduced(): boolean {
    return this.introducedYet;
  }

  get sentFrames(): number {
    return this.sent;
  }

  get receivedFrames(): number {
    return this.received;
  }

  /** Awake time after which an unacknowledged tail counts as lost. */
  get settlesBy(): number {
    return this.settlesAt;
  }

  /** The body that comes in parcels; null when there is none, or it is whole. */
  get gathering(): Gathering | null {
    return this.body;
  }

  /** Asks for the parcels of a large body; `done` gets it whole. */
  expectBody(bytes: number, done: (body: Uint8Array) => void): void {
    this.body = new Gathering(bytes, this.host.gatherBudget, this.host.now, done);
    this.accept();
  }

  /** The rest of the body does not come. */
  giveUp(): void {
    this.body?.release();
    this.body = null;
    this.callee.fail(new GatewayError('timeout'));
  }

  /** Sends our inbox to the opener unless a frame already carried it. */
  accept(): void {
    if (!this.introducedYet && this.live) this.uncounted(frameKind.accept, none);
  }

  awaitGo(begin: () => void): void {
    if (!this.live) return;
    this.begin = begin;
    this.goAskedAt = performance.now();
    // With our inbox each time: an opener that has withdrawn must know where to send its cancel.
    this.introducedYet = false;
    this.uncounted(frameKind.accept, u32(++this.goNumber));
  }

  encode(kind: number, message: unknown): Buffer {
    return jsonBytes(kind === frameKind.error ? (message as GatewayError).toWire() : message);
  }

  send<K extends StreamKind>(kind: K, payload: StreamPayloads[K], flags: number, attempt: number): void {
    // A frame of a new attempt does not travel with the head of an earlier one.
    if (attempt !== this.attempt) this.flushHead();
    this.attempt = attempt;
    switch (kind) {
      case frameKind.data:
        return this.sendData(bytesOf(payload as Uint8Array | string), flags);
      case frameKind.head:
        this.waitingHead = payload as Buffer;
        // Data and tail of the same turn travel with it; later ones do not wait for each other.
        return soon(() => this.flushHead());
      case frameKind.tail:
        return this.sendTail(payload as Buffer);
      case frameKind.error:
        this.flushHead();
        return this.sendUnit(frameKind.error, [writeTotals(this.sent, this.sentBytes), payload as Buffer]);
      case frameKind.credit:
        this.granted += payload as number;
        return this.uncounted(frameKind.credit, u32(payload as number));
      case frameKind.accept:
        this.accept();
    }
  }

  close(): void {
    this.waitingHead = null;
    this.waitingData = null;
    this.body?.release();
    this.body = null;
    this.begin = null;
    this.peer.served.delete(this.key);
    this.books.forget(this);
    this.books.ended();
  }

  awaitAcknowledgement(): void {
    this.settlesAt = this.host.now + settleMs;
    this.peer.begin(this.host.now);
    this.peer.unsettled.set(this.key, this);
    this.host.peers.keep(this.peer);
  }

  receive(frame: Frame): void {
    if (frame.inbox !== this.peer.inbox) return this.host.droppedBefore(1);
    this.peer.lastSeenAt = this.host.now;
    const { kind } = frame;
    if (kind === frameKind.cancel) return this.cancelled(asBuffer(frame.payload).toString('utf8', 0, 200));
    if (!this.live) return this.host.droppedBefore(1);
    if (kind === frameKind.go) return this.takeGo(frame);
    if (kind === frameKind.credit) {
      if (frame.payload.length >= 4) this.callee.receive(kind, asBuffer(frame.payload).readUInt32LE(0), 0);
      return;
    }
    const take = takers[kind];
    if (!take) return;
    if (frame.seq < this.received) return this.host.droppedBefore(1);
    if (frame.seq > this.received) return this.breakOff('frames were lost');
    this.received++;
    take(this, frame);
  }

  takeParcel({ payload }: Frame): void {
    const { body } = this;
    if (!body) return this.breakOff('a parcel of no body');
    const state = body.add(payload, this.host.now);
    if (state === 'long') return this.breakOff('more body than was announced');
    if (state === 'full') return this.callee.fail(new GatewayError('overloaded', { message: 'The gateway has no memory left for another request body.' }));
    this.receivedBytes += payload.length;
    if (this.exceeds()) return;
    this.callee.consumed(payload.length);
    if (state === 'more') return;
    this.body = null;
    body.finish();
  }

  takeSend(frame: Frame): void {
    if (this.sendEnded) return this.breakOff('bytes after the end');
    this.receivedBytes += frame.payload.length;
    if (!this.exceeds()) this.callee.receive(frameKind.send, frame.payload, frame.flags);
  }

  takeSendEnd(frame: Frame): void {
    if (!totalsMatch(asBuffer(frame.payload), frame.seq, this.receivedBytes)) return this.breakOff('the totals do not match');
    this.sendEnded = true;
    this.callee.receive(frameKind.sendEnd, null, 0);
  }

  lost(reason: string): void {
    this.cancelled(reason);
  }

  /** The opener left. After the tail this only means that nobody will acknowledge it. */
  cancelled(reason: string): void {
    this.peer.unsettled.delete(this.key);
    this.callee.receive(frameKind.cancel, reason, 0);
  }

  settle(how: 'acknowledged' | 'lost'): void {
    if (how === 'lost') return this.cancelled('the tail was not acknowledged in time');
    this.peer.unsettled.delete(this.key);
    this.callee.receive(frameKind.ack, null, 0);
  }

  private takeGo(frame: Frame): void {
    const { begin } = this;
    if (!begin || frame.payload.length < 4 || asBuffer(frame.payload).readUInt32LE(0) !== this.goNumber) return;
    const roundTripMs = performance.now() - this.goAskedAt;
    this.peer.clock.learn(frame.seq, roundTripMs);
    // A `go` that we are late to read says nothing of now.
    if (roundTripMs > goodForMs) return this.awaitGo(begin);
    this.begin = null;
    begin();
  }

  /** Whether the opener has sent more than it had credit for: it is held to it, or its bytes would be ours to keep. */
  private exceeds(): boolean {
    if (this.receivedBytes - this.granted <= requestWindow + frameCap) return false;
    this.breakOff('more came than there was credit for');
    return true;
  }

  /** What came in is not what was sent: neither side can go on. */
  private breakOff(reason: string): void {
    this.sendUnit(frameKind.error, [writeTotals(this.sent, this.sentBytes), jsonBytes(new GatewayError('service_lost').toWire())]);
    this.cancelled(reason);
  }

  private sendData(bytes: Uint8Array, flags: number): void {
    if (this.waitingHead && !this.waitingData && bytes.length > 0 && this.waitingHead.length + bytes.length + 8 <= this.host.cap) {
      this.waitingData = bytes;
      this.waitingFlags = flags;
      return;
    }
    this.flushHead();
    this.sentBytes += bytes.length;
    this.counted(frameKind.data, flags, 0, [bytes]);
  }

  private sendTail(json: Buffer): void {
    const { waitingHead, waitingData } = this;
    if (waitingHead && waitingHead.length + (waitingData?.length ?? 0) + json.length + 8 <= this.host.cap) {
      this.waitingHead = null;
      this.counted(frameKind.whole, waitingData ? this.waitingFlags : 0, 0, [u32(waitingHead.length, json.length), waitingHead, json, waitingData ?? none]);
      return;
    }
    this.flushHead();
    this.sendUnit(frameKind.tail, [writeTotals(this.sent, this.sentBytes), json]);
  }

  private flushHead(): void {
    const { waitingHead, waitingData } = this;
    if (!waitingHead) return;
    this.waitingHead = null;
    this.waitingData = null;
    if (waitingData) {
      this.sentBytes += waitingData.length;
      this.counted(frameKind.head, this.waitingFlags, frameMark.withData, [u32(waitingHead.length), waitingHead, waitingData]);
    } else this.sendUnit(frameKind.head, [waitingHead]);
  }

  /** One unit, in parts when it is above the cap. */
  private sendUnit(kind: number, parts: readonly Uint8Array[]): void {
    for (const part of cutUnit(parts, this.host.cap)) this.counted(kind, 0, part.more ? frameMark.more : 0, part.parts);
  }

  private counted(kind: number, flags: number, marks: number, parts: readonly Uint8Array[]): void {
    this.publish({ kind, flags, marks, attempt: this.attempt, number: this.number, salt: this.salt, seq: this.sent++ }, parts);
  }

  private uncounted(kind: number, payload: Uint8Array): void {
    this.publish({ kind, flags: 0, marks: 0, attempt: this.attempt, number: this.number, salt: this.salt, seq: 0 }, [payload]);
  }

  private publish(header: FrameHeader, parts: readonly Uint8Array[]): void {
    const inbox = this.introducedYet ? none : this.host.inboxBytes;
    this.introducedYet = true;
    this.host.publish(this.peer.subject, writeFrame(header, inbox, parts));
  }
}

/** Counted frames from the opener. Kinds not listed are ignored, so that neighbouring versions can talk. */
const takers: Record<number, (link: NatsCalleeLink, frame: Frame) => void> = {
  [frameKind.parcel]: (link, frame) => link.takeParcel(frame),
  [frameKind.send]: (link, frame) => link.takeSend(frame),
  [frameKind.sendEnd]: (link, frame) => link.takeSendEnd(frame),
};
