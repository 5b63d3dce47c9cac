/** Processes we share streams with: pulses between processes (not streams), batched acknowledgements, and detection of dead peers. */

import { NumberMap } from '@model-gateway/collections';
import { frameKind } from '@model-gateway/contracts';
import { asBuffer, type Frame, frameMark, u32, writeFrame } from './frame.ts';
import { PeerClock } from './peer-clock.ts';
import { streamKey } from './stream-id.ts';
import { frameSubject, isInbox } from './subjects.ts';

export const pulseMs = 1000;
export const silenceMs = 2500;
/** A peer without business is forgotten after this. */
const idleMs = 10_000;
/** Above this a pulse does not list its streams. */
const maxListed = 10_000;
/** An opener that has had this long to learn who serves its stream lists it. */
const introducedMs = 3000;
const maxPeers = 10_000;
/** Of those, when one more wants in. */
const maxExamined = 100;
const noStream = { flags: 0, marks: 0, attempt: 0, number: 0, salt: 0, seq: 0 };

/** One end of a live stream, as pulses see it. */
export interface SharedStream {
  readonly number: number;
  readonly salt: number;
  readonly key: number;
  /** Counted frames so far. */
  readonly sentFrames: number;
  readonly receivedFrames: number;
  /** When both ends knew each other, on our clock. */
  readonly since: number;
  /** The other end, or frames to us, are gone. */
  lost(reason: string): void;
}

/** A stream that has ended, for its callee, but for the acknowledgement of its tail. */
export interface UnsettledStream extends SharedStream {
  readonly settlesBy: number;
  settle(how: 'acknowledged' | 'lost'): void;
  cancelled(reason: string): void;
}

/** Another process, and the streams shared with it. */
export class Peer {
  readonly inbox: string;
  readonly subject: string;
  readonly calls = new NumberMap<SharedStream>();
  readonly served = new NumberMap<SharedStream>();
  /** Streams whose tail waits for its acknowledgement. */
  readonly unsettled = new NumberMap<UnsettledStream>();
  readonly clock = new PeerClock();
  lastSeenAt: number;
  pulsedAt: number;
  wantedUntil = 0;
  acks: number[] = [];

  constructor(inbox: string, now: number) {
    this.inbox = inbox;
    this.subject = frameSubject(inbox);
    this.lastSeenAt = now;
    this.pulsedAt = now;
  }

  get busy(): boolean {
    return this.calls.size > 0 || this.served.size > 0 || this.unsettled.size > 0;
  }

  /** Before the first shared stream after a pause: silence counts from here. */
  begin(now: number): void {
    if (this.busy) return;
    this.lastSeenAt = now;
    this.pulsedAt = now;
  }
}

/** What peers need of their bus. */
export interface PeersHost {
  readonly now: number;
  readonly inboxBytes: Uint8Array;
  publish(subject: string, frame: Uint8Array): boolean;
}

/** All processes that streams are shared with. */
export class Peers {
  private readonly host: PeersHost;
  private readonly known = new Map<string, Peer>();

  constructor(host: PeersHost) {
    this.host = host;
  }

  /** The peer of an inbox; null when it is not an inbox, or there are too many. */
  of(inbox: string): Peer | null {
    const peer = this.known.get(inbox);
    if (peer) return peer;
    if (!isInbox(inbox) || (this.known.size >= maxPeers && !this.evictIdle())) return null;
    const fresh = new Peer(inbox, this.host.now);
    this.known.set(inbox, fresh);
    return fresh;
  }

  /** Names cost their sender nothing, so a flood of them must not keep out a real peer: one without streams is evicted. */
  private evictIdle(): boolean {
    let looked = 0;
    for (const peer of this.known.values()) {
      if (!peer.busy && peer.acks.length === 0) return this.known.delete(peer.inbox);
      if (++looked === maxExamined) return false;
    }
    return false;
  }

  /** The peer goes on being pulsed and listened for. */
  keep(peer: Peer): void {
    this.known.set(peer.inbox, peer);
  }

  acknowledge(peer: Peer, number: number, salt: number): void {
    this.keep(peer);
    peer.acks.push(number, salt);
  }

  /** Every tick: acknowledgements out, pulses out, the silent declared dead. */
  tick(): void {
    const { now } = this.host;
    for (const peer of this.known.values()) {
      if (peer.acks.length > 0) this.flushAcks(peer);
      const { busy } = peer;
      if ((busy || peer.wantedUntil > now) && now - peer.pulsedAt >= pulseMs) this.pulse(peer);
      if (peer.unsettled.size > 0) settleOverdue(peer, now);
      if (busy && now - peer.lastSeenAt > silenceMs) this.bury(peer);
      else if (!busy && now - peer.lastSeenAt > idleMs) this.known.delete(peer.inbox);
    }
  }

