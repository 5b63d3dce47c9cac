/** All streams of a process: opens them, accepts them, and hands each frame to the end it belongs to. */
import { frameKind, openShapes } from '@model-gateway/contracts';
import { GatewayError, toGatewayError } from '@model-gateway/errors';
import { Directory } from '@model-gateway/roster';
import type { OpenSubject, ServerStream, StreamCall, StreamHandlers } from '../bus.ts';
import { InFlight } from '../kit/in-flight.ts';
import { deadlineGraceMs, noDeadlineMs } from '../kit/limits.ts';
import { soon } from '../kit/soon.ts';
import { Call } from './call.ts';
import { tickMs } from './clock.ts';
import { asBuffer, type Frame, frameMark, jsonBytes, readFrame, readJson, u32, writeFrame } from './frame.ts';
import { silenceMs } from './peers.ts';
import { Served } from './served.ts';
import type { StreamBooks, StreamHost } from './stream-host.ts';
import { mintStreamId, streamKey } from './stream-id.ts';
import { answerSubject, subjectOf } from './subjects.ts';

/** A callee that has said nothing for this long says who it is. */
const acceptMs = 200;
const openHead = 12;
const none = new Uint8Array(0);

export interface StreamsHost extends StreamHost {
  readonly inbox: string;
  publish(subject: string, frame: Uint8Array, reply?: string): boolean;
}

type OpenHandler = (request: unknown, body: Uint8Array, stream: ServerStream<OpenSubject>) => unknown;

export class Streams {
  readonly calls = new InFlight();
  readonly served = new InFlight();
  /** Set when the bus closes: nothing new is opened. */
  refusing = false;
  private readonly host: StreamsHost;
  private readonly callBooks: StreamBooks;
  private readonly servedBooks = new WeakMap<InFlight, StreamBooks>();
  private readonly callsByKey = new Directory<Call<OpenSubject>>();
  private readonly servedByKey = new Directory<Served<OpenSubject>>();

  constructor(host: StreamsHost) {
    this.host = host;
    this.callBooks = { ended: () => this.calls.leave(), forget: ({ key }) => void this.callsByKey.delete(key) };
  }

  open<S extends OpenSubject>(subject: S, request: unknown, handlers: StreamHandlers<S>, options?: { body?: Uint8Array; deadlineMs?: number }): StreamCall {
    const { host } = this;
    const deadlineMs = Math.min(options?.deadlineMs ?? noDeadlineMs, noDeadlineMs);
    const endsAt = options?.deadlineMs === undefined ? Number.POSITIVE_INFINITY : host.now + deadlineMs + deadlineGraceMs + tickMs;
    const call = new Call(host, this.callBooks, subject, mintStreamId(), handlers, endsAt);
    this.callsByKey.set(call.key, call as unknown as Call<OpenSubject>);
    this.calls.enter();
    const json = jsonBytes(request);
    const body = options?.body ?? none;
    const inlineRequest = json.length + openHead <= host.cap;
    const inlineBody = json.length + body.length + openHead <= host.cap;
    const marks = frameMark.toCallee | (inlineBody ? 0 : frameMark.parcels);
    const header = { kind: frameKind.open, flags: 0, marks, attempt: 0, number: call.number, salt: call.salt, seq: 0 };
    const parts = [u32(deadlineMs, json.length, body.length), inlineRequest ? json : none, inlineBody ? body : none];
    const sent = !this.refusing && host.publish(subjectOf(subject), writeFrame(header, host.inboxBytes, parts), answerSubject(host.inbox, call.key));
    if (!sent) soon(() => call.hearBroken(new GatewayError('service_unavailable')));
    else if (!inlineRequest) call.sendBody(Buffer.concat([json, body]));
    else if (!inlineBody) call.sendBody(body);
    return call;
  }

