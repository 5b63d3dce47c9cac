/** Messages of a binary event stream, written with the vendor's own codec. */
import { EventStreamCodec } from '@smithy/eventstream-codec';

const codec = new EventStreamCodec(
  (input) => new TextDecoder().decode(input as Uint8Array),
  (input) => new TextEncoder().encode(input),
);

/** `kind`: `event` or `exception`; `json`: the payload as text. */
export function encodeMessage(kind: string, type: string, json: string): Buffer {
  const headers = { [`:${kind}-type`]: type, ':content-type': 'application/json', ':message-type': kind };
  const typed = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, { type: 'string' as const, value }]));
  return Buffer.from(codec.encode({ headers: typed, body: new TextEncoder().encode(json) }));
}

/** The messages in a body that holds whole ones: type and payload of each. */
export function decodeMessages(body: Buffer): { type: string; payload: unknown }[] {
  const messages: { type: string; payload: unknown }[] = [];
  for (let at = 0; at < body.length; ) {
    const end = at + body.readUInt32BE(at);
    const { headers, body: payload } = codec.decode(body.subarray(at, end));
    messages.push({ type: String(headers[':event-type']?.value ?? ''), payload: JSON.parse(Buffer.from(payload).toString('utf8')) });
    at = end;
  }
  return messages;
}
