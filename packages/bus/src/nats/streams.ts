/** All streams of a process: opens them, accepts them, and hands each frame to the stream it belongs to. */

import { NumberMap } from '@model-gateway/collections';
import { frameKind, openShapes } from '@model-gateway/contracts';
import { GatewayError, toGatewayError } from '@model-gateway/contracts/errors';
import type { OpenOptions, OpenSubject, ServerStream, StreamCall, StreamHandlers } from '../bus.ts';
import { tickMs } from '../kit/clock.ts';
import { InFlight } from '../kit/in-flight.ts';
import { deadlineGraceMs, noDeadlineMs } from '../kit/limits.ts';
import { soon } from '../kit/soon.ts';
import type { StreamCallee } from '../stream/callee.ts';
import { Begins } from './begins.ts';
import { BodyGate } from './body-gate.ts';
import { NatsCalleeLink } from './callee-link.ts';
import { NatsCallerLink, type Opening } from './caller-link.ts';
import { asBuffer, type Frame, frameMark, jsonBytes, readJson, u32, writeFrame } from './frame.ts';
import { sentNow } from './peer-clock.ts';
import { silenceMs } from './peers.ts';
import { callSubject } from './servers.ts';
import type { StreamBooks, StreamHost } from './stream-host.ts';
import { mintStreamId, streamKey } from './stream-id.ts';
import { answerSubject, frameSubject, isInbox, namedSubject, subjectOf } from './subjects.ts';

/** A callee that has sent nothing for this long sends its inbox. */
const acceptMs = 200;
/** An opener that received nothing for this long withdraws its opening and opens elsewhere. Twice as long as a callee may take to begin unasked. */
const withdrawMs = 500;
/** A body that was announced and stops coming is given up. */
const stalledBodyMs = 10_000;
const openHead = 12;
/** Larger bodies wait for one another. */
const largeBodyBytes = 4 * 1024 * 1024;
const largeBodiesAtOnce = 2;
const none = new Uint8Array(0);

/** What the streams of a process need of their bus. */
export interface StreamsHost extends StreamHost {
  readonly inbox: string;
  publish(subject: string, frame: Uint8Array, reply?: string): boolean;
}

type OpenHandler = (request: unknown, body: Uint8Array, stream: ServerStream<OpenSubject>) => unknown;

/** The streams of a process, opened and served. */
export class Streams {
  readonly calls = new InFlight();
  readonly served = new InFlight();
  /** Set when the bus closes: nothing new is opened. */
  refusing = false;
  private readonly host: StreamsHost;
  private readonly begins: Begins;
  private readonly callBooks: StreamBooks;
  private readonly largeBodies = new BodyGate<NatsCallerLink>(largeBodiesAtOnce);
  private readonly servedBooks = new WeakMap<InFlight, StreamBooks>();
  private readonly callsByKey = new NumberMap<NatsCallerLink>();
  private readonly servedByKey = new NumberMap<NatsCalleeLink>();

  constructor(host: StreamsHost) {
    this.host = host;
    this.begins = new Begins(host.trips);
    this.callBooks = { ended: () => this.calls.leave(), forget: (call) => this.forget(call as NatsCallerLink) };
  }

  private forget(call: NatsCallerLink): void {
    this.callsByKey.delete(call.key);
    this.largeBodies.leave(call);
  }

  open<S extends OpenSubject>(subject: S, request: unknown, handlers: StreamHandlers<S>, options?: OpenOptions): StreamCall {
    const { host } = this;
    const deadlineMs = Math.min(options?.deadlineMs ?? noDeadlineMs, noDeadlineMs);
    const endsAt = options?.deadlineMs === undefined ? Number.POSITIVE_INFINITY : host.now + deadlineMs + deadlineGraceMs + tickMs;
    const json = jsonBytes(request);
    const body = options?.body ?? none;
    const opening: Opening = { json, body, deadlineMs, openedAt: host.now, to: options?.to ?? null, target: null, tried: new Set() };
    const bodySent = (): void => {
      options?.bodySent?.();
      this.largeBodies.leave(call);
    };
    const own = { id: mintStreamId(), handlers: handlers as StreamHandlers<OpenSubject>, bodySent };
    const call: NatsCallerLink = new NatsCallerLink(host, this.callBooks, { subject, ...own, endsAt, opening });
    this.callsByKey.set(call.key, call);
    this.calls.enter();
    if (json.length + openHead > host.cap) call.sendBody(Buffer.concat([json, body]));
    else if (json.length + body.length + openHead > host.cap) call.sendBody(body);
    const begin = (): void => this.send(call, opening, opening.to === null ? host.servers.choose(subject) : null);
    if (body.length <= largeBodyBytes) begin();
    else this.largeBodies.enter(call, () => this.beginLate(call, opening, begin));
    return call.caller;
  }

