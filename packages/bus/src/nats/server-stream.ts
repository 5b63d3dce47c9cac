/** The callee's end of a stream: frames out, numbered and under credit; body and sends in; and whether the opener is still there. */
import { frameFlag, frameKind, type OpenSubjects } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import type { OpenSubject, ServerStream } from '../bus.ts';
import { bytesOf } from '../kit/bytes-of.ts';
import { CreditedQueue } from '../kit/credited-queue.ts';
import { frameCap, replyWindow, requestWindow, settleMs } from '../kit/limits.ts';
import { soon } from '../kit/soon.ts';
import type { Beginner } from './begins.ts';
import { asBuffer, type Frame, frameMark, jsonBytes, u32, writeFrame } from './frame.ts';
import { Gathering } from './gathering.ts';
import type { Peer, SharedStream } from './peers.ts';
import type { StreamBooks, StreamHost } from './stream-host.ts';
import type { StreamId } from './stream-id.ts';
import { streamKey } from './stream-id.ts';
import { cutUnit, totalsMatch, writeTotals } from './units.ts';

type Life = 'live' | 'ending' | 'ended';

const none = new Uint8Array(0);
/** A `go` is good for this long after it was asked for: for less than the silence after which the opener would have given us up. */
const goodForMs = 1500;

export class NatsServerStream<S extends OpenSubject> implements ServerStream<S>, SharedStream, Beginner {
  readonly number: number;
  readonly salt: number;
  readonly key: number;
  readonly peer: Peer;
  readonly deadlineMs: number;
  readonly since: number;
  sentFrames = 0;
  receivedFrames = 0;
  /** The opener knows who we are. */
  introduced = false;
  /** Awake time after which an unacknowledged tail counts as lost. */
  settlesBy = Number.POSITIVE_INFINITY;
  private readonly host: StreamHost;
  private readonly books: StreamBooks;
  private readonly down: CreditedQueue;
  private life: Life = 'live';
  private attempt = 0;
  private sentBytes = 0;
  private headSent = false;
  private waitingHead: Buffer | null = null;
  private waitingData: Uint8Array | null = null;
  private waitingFlags = 0;
  private tailSent = false;
  private settled: 'acknowledged' | 'lost' | null = null;
  private cancelReason: string | null = null;
  /** Of a body that comes in parcels. */
  gathering: Gathering | null = null;
  /** What begins with the opener's `go`, the number it has to name, and when it was asked for. */
  private begin: (() => void) | null = null;
  private goNumber = 0;
  private goAskedAt = 0;
  private receivedBytes = 0;
  private ungranted = 0;
  /** Bytes that the opener was given credit for, beyond the window. */
  private granted = 0;
  /** Sent by the opener before anybody listened; its credit bounds it. */
  private unheard: { bytes: Uint8Array; flags: number }[] = [];
  private dataEnded = false;
  private cancelCallback: ((reason: string) => void) | null = null;
  private settledCallback: ((how: 'acknowledged' | 'lost') => void) | null = null;
  private dataCallback: ((bytes: Uint8Array, flags: number) => void) | null = null;
  private dataEndCallback: (() => void) | null = null;

  constructor(host: StreamHost, books: StreamBooks, peer: Peer, id: StreamId, deadlineMs: number) {
    this.host = host;
    this.books = books;
    this.peer = peer;
    this.number = id.number;
    this.salt = id.salt;
    this.key = streamKey(id.number, id.salt);
    this.deadlineMs = deadlineMs;
    this.since = host.now;
    this.down = new CreditedQueue({
      window: replyWindow,
      cap: host.cap,
      endFlag: frameFlag.messageEnd,
      emit: (bytes, flags, attempt) => {
        this.sentBytes += bytes.length;
        this.counted(frameKind.data, flags, 0, [bytes], attempt);
      },
    });
    peer.begin(host.now);
    peer.served.set(this.key, this);
  }

  get id(): string {
    return this.key.toString(36);
  }

