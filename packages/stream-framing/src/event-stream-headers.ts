/** The typed headers inside an event stream message. */
import { FramingError } from './framing-error.ts';

/** Values by name: text, numbers (64-bit ones and timestamps as bigint), booleans, bytes (byte arrays and the 16 of a UUID). Made without a prototype. */
export type EventStreamHeaders = Record<string, string | number | bigint | boolean | Buffer>;

type Value = EventStreamHeaders[string];
/** A value of this type at `at`, and the bytes it takes. Reading past the end throws a RangeError. */
type ReadValue = (bytes: Buffer, at: number) => { value: Value; size: number };

/** By the type byte of the format. */
const readers: readonly ReadValue[] = [
  () => ({ value: true, size: 0 }),
  () => ({ value: false, size: 0 }),
  (bytes, at) => ({ value: bytes.readInt8(at), size: 1 }),
  (bytes, at) => ({ value: bytes.readInt16BE(at), size: 2 }),
  (bytes, at) => ({ value: bytes.readInt32BE(at), size: 4 }),
  (bytes, at) => ({ value: bytes.readBigInt64BE(at), size: 8 }),
  (bytes, at) => sized(bytes, at, (value) => value),
  (bytes, at) => sized(bytes, at, (value) => value.toString('utf8')),
  (bytes, at) => ({ value: bytes.readBigInt64BE(at), size: 8 }),
  (bytes, at) => ({ value: cut(bytes, at, 16), size: 16 }),
];

/** A value that its length in two bytes precedes. */
function sized(bytes: Buffer, at: number, make: (value: Buffer) => Value): { value: Value; size: number } {
  const length = bytes.readUInt16BE(at);
  return { value: make(cut(bytes, at + 2, length)), size: length + 2 };
}

function cut(bytes: Buffer, at: number, length: number): Buffer {
  if (at + length > bytes.length) throw new RangeError('beyond the headers');
  return bytes.subarray(at, at + length);
}

/** All headers of one message. Throws FramingError `malformed`. */
export function readEventStreamHeaders(bytes: Buffer): EventStreamHeaders {
  const headers = Object.create(null) as EventStreamHeaders;
  try {
    for (let at = 0; at < bytes.length; ) {
      const nameEnd = at + 1 + bytes.readUInt8(at);
      const name = cut(bytes, at + 1, nameEnd - at - 1).toString('utf8');
      const read = readers[bytes.readUInt8(nameEnd)];
      if (!read) throw new RangeError('unknown type');
      const { value, size } = read(bytes, nameEnd + 1);
      headers[name] = value;
      at = nameEnd + 1 + size;
    }
  } catch (error) {
    if (error instanceof RangeError) throw new FramingError('malformed', 'The headers of an event stream message cannot be read.');
    throw error;
  }
  return headers;
}
