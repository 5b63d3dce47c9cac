/** What the parts of a connection need of it and of their bus. */
import { type ErrorWire, errorShape } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import type { Deadlines } from '../kit/deadlines.ts';
import type { InFlight } from '../kit/in-flight.ts';
import type { MessageReader } from '../kit/message-reader.ts';
import type { StreamEnvironment } from '../stream/link.ts';

/** What the streams of a connection need of it and of their bus. */
export interface SocketStreamHost extends StreamEnvironment {
  readonly reader: MessageReader;
  readonly deadlines: Deadlines;
  readonly calls: InFlight;
  readonly served: InFlight;
  send(kind: number, number: number, payload?: Uint8Array, marks?: number): void;
  /** Called when all that was sent so far has left this process. */
  flushed(callback: () => void): void;
}

export const readJson = (payload: Buffer): unknown => JSON.parse(payload.toString('utf8'));
export const jsonOf = (value: unknown): Buffer => Buffer.from(JSON.stringify(value) ?? 'null');

/** An error as it was sent; anything else is a defect of the sender. */
export const readError = (reader: MessageReader, what: string, payload: Buffer): GatewayError =>
  GatewayError.fromWire(reader.read(`${what} error`, errorShape, () => readJson(payload)) as ErrorWire);