  get live(): boolean {
    return this.life !== 'ended';
  }

  /** Asks for the parcels of a large body; `done` gets it whole. */
  expectBody(bytes: number, done: (body: Uint8Array) => void): void {
    this.gathering = new Gathering(bytes, this.host.gatherBudget, this.host.now, done);
    this.accept();
  }

  /** Sends our inbox to the opener unless a frame already carried it. */
  accept(): void {
    if (!this.introduced && this.life !== 'ended') this.uncounted(frameKind.accept, none);
  }

  awaitGo(begin: () => void): void {
    if (this.life === 'ended') return;
    this.begin = begin;
    this.goAskedAt = performance.now();
    // With our inbox each time: an opener that has withdrawn must know where to send its cancel.
    this.introduced = false;
    this.uncounted(frameKind.accept, u32(++this.goNumber));
  }

  private takeGo(frame: Frame): void {
    const { begin } = this;
    if (!begin || frame.payload.length < 4 || asBuffer(frame.payload).readUInt32LE(0) !== this.goNumber) return;
    // A `go` that we are late to read says nothing of now.
    if (performance.now() - this.goAskedAt > goodForMs) return this.awaitGo(begin);
    this.begin = null;
    begin();
  }

  /** The rest of the body does not come. */
  giveUp(): void {
    this.gathering?.release();
    this.gathering = null;
    this.fail(new GatewayError('timeout'));
  }

  head(head: OpenSubjects[S]['head']): void {
    if (this.life !== 'live') return;
    if (this.headSent) throw new Error('a stream has one head');
    this.headSent = true;
    this.waitingHead = jsonBytes(head);
    // Data and tail of the same turn travel with it; later ones do not wait for each other.
    soon(() => this.flushHead());
  }

  data(piece: Uint8Array | string, flags = frameFlag.messageEnd as number): boolean {
    if (this.life !== 'live') return false;
    const bytes = bytesOf(piece);
    if (this.waitingHead && !this.waitingData && bytes.length > 0 && this.waitingHead.length + bytes.length + 8 <= this.host.cap) {
      this.waitingData = bytes;
      this.waitingFlags = flags;
      return this.down.charge(bytes.length);
    }
    this.flushHead();
    return this.down.push(bytes, flags, this.attempt);
  }

  onWritable(callback: () => void): void {
    this.down.onReady(() => this.guard(callback));
  }

  tail(tail: OpenSubjects[S]['tail']): void {
    if (this.life !== 'live') return;
    const json = jsonBytes(tail);
    this.tailSent = true;
    const { waitingHead, waitingData } = this;
    if (waitingHead && waitingHead.length + (waitingData?.length ?? 0) + json.length + 8 <= this.host.cap) {
      this.waitingHead = null;
      this.counted(frameKind.whole, this.waitingFlags, 0, [u32(waitingHead.length, json.length), waitingHead, json, waitingData ?? none], this.attempt);
      this.end();
      return;
    }
    this.flushHead();
    this.life = 'ending';
    this.down.end(() => this.sendEnd(frameKind.tail, json));
  }

  whole(head: OpenSubjects[S]['head'], bytes: Uint8Array, tail: OpenSubjects[S]['tail']): void {
    this.head(head);
    if (bytes.length > 0) this.data(bytes);
    this.tail(tail);
  }

  fail(error: GatewayError): void {
    if (this.life !== 'live') return;
    this.flushHead();
    this.life = 'ending';
    const json = jsonBytes(error.toWire());
    this.down.end(() => this.sendEnd(frameKind.error, json));
  }

  onCancel(callback: (reason: string) => void): void {
    this.cancelCallback = callback;
    const reason = this.cancelReason;
    if (reason !== null) this.guard(() => callback(reason));
  }

  onSettled(callback: (how: 'acknowledged' | 'lost') => void): void {
    this.settledCallback = callback;
    const how = this.settled;
    if (how) this.guard(() => callback(how));
    else if (this.life === 'ended' && this.tailSent) this.awaitSettlement();
  }