  /** Serves one open. */
  accept(subject: OpenSubject, handler: OpenHandler, data: Uint8Array, door: InFlight): void {
    const frame = readFrame(data);
    if (!frame || frame.kind !== frameKind.open || frame.payload.length < openHead) return this.host.fenced(1);
    const peer = this.host.peers.of(frame.inbox);
    if (!peer || this.servedByKey.has(streamKey(frame.number, frame.salt))) return this.host.fenced(1);
    const payload = asBuffer(frame.payload);
    const deadlineMs = payload.readUInt32LE(0);
    const stream = new Served<OpenSubject>(this.host, this.booksOf(door), peer, frame, deadlineMs);
    this.servedByKey.set(stream.key, stream);
    door.enter();
    this.served.enter();
    this.gather(frame, payload, stream, (request, body) => this.run(subject, handler, request, body, stream));
  }

  /** A frame of a stream, from either side. */
  hear(frame: Frame): void {
    const key = streamKey(frame.number, frame.salt);
    const end = (frame.marks & frameMark.toCallee) === 0 ? this.callsByKey.get(key) : this.servedByKey.get(key);
    if (end) return end.hear(frame);
    const unsettled = frame.kind === frameKind.cancel ? this.host.peers.of(frame.inbox)?.unsettled.get(key) : undefined;
    if (unsettled) unsettled.cancelled('the opener left');
    else this.host.fenced(1);
  }

  /** Whether the id was a stream's: the server found nobody who listens. */
  noResponders(key: number): boolean {
    const call = this.callsByKey.get(key);
    call?.hearBroken(new GatewayError('service_unavailable'));
    return call !== undefined;
  }

  tick(): void {
    const { now } = this.host;
    for (const call of this.callsByKey.values()) {
      if (call.endsAt <= now) call.expire();
      else if (!call.peer && now - call.since > silenceMs) call.lost('nobody took the stream');
    }
    for (const stream of this.servedByKey.values()) if (!stream.introduced && now - stream.since >= acceptMs) stream.accept();
  }

  /** The connection is gone, or the bus closes: every stream ends now. */
  loseAll(reason: string): void {
    for (const call of this.callsByKey.values()) call.lost(reason);
    for (const stream of this.servedByKey.values()) stream.cancelled(reason);
  }

  /** The request and body, at once or when their parcels are here. */
  private gather(frame: Frame, payload: Buffer, stream: Served<OpenSubject>, then: (request: () => unknown, body: Uint8Array) => void): void {
    const requestBytes = payload.readUInt32LE(4);
    const bodyBytes = payload.readUInt32LE(8);
    if (bodyBytes + requestBytes > this.host.maxBodyBytes) return stream.fail(new GatewayError('payload_too_large'));
    const bodyAt = openHead + requestBytes;
    if ((frame.marks & frameMark.parcels) === 0) {
      if (payload.length !== bodyAt + bodyBytes) return stream.fail(new GatewayError('service_lost'));
      then(() => readJson(payload, openHead, bodyAt), payload.subarray(bodyAt));
    } else if (payload.length >= bodyAt) {
      stream.expectBody(bodyBytes, (body) => then(() => readJson(payload, openHead, bodyAt), body));
    } else {
      stream.expectBody(requestBytes + bodyBytes, (all) => then(() => readJson(all, 0, requestBytes), all.subarray(requestBytes)));
    }
  }

  private run(subject: OpenSubject, handler: OpenHandler, readRequest: () => unknown, body: Uint8Array, stream: Served<OpenSubject>): void {
    const failed = (error: unknown) => {
      const answer = toGatewayError(error);
      if (answer !== error) this.host.logger.error({ error }, 'a handler threw');
      stream.fail(answer);
    };
    try {
      const request = this.host.reader.read(`${subject} request`, openShapes[subject].request, readRequest);
      const running = handler(request, body, stream) as PromiseLike<unknown> | undefined;
      if (typeof running?.then === 'function') running.then(undefined, failed);
    } catch (error) {
      failed(error);
    }
  }

  private booksOf(door: InFlight): StreamBooks {
    const known = this.servedBooks.get(door);
    if (known) return known;
    const books: StreamBooks = {
      ended: () => {
        door.leave();
        this.served.leave();
      },
      forget: ({ key }) => void this.servedByKey.delete(key),
    };
    this.servedBooks.set(door, books);
    return books;
  }
}
