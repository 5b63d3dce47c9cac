/** Writes messages of a binary event stream for the players, with the vendor's own codec: what our parser reads is what the vendor would send. */
import { EventStreamCodec } from '@smithy/eventstream-codec';

const codec = new EventStreamCodec(
  (input) => new TextDecoder().decode(input as Uint8Array),
  (input) => new TextEncoder().encode(input),
);

/** One message; headers are strings. */
export const writeMessage = (headers: Record<string, string>, payload: unknown): Buffer =>
  Buffer.from(
    codec.encode({
      headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, { type: 'string', value }])),
      body: new TextEncoder().encode(JSON.stringify(payload)),
    }),
  );

export const writeEvent = (type: string, payload: unknown): Buffer =>
  writeMessage({ ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' }, payload);