  flushAllAcks(): void {
    for (const peer of this.known.values()) if (peer.acks.length > 0) this.flushAcks(peer);
  }

  receiveAcks(frame: Frame): void {
    const peer = this.known.get(frame.inbox);
    if (!peer) return;
    peer.lastSeenAt = this.host.now;
    const payload = asBuffer(frame.payload);
    for (let offset = 0; offset + 8 <= payload.length; offset += 8) {
      peer.unsettled.get(streamKey(payload.readUInt32LE(offset), payload.readUInt32LE(offset + 4)))?.settle('acknowledged');
    }
  }

  receivePulse(frame: Frame): void {
    const peer = this.of(frame.inbox);
    if (!peer) return;
    const { now } = this.host;
    peer.lastSeenAt = now;
    if ((frame.marks & frameMark.wanted) !== 0) {
      const first = peer.wantedUntil <= now;
      peer.wantedUntil = now + silenceMs;
      // A peer that only waits for an acknowledgement must not take our tick's delay for death.
      if (first && !peer.busy) this.pulse(peer);
    }
    if ((frame.marks & frameMark.more) !== 0) return;
    const payload = asBuffer(frame.payload);
    if (payload.length < 4) return;
    const calls = payload.readUInt32LE(0);
    if (4 + calls * 12 > payload.length) return;
    // The order of frames from one sender is kept, so what the pulse does not list, or counts higher, will not come any more.
    compare(peer.served, payload.subarray(4, 4 + calls * 12), now - introducedMs);
    compare(peer.calls, payload.subarray(4 + calls * 12), Number.POSITIVE_INFINITY);
  }

  /** Resolves when no tail waits for its acknowledgement any more. */
  async settled(): Promise<void> {
    while ([...this.known.values()].some((peer) => peer.unsettled.size > 0)) await new Promise((resolve) => setTimeout(resolve, 50));
  }

  /** The connection is gone: every shared stream is. */
  loseAll(reason: string): void {
    for (const peer of this.known.values()) loseStreams(peer, reason);
    this.known.clear();
  }

  private bury(peer: Peer): void {
    this.known.delete(peer.inbox);
    loseStreams(peer, 'the other side went silent');
  }

  private flushAcks(peer: Peer): void {
    const acks = peer.acks;
    peer.acks = [];
    for (let start = 0; start < acks.length; start += 16_000) {
      this.host.publish(peer.subject, writeFrame({ ...noStream, kind: frameKind.ack }, this.host.inboxBytes, [u32(...acks.slice(start, start + 16_000))]));
    }
  }

  private pulse(peer: Peer): void {
    peer.pulsedAt = this.host.now;
    const listed = peer.calls.size + peer.served.size <= maxListed;
    const marks = (peer.busy ? frameMark.wanted : 0) | (listed ? 0 : frameMark.more);
    const parts = listed ? [u32(peer.calls.size), listStreams(peer.calls), listStreams(peer.served)] : [];
    this.host.publish(peer.subject, writeFrame({ ...noStream, kind: frameKind.pulse, marks }, this.host.inboxBytes, parts));
  }
}

function settleOverdue(peer: Peer, now: number): void {
  for (const stream of peer.unsettled.values()) if (stream.settlesBy <= now) stream.settle('lost');
}

function listStreams(streams: NumberMap<SharedStream>): Buffer {
  const bytes = Buffer.allocUnsafe(streams.size * 12);
  let offset = 0;
  for (const stream of streams.values()) {
    bytes.writeUInt32LE(stream.number, offset);
    bytes.writeUInt32LE(stream.salt, offset + 4);
    bytes.writeUInt32LE(stream.sentFrames >>> 0, offset + 8);
    offset += 12;
  }
  return bytes;
}

/** `listed`: the streams that the other side has, with the frames it has sent. */
function compare(ours: NumberMap<SharedStream>, listed: Buffer, notSince: number): void {
  if (ours.size === 0) return;
  const theirs = new Map<number, number>();
  for (let offset = 0; offset + 12 <= listed.length; offset += 12) {
    theirs.set(streamKey(listed.readUInt32LE(offset), listed.readUInt32LE(offset + 4)), listed.readUInt32LE(offset + 8));
  }
  for (const stream of ours.values()) {
    const sent = theirs.get(stream.key);
    if (sent === undefined) {
      if (stream.since < notSince) stream.lost('the other side no longer has the stream');
    } else if (sent !== stream.receivedFrames >>> 0) stream.lost('frames were lost');
  }
}

function loseStreams(peer: Peer, reason: string): void {
  for (const streams of [peer.calls, peer.served, peer.unsettled]) {
    for (const stream of streams.values()) stream.lost(reason);
    streams.clear();
  }
}