  onData(callback: (bytes: Uint8Array, flags: number) => void): void {
    this.dataCallback = callback;
    const waiting = this.unheard;
    this.unheard = [];
    for (const { bytes, flags } of waiting) this.guard(() => callback(bytes, flags));
    this.sendDataEnd();
    // The opener cannot send before it knows where to.
    if (!this.headSent) this.accept();
  }

  onDataEnd(callback: () => void): void {
    this.dataEndCallback = callback;
    this.sendDataEnd();
  }

  consumed(bytes: number): void {
    if (this.life === 'ended') return;
    this.ungranted += bytes;
    if (this.ungranted < requestWindow / 2) return;
    this.granted += this.ungranted;
    this.uncounted(frameKind.credit, u32(this.ungranted));
    this.ungranted = 0;
  }

  dropBefore(attempt: number): void {
    if (attempt <= this.attempt) return;
    this.flushHead();
    this.attempt = attempt;
    this.host.droppedBefore(this.down.dropBefore(attempt));
  }

  receive(frame: Frame): void {
    if (frame.inbox !== this.peer.inbox) return this.host.droppedBefore(1);
    this.peer.lastSeenAt = this.host.now;
    const { kind } = frame;
    if (kind === frameKind.cancel) return this.cancelled(asBuffer(frame.payload).toString('utf8', 0, 200));
    if (this.life === 'ended') return this.host.droppedBefore(1);
    if (kind === frameKind.go) return this.takeGo(frame);
    if (kind === frameKind.credit) {
      if (frame.payload.length >= 4) this.down.grant(asBuffer(frame.payload).readUInt32LE(0));
      return;
    }
    const take = takers[kind];
    if (!take) return;
    if (frame.seq < this.receivedFrames) return this.host.droppedBefore(1);
    if (frame.seq > this.receivedFrames) return this.breakOff('frames were lost');
    this.receivedFrames++;
    take(this as unknown as NatsServerStream<OpenSubject>, frame);
  }

  takeParcel({ payload }: Frame): void {
    const { gathering } = this;
    if (!gathering) return this.breakOff('a parcel of no body');
    const state = gathering.add(payload, this.host.now);
    if (state === 'long') return this.breakOff('more body than was announced');
    if (state === 'full') return this.fail(new GatewayError('overloaded', { message: 'The gateway has no memory left for another request body.' }));
    this.receivedBytes += payload.length;
    if (this.exceeds()) return;
    this.consumed(payload.length);
    if (state === 'more') return;
    this.gathering = null;
    gathering.finish();
  }

  /** Whether the opener has sent more than it had credit for: it is held to it, or its bytes would be ours to keep. */
  private exceeds(): boolean {
    if (this.receivedBytes - this.granted <= requestWindow + frameCap) return false;
    this.breakOff('more came than there was credit for');
    return true;
  }

  takeSend(frame: Frame): void {
    if (this.dataEnded) return this.breakOff('bytes after the end');
    this.receivedBytes += frame.payload.length;
    if (this.exceeds()) return;
    const { dataCallback } = this;
    if (dataCallback) this.guard(() => dataCallback(frame.payload, frame.flags));
    else this.unheard.push({ bytes: frame.payload, flags: frame.flags });
  }

  takeSendEnd(frame: Frame): void {
    if (!totalsMatch(asBuffer(frame.payload), frame.seq, this.receivedBytes)) return this.breakOff('the totals do not match');
    this.dataEnded = true;
    this.sendDataEnd();
  }

  lost(reason: string): void {
    this.cancelled(reason);
  }

  /** What came in is not what was sent: neither side can go on. */
  private breakOff(reason: string): void {
    const error = new GatewayError('service_lost');
    this.unit(frameKind.error, [writeTotals(this.sentFrames, this.sentBytes), jsonBytes(error.toWire())]);
    this.cancelled(reason);
  }