  /** What waited is as good as opened now; one whose opener has left meanwhile is not opened at all. */
  private beginLate(call: NatsCallerLink, opening: Opening, begin: () => void): void {
    if (this.dropDeserted(call)) return;
    call.restart(this.host.now);
    opening.openedAt = this.host.now;
    begin();
  }

  private dropDeserted(call: NatsCallerLink): boolean {
    if (call.caller.live) return false;
    call.lost('the opener left');
    return true;
  }

  /** `target`: one process, or null for the queue group, or the process that is named. */
  private send(call: NatsCallerLink, opening: Opening, target: string | null): void {
    const { host } = this;
    const { json, body } = opening;
    opening.target = target;
    if (target !== null) opening.tried.add(target);
    const inlineRequest = json.length + openHead <= host.cap;
    const inlineBody = json.length + body.length + openHead <= host.cap;
    const marks = frameMark.toCallee | (inlineBody ? 0 : frameMark.parcels);
    const header = { kind: frameKind.open, flags: 0, marks, attempt: 0, number: call.number, salt: call.salt, seq: sentNow() };
    const left = Math.max(1, opening.deadlineMs - Math.round(host.now - call.since));
    const parts = [u32(left, json.length, body.length), inlineRequest ? json : none, inlineBody ? body : none];
    const subject = opening.to === null ? callSubject(call.subject, target) : namedSubject(subjectOf(call.subject), opening.to);
    const sent = !this.refusing && !host.trips.hung && host.publish(subject, writeFrame(header, host.inboxBytes, parts), answerSubject(host.inbox, call.key));
    if (!sent) soon(() => call.fail(new GatewayError('service_unavailable')));
  }

  /** Not accepted in time: a process that reads it late asks whether it still holds, and gets a cancel. */
  private withdraw(call: NatsCallerLink, opening: Opening): void {
    const { host } = this;
    if (opening.target !== null) host.servers.missed(opening.target);
    this.callsByKey.delete(call.key);
    call.renew(mintStreamId());
    this.callsByKey.set(call.key, call);
    opening.openedAt = host.now;
    this.send(call, opening, host.servers.choose(call.subject, opening.tried));
  }

  /** Serves one open. */
  accept(subject: OpenSubject, handler: OpenHandler, frame: Frame, inFlight: InFlight): void {
    if (frame.kind !== frameKind.open || frame.payload.length < openHead) return this.host.droppedBefore(1);
    const peer = this.host.peers.of(frame.inbox);
    if (!peer || this.servedByKey.has(streamKey(frame.number, frame.salt))) return this.host.droppedBefore(1);
    const payload = asBuffer(frame.payload);
    const stream = new NatsCalleeLink(this.host, this.booksOf(inFlight), { peer, id: frame, deadlineMs: payload.readUInt32LE(0) });
    this.servedByKey.set(stream.key, stream);
    inFlight.enter();
    this.served.enter();
    const arrival = { readAt: performance.now(), fresh: peer.clock.isFresh(frame.seq) };
    this.gather(frame, payload, stream, (request, body) => {
      const begin = () => this.run(() => handler(this.readRequest(subject, request), body, stream.callee), stream.callee);
      // Of a version that cannot be asked.
      if (frame.level === 0) begin();
      else this.begins.add(stream, arrival, begin);
    });
  }

  /** A frame of a stream, from either side. */
  receive(frame: Frame): void {
    const key = streamKey(frame.number, frame.salt);
    const toCallee = (frame.marks & frameMark.toCallee) !== 0;
    const end = toCallee ? this.servedByKey.get(key) : this.callsByKey.get(key);
    if (end instanceof NatsCallerLink && frame.inbox !== '') this.host.servers.received(end.subject, frame.inbox);
    if (end) return end.receive(frame);
    if (!toCallee && frame.kind === frameKind.accept) this.decline(frame);
    const unsettled = frame.kind === frameKind.cancel ? this.host.peers.of(frame.inbox)?.unsettled.get(key) : undefined;
    if (unsettled) unsettled.cancelled('the opener left');
    else this.host.droppedBefore(1);
  }

