/** What the two ends of a stream need of the bus that carries their frames. */
import type { frameKind } from '@model-gateway/contracts';
import type { BusLogger } from '../kit/logger.ts';

/** A reply in one frame. */
export interface WholeReply {
  head: unknown;
  bytes: Uint8Array;
  tail: unknown;
}

/** Payloads by kind of frame. Head, tail and error leave the callee as its link's `encode` returned them, and reach the caller decoded. */
export interface StreamPayloads {
  [frameKind.head]: unknown;
  [frameKind.data]: Uint8Array | string;
  [frameKind.tail]: unknown;
  [frameKind.whole]: WholeReply;
  [frameKind.error]: unknown;
  /** Bytes that the receiver is done with. */
  [frameKind.credit]: number;
  /** The reason. */
  [frameKind.cancel]: string;
  [frameKind.ack]: null;
  /** The callee takes data: the caller may send. */
  [frameKind.accept]: null;
  [frameKind.send]: Uint8Array;
  [frameKind.sendEnd]: null;
}

export type StreamKind = keyof StreamPayloads;

/** Where a link delivers the frames of the other end. Positional, because an object for each frame costs more than the call. */
export interface FrameReceiver {
  receive<K extends StreamKind>(kind: K, payload: StreamPayloads[K], flags: number): void;
}

/** One end's way to the other end. It keeps the order of frames. */
export interface StreamLink {
  readonly id: string;
  /** Most bytes of data in one frame. */
  readonly cap: number;
  send<K extends StreamKind>(kind: K, payload: StreamPayloads[K], flags: number, attempt: number): void;
  /** This end expects nothing more; only an acknowledgement or a late cancel may still be sent. */
  close(): void;
}

/** The callee's way to the caller. */
export interface CalleeLink extends StreamLink {
  /** Whether a `whole` frame may be sent, whatever its size. */
  readonly carriesWhole: boolean;
  /** What `send` takes for a head, tail or error. Called when the callee passes it, since the frame may have to wait for credit. */
  encode(kind: typeof frameKind.head | typeof frameKind.tail | typeof frameKind.error, message: unknown): unknown;
  /** After `close`: the callee wants to know whether its tail is acknowledged. */
  awaitAcknowledgement(): void;
}

/** What the ends need beside their link. */
export interface StreamEnvironment {
  readonly logger: BusLogger;
  /** Frames of earlier attempts, or late, repeated or forged ones, were dropped. */
  droppedBefore(frames: number): void;
}