  /** The opener left. After the tail this only means that nobody will acknowledge it. */
  cancelled(reason: string): void {
    const { life } = this;
    this.end();
    if (this.tailSent) this.settle('lost');
    else if (life === 'live') {
      this.cancelReason = reason;
      const callback = this.cancelCallback;
      if (callback) this.guard(() => callback(reason));
    }
  }

  settle(how: 'acknowledged' | 'lost'): void {
    this.peer.unsettled.delete(this.key);
    if (this.settled || !this.tailSent) return;
    this.settled = how;
    const callback = this.settledCallback;
    if (callback) this.guard(() => callback(how));
  }

  private flushHead(): void {
    const { waitingHead, waitingData } = this;
    if (!waitingHead) return;
    this.waitingHead = null;
    this.waitingData = null;
    if (waitingData) {
      this.sentBytes += waitingData.length;
      this.counted(frameKind.head, this.waitingFlags, frameMark.withData, [u32(waitingHead.length), waitingHead, waitingData], this.attempt);
    } else this.unit(frameKind.head, [waitingHead]);
  }

  private sendEnd(kind: number, json: Buffer): void {
    this.unit(kind, [writeTotals(this.sentFrames, this.sentBytes), json]);
    this.end();
  }

  /** One unit, in parts when it is above the cap. */
  private unit(kind: number, parts: readonly Uint8Array[]): void {
    for (const part of cutUnit(parts, this.host.cap)) this.counted(kind, 0, part.more ? frameMark.more : 0, part.parts, this.attempt);
  }

  private counted(kind: number, flags: number, marks: number, parts: readonly Uint8Array[], attempt: number): void {
    this.publish(kind, flags, marks, attempt, this.sentFrames++, parts);
  }

  private uncounted(kind: number, payload: Uint8Array): void {
    this.publish(kind, 0, 0, this.attempt, 0, [payload]);
  }

  private publish(kind: number, flags: number, marks: number, attempt: number, seq: number, parts: readonly Uint8Array[]): void {
    const inbox = this.introduced ? none : this.host.inboxBytes;
    this.introduced = true;
    this.host.publish(this.peer.subject, writeFrame({ kind, flags, marks, attempt, number: this.number, salt: this.salt, seq }, inbox, parts));
  }

  /** Nothing more goes out. A tail whose callee wants to know stays on the books. */
  private end(): void {
    if (this.life === 'ended') return;
    this.life = 'ended';
    this.waitingHead = null;
    this.waitingData = null;
    this.unheard = [];
    this.gathering?.release();
    this.gathering = null;
    this.begin = null;
    this.down.close();
    this.peer.served.delete(this.key);
    if (this.tailSent && this.settledCallback) this.awaitSettlement();
    this.books.forget(this);
    this.books.ended();
  }

  private awaitSettlement(): void {
    this.settlesBy = this.host.now + settleMs;
    this.peer.begin(this.host.now);
    this.peer.unsettled.set(this.key, this);
    this.host.peers.keep(this.peer);
  }

  private sendDataEnd(): void {
    const callback = this.dataEndCallback;
    if (!callback || !this.dataEnded || this.unheard.length > 0 || this.life === 'ended') return;
    this.dataEndCallback = null;
    this.guard(callback);
  }

  private guard(callback: () => void): void {
    try {
      callback();
    } catch (error) {
      this.host.logger.error({ error }, 'a stream callback threw');
    }
  }
}

/** Counted frames from the opener. Kinds not listed are ignored, so that neighbouring versions can talk. */
const takers: Record<number, (stream: NatsServerStream<OpenSubject>, frame: Frame) => void> = {
  [frameKind.parcel]: (stream, frame) => stream.takeParcel(frame),
  [frameKind.send]: (stream, frame) => stream.takeSend(frame),
  [frameKind.sendEnd]: (stream, frame) => stream.takeSendEnd(frame),
};
