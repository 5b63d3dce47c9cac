/** Writes messages of a binary event stream for the players. Own code, so that the parser is not judged by its own library. */
import { crc32 } from 'node:zlib';

/** One message; headers are strings. */
export function writeMessage(headers: Record<string, string>, payload: unknown): Buffer {
  const written = Buffer.concat(
    Object.entries(headers).map(([name, value]) => {
      const text = Buffer.from(value, 'utf8');
      const head = Buffer.alloc(name.length + 4);
      head.writeUInt8(name.length, 0);
      head.write(name, 1, 'latin1');
      head.writeUInt8(7, name.length + 1);
      head.writeUInt16BE(text.length, name.length + 2);
      return Buffer.concat([head, text]);
    }),
  );
  const body = Buffer.from(JSON.stringify(payload), 'utf8');
  const message = Buffer.alloc(12 + written.length + body.length + 4);
  message.writeUInt32BE(message.length, 0);
  message.writeUInt32BE(written.length, 4);
  message.writeUInt32BE(crc32(message.subarray(0, 8)), 8);
  written.copy(message, 12);
  body.copy(message, 12 + written.length);
  message.writeUInt32BE(crc32(message.subarray(0, -4)), message.length - 4);
  return message;
}

export const writeEvent = (type: string, payload: unknown): Buffer =>
  writeMessage({ ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' }, payload);