  /** A process that accepts a stream that was withdrawn, or is over, gets a cancel. */
  private decline({ inbox, number, salt }: Frame): void {
    if (!isInbox(inbox)) return;
    const header = { kind: frameKind.cancel, flags: 0, marks: frameMark.toCallee, attempt: 0, number, salt, seq: 0 };
    this.host.publish(frameSubject(inbox), writeFrame(header, this.host.inboxBytes, [Buffer.from('withdrawn')]));
  }

  /** Whether the id was a stream's: the server found nobody where it was opened. */
  noResponders(key: number): boolean {
    const call = this.callsByKey.get(key);
    if (!call) return false;
    const { opening } = call;
    if (opening?.target && call.caller.live) {
      this.host.servers.gone(call.subject, opening.target);
      this.send(call, opening, this.host.servers.choose(call.subject, opening.tried));
    } else call.fail(new GatewayError('service_unavailable'));
    return true;
  }

  /** Nobody took the stream. A named process that reads the opening later asks before it begins, and learns that nobody wants it: nothing ran, and another may be asked. */
  private desert(call: NatsCallerLink): void {
    if (call.caller.live && call.opening !== null && call.opening.to !== null) call.fail(new GatewayError('service_unavailable'));
    else call.lost('nobody took the stream');
  }

  /** Calls that nobody has accepted cannot be any more. */
  loseUnaccepted(reason: string): void {
    for (const call of this.callsByKey.values()) if (!call.peer) call.lost(reason);
  }

  tick(): void {
    const { now } = this.host;
    for (const call of this.callsByKey.values()) {
      if (call.endsAt <= now) call.expire();
      else if (this.largeBodies.isWaiting(call)) this.dropDeserted(call);
      else if (call.peer) continue;
      else if (now - call.since > silenceMs) this.desert(call);
      else if (call.opening?.to === null && call.caller.live && now - call.opening.openedAt >= withdrawMs) this.withdraw(call, call.opening);
    }
    for (const stream of this.servedByKey.values()) {
      if (!stream.introduced && now - stream.since >= acceptMs) stream.accept();
      if (stream.gathering && now - stream.gathering.lastSeenAt > stalledBodyMs) stream.giveUp();
    }
  }

  /** The connection is gone, or the bus closes: every stream ends now. */
  loseAll(reason: string): void {
    for (const call of this.callsByKey.values()) call.lost(reason);
    for (const stream of this.servedByKey.values()) stream.cancelled(reason);
  }

  /** The request and body, at once or when their parcels are here. */
  private gather(frame: Frame, payload: Buffer, stream: NatsCalleeLink, then: (request: () => unknown, body: Uint8Array) => void): void {
    const requestBytes = payload.readUInt32LE(4);
    const bodyBytes = payload.readUInt32LE(8);
    if (bodyBytes + requestBytes > this.host.maxBodyBytes) return stream.callee.fail(new GatewayError('payload_too_large'));
    const bodyAt = openHead + requestBytes;
    if ((frame.marks & frameMark.parcels) === 0) {
      if (payload.length !== bodyAt + bodyBytes) return stream.callee.fail(new GatewayError('service_lost'));
      then(() => readJson(payload, openHead, bodyAt), payload.subarray(bodyAt));
    } else if (payload.length >= bodyAt) {
      stream.expectBody(bodyBytes, (body) => then(() => readJson(payload, openHead, bodyAt), body));
    } else {
      stream.expectBody(requestBytes + bodyBytes, (all) => then(() => readJson(all, 0, requestBytes), all.subarray(requestBytes)));
    }
  }

  private readRequest(subject: OpenSubject, parse: () => unknown): unknown {
    return this.host.reader.read(`${subject} request`, openShapes[subject].request, parse);
  }

  /** Calls the handler; what it throws, or rejects with, ends the stream. */
  private run(handle: () => unknown, stream: StreamCallee<OpenSubject>): void {
    const failed = (error: unknown) => {
      const answer = toGatewayError(error);
      if (answer !== error) this.host.logger.error({ error }, 'a handler threw');
      stream.fail(answer);
    };
    try {
      const running = handle() as PromiseLike<unknown> | undefined;
      if (typeof running?.then === 'function') running.then(undefined, failed);
    } catch (error) {
      failed(error);
    }
  }

  private booksOf(inFlight: InFlight): StreamBooks {
    const known = this.servedBooks.get(inFlight);
    if (known) return known;
    const books: StreamBooks = {
      ended: () => {
        inFlight.leave();
        this.served.leave();
      },
      forget: ({ key }) => void this.servedByKey.delete(key),
    };
    this.servedBooks.set(inFlight, books);
    return books;
  }
}
