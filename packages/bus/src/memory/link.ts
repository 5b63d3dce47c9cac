/** The link between the two ends of a stream inside one process: a frame is a direct call, and its payload a reference. */
import { frameKind } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import type { Deadline } from '../kit/deadlines.ts';
import type { CalleeLink, FrameReceiver, StreamEnvironment, StreamKind, StreamLink, StreamPayloads } from '../stream/link.ts';

/** What a link needs of its bus. */
export interface MemoryStreamHost extends StreamEnvironment {
  /** The caller's end is done. */
  callEnded(call: Deadline): void;
  /** The callee's end is done. */
  servedEnded(): void;
}

let streams = 0;

/** From the caller to the callee; also the caller's deadline. */
export class MemoryCallerLink implements StreamLink, Deadline {
  readonly cap = Number.POSITIVE_INFINITY;
  index = -1;
  endsAt = Number.POSITIVE_INFINITY;
  private readonly number = ++streams;
  private readonly host: MemoryStreamHost;
  private caller: FrameReceiver | null = null;
  private callee: FrameReceiver | null = null;

  constructor(host: MemoryStreamHost) {
    this.host = host;
  }

  get id(): string {
    return this.number.toString(36);
  }

  /** `callee`: absent when nobody serves the subject. */
  connect(caller: FrameReceiver, callee: FrameReceiver | null): void {
    this.caller = caller;
    this.callee = callee;
  }

  send<K extends StreamKind>(kind: K, payload: StreamPayloads[K], flags: number): void {
    this.callee?.receive(kind, payload, flags);
  }

  close(): void {
    this.host.callEnded(this);
  }

  expire(): void {
    this.callee?.receive(frameKind.cancel, 'deadline', 0);
    this.caller?.receive(frameKind.error, new GatewayError('timeout'), 0);
  }
}

/** From the callee to the caller. */
export class MemoryCalleeLink implements CalleeLink {
  readonly cap = Number.POSITIVE_INFINITY;
  readonly carriesWhole = true;
  private readonly host: MemoryStreamHost;
  private readonly caller: FrameReceiver & { readonly id: string };

  constructor(host: MemoryStreamHost, caller: FrameReceiver & { readonly id: string }) {
    this.host = host;
    this.caller = caller;
  }

  get id(): string {
    return this.caller.id;
  }

  encode(_kind: number, message: unknown): unknown {
    return message;
  }

  send<K extends StreamKind>(kind: K, payload: StreamPayloads[K], flags: number): void {
    this.caller.receive(kind, payload, flags);
  }

  close(): void {
    this.host.servedEnded();
  }

  /** The acknowledgement is a direct call. */
  awaitAcknowledgement(): void {}
}
