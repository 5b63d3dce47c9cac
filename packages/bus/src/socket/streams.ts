/** The streams of one connection: opens them, accepts them, and hands each frame to the end it belongs to. */
import { frameKind, openShapes } from '@model-gateway/contracts';
import { GatewayError, toGatewayError } from '@model-gateway/contracts/errors';
import type { OpenOptions, OpenSubject, StreamCall, StreamHandlers } from '../bus.ts';
import { deadlineGraceMs, frameCap, noDeadlineMs } from '../kit/limits.ts';
import type { BusLogger } from '../kit/logger.ts';
import { soon } from '../kit/soon.ts';
import { StreamCallee } from '../stream/callee.ts';
import { StreamCaller } from '../stream/caller.ts';
import type { StreamKind } from '../stream/link.ts';
import { SocketCalleeLink } from './callee-link.ts';
import { SocketCallerLink } from './caller-link.ts';
import type { Served } from './handlers.ts';
import type { SocketStreamHost } from './host.ts';
import { type WireFrame, wireKind } from './wire.ts';

/** An opening as it crosses the socket, before its body. */
export interface WireOpening {
  subject: OpenSubject;
  to?: string;
  deadlineMs?: number;
  bodyBytes: number;
  request: unknown;
}

/** Larger bodies are given up: no process of this gateway sends them. */
const largestBody = 256 * 1024 * 1024;
const none = Buffer.alloc(0);

/** A body on its way in. */
interface Gathering {
  opening: WireOpening;
  pieces: Buffer[];
  missing: number;
}

/** `parity`: which numbers this end gives its streams; the other end has the others. */
export class SocketStreams {
  private readonly host: SocketStreamHost;
  private readonly callers = new Map<number, SocketCallerLink>();
  private readonly callees = new Map<number, SocketCalleeLink>();
  private readonly gathering = new Map<number, Gathering>();
  private next: number;

  constructor(host: SocketStreamHost, parity: 0 | 1) {
    this.host = host;
    this.next = 2 + parity;
  }

  /** A number for what this end begins. */
  mint(): number {
    this.next += 2;
    // Half of the numbers, and a billion of them under way would be needed to meet one again.
    if (this.next > 0xfffffff0) this.next = 2 + (this.next & 1);
    return this.next;
  }

  open<S extends OpenSubject>(subject: S, request: unknown, handlers: StreamHandlers<S>, options?: OpenOptions): StreamCall {
    const { host } = this;
    const number = this.mint();
    const link: SocketCallerLink = new SocketCallerLink(host, number, subject, () => {
      host.deadlines.delete(link);
      host.calls.leave();
      this.callers.delete(number);
    });
    const call = new StreamCaller(link, handlers, host.logger);
    link.caller = call;
    this.callers.set(number, link);
    host.calls.enter();
    if (options?.deadlineMs !== undefined) host.deadlines.add(options.deadlineMs + deadlineGraceMs, link);
    const body = options?.body ?? none;
    const { to, deadlineMs } = options ?? {};
    sendOpening(
      host,
      number,
      { subject, ...(to !== undefined && { to }), ...(deadlineMs !== undefined && { deadlineMs }), bodyBytes: body.length, request },
      body,
    );
    if (body.length > frameCap && options?.bodySent) host.flushed(options.bodySent);
    call.release();
    return call;
  }

  /** The handler is called once the opener has confirmed that it still wants the stream: it may have left before its opening was read. */
  serve(number: number, opening: WireOpening, body: Buffer, { handler, inFlight }: Served): void {
    const { host } = this;
    const { subject, deadlineMs } = opening;
    const link: SocketCalleeLink = new SocketCalleeLink(host, number, {
      ended: () => {
        inFlight.leave();
        host.served.leave();
      },
      keep: () => void this.callees.set(number, link),
      forget: () => void this.callees.delete(number),
    });
    const callee = new StreamCallee<OpenSubject>(link, deadlineMs ?? noDeadlineMs, host);
    link.callee = callee;
    this.callees.set(number, link);
    inFlight.enter();
    host.served.enter();
    const failed = (error: unknown): void => {
      const answer = toGatewayError(error);
      if (answer !== error) host.logger.error({ error, subject }, 'a handler threw');
      callee.fail(answer);
    };
    link.begin = () => {
      try {
        const request = host.reader.read(`${subject} request`, openShapes[subject].request, () => opening.request);
        const running = (handler as (...args: unknown[]) => unknown)(request, body, callee) as PromiseLike<unknown> | undefined;
        if (typeof running?.then === 'function') running.then(undefined, failed);
      } catch (error) {
        failed(error);
      }
    };
    host.send(wireKind.ready, number);
  }

