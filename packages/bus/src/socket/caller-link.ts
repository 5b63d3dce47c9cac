/** The caller's link over a socket. */
import { frameKind, openShapes } from '@model-gateway/contracts';
import { GatewayError, toGatewayError } from '@model-gateway/contracts/errors';
import type { OpenSubject } from '../bus.ts';
import type { Deadline } from '../kit/deadlines.ts';
import { frameCap } from '../kit/limits.ts';
import type { FrameReceiver, StreamKind, StreamLink, StreamPayloads } from '../stream/link.ts';
import { readError, readJson, type SocketStreamHost } from './host.ts';
import { cutWhole, payloadBytes } from './payload.ts';
import { marksOf, type WireFrame, wireKind } from './wire.ts';

/** From the caller to the callee; also the caller's deadline. */
export class SocketCallerLink implements StreamLink, Deadline {
  readonly cap = frameCap;
  index = -1;
  endsAt = Number.POSITIVE_INFINITY;
  caller: FrameReceiver | null = null;
  private readonly host: SocketStreamHost;
  private readonly number: number;
  private readonly subject: OpenSubject;
  private readonly ended: () => void;
  private closed = false;

  constructor(host: SocketStreamHost, number: number, subject: OpenSubject, ended: () => void) {
    this.host = host;
    this.number = number;
    this.subject = subject;
    this.ended = ended;
  }

  get id(): string {
    return this.number.toString(36);
  }

  send<K extends StreamKind>(kind: K, payload: StreamPayloads[K], flags: number, attempt: number): void {
    this.host.send(wireKind.stream + kind, this.number, payloadBytes(kind, payload), marksOf(flags, attempt));
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.ended();
  }

  expire(): void {
    this.host.send(wireKind.stream + frameKind.cancel, this.number, Buffer.from('deadline'));
    this.fail(new GatewayError('timeout'));
  }

  lost(): void {
    this.fail(new GatewayError('service_lost'));
  }

  receive(kind: StreamKind, { flags, payload }: WireFrame): void {
    switch (kind) {
      case frameKind.data:
        return this.caller?.receive(frameKind.data, payload, flags);
      case frameKind.credit:
        return this.caller?.receive(frameKind.credit, payload.readUInt32LE(0), flags);
      case frameKind.head:
      case frameKind.tail:
        return this.receiveMessage(kind, payload);
      case frameKind.whole:
        return this.receiveWhole(payload, flags);
      case frameKind.error:
        return this.readOrFail(() => this.fail(readError(this.host.reader, this.subject, payload)));
    }
  }

  private receiveMessage(kind: typeof frameKind.head | typeof frameKind.tail, payload: Buffer): void {
    this.readOrFail(() => this.caller?.receive(kind, this.read(kind === frameKind.head ? 'head' : 'tail', payload), 0));
  }

  private receiveWhole(payload: Buffer, flags: number): void {
    this.readOrFail(() => {
      const { head, tail, bytes } = cutWhole(payload);
      this.caller?.receive(frameKind.whole, { head: this.read('head', head), bytes, tail: this.read('tail', tail) }, flags);
    });
  }

  private read(part: 'head' | 'tail', payload: Buffer): unknown {
    return this.host.reader.read(`${this.subject} ${part}`, openShapes[this.subject][part], () => readJson(payload));
  }

  /** A message of another shape fails the call, and the callee gets a cancellation. */
  private readOrFail(read: () => void): void {
    try {
      read();
    } catch (error) {
      this.host.send(wireKind.stream + frameKind.cancel, this.number, Buffer.from('a message of another shape'));
      this.fail(toGatewayError(error));
    }
  }

  private fail(error: GatewayError): void {
    this.caller?.receive(frameKind.error, error, 0);
    this.close();
  }
}