  /** A stream that this end cannot serve. */
  refuse(number: number, code: 'service_unavailable' | 'payload_too_large'): void {
    this.host.send(wireKind.stream + frameKind.error, number, Buffer.from(JSON.stringify(new GatewayError(code).toWire())));
  }

  /** Hands an opening on once its body is here. */
  gather(frame: WireFrame, then: (opening: WireOpening, body: Buffer) => void): void {
    const { number, payload } = frame;
    if (frame.kind === wireKind.open) {
      const end = 4 + payload.readUInt32LE(0);
      const opening = JSON.parse(payload.toString('utf8', 4, end)) as WireOpening;
      const body = payload.subarray(end);
      if (opening.bodyBytes > largestBody) return this.refuse(number, 'payload_too_large');
      if (body.length === opening.bodyBytes) return then(opening, body);
      this.gathering.set(number, { opening, pieces: [body], missing: opening.bodyBytes - body.length });
      return;
    }
    const gathering = this.gathering.get(number);
    if (!gathering) return;
    gathering.pieces.push(payload);
    gathering.missing -= payload.length;
    if (gathering.missing > 0) return;
    this.gathering.delete(number);
    then(gathering.opening, Buffer.concat(gathering.pieces));
  }

  /** A frame of a stream, or about its beginning. */
  receive(frame: WireFrame): void {
    const { kind, number } = frame;
    if (kind === wireKind.ready) {
      if (this.callers.has(number)) this.host.send(wireKind.go, number);
      else this.host.send(wireKind.stream + frameKind.cancel, number, Buffer.from('the opener left'));
      return;
    }
    if (kind === wireKind.go) return this.callees.get(number)?.go();
    const streamKind = (kind - wireKind.stream) as StreamKind;
    if (streamKind === frameKind.cancel) this.gathering.delete(number);
    const end = number % 2 === this.next % 2 ? this.callers.get(number) : this.callees.get(number);
    end?.receive(streamKind, frame);
  }

  /** The other process is gone: nothing of its streams goes on. */
  loseAll(reason: string): void {
    this.gathering.clear();
    for (const link of [...this.callers.values()]) link.lost();
    for (const link of [...this.callees.values()]) link.lost(reason);
  }
}

/** Sends an opening; a body that is not small follows in pieces. */
export function sendOpening(to: Pick<SocketStreamHost, 'send'>, number: number, opening: WireOpening, body: Uint8Array): void {
  const json = Buffer.from(JSON.stringify(opening));
  const length = Buffer.allocUnsafe(4);
  length.writeUInt32LE(json.length, 0);
  const inline = body.length <= frameCap;
  to.send(wireKind.open, number, Buffer.concat(inline ? [length, json, body] : [length, json]));
  if (inline) return;
  for (let from = 0; from < body.length; from += frameCap) to.send(wireKind.body, number, body.subarray(from, from + frameCap));
}

/** What a stream that nobody takes tells its opener, later: it must hold its end first. */
export const failSoon = <S extends OpenSubject>(handlers: StreamHandlers<S>, logger: BusLogger): StreamCall => {
  const link = { id: '0', cap: frameCap, send: () => undefined, close: () => undefined };
  const call = new StreamCaller<S>(link, handlers, logger);
  soon(() => call.receive(frameKind.error, new GatewayError('service_unavailable'), 0));
  return call;
};
