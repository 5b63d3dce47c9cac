/** Frames on the wire: a fixed header, the sender's inbox where it introduces itself, then raw bytes. */

export const frameVersion = 1;
/**
 * What the sender understands beyond the first frames: a process uses the kinds of a level only towards who has shown that level. 0: up to revision
 * 38d9929. 1: `go`, `find`, `here`.
 */
export const frameLevel = 1;
const headerBytes = 20;

/** What a frame is, beside its kind. */
export const frameMark = {
  /** The rest of this unit comes in the next frame. */
  more: 1,
  /** From opener to callee (the other frames of a stream go the other way). */
  toCallee: 2,
  /** Belongs to a question, not to a stream. */
  ask: 4,
  /** A head with the first data behind it. */
  withData: 8,
  /** An open whose body follows in parcels. */
  parcels: 16,
  /** A pulse that wants one back. */
  wanted: 32,
} as const;

/** Header, little endian: version, kind, flags, marks (u8 each), attempt u16, inbox length u8, level u8, number u32, salt u32, seq u32. */
export interface FrameHeader {
  kind: number;
  /** The application's flags of data. */
  flags: number;
  marks: number;
  attempt: number;
  number: number;
  salt: number;
  /** Position among the counted frames of this direction. Of `open` and `go`, which are not counted: when they were sent (`peer-clock.ts`), 0 up to revision f7c94249. */
  seq: number;
}

/** A frame that was read. */
export interface Frame extends FrameHeader {
  /** The sender's inbox, empty when it has introduced itself already. */
  inbox: string;
  /** Of the sender. */
  level: number;
  payload: Uint8Array;
}

const none = new Uint8Array(0);

/** Bytes a frame takes beside its payload. */
export const frameOverhead = (inbox: Uint8Array): number => headerBytes + inbox.length;

/** Builds a frame in one allocation and one copy of each part. */
export function writeFrame(header: FrameHeader, inbox: Uint8Array = none, parts: readonly Uint8Array[] = []): Buffer {
  let length = headerBytes + inbox.length;
  for (const part of parts) length += part.length;
  const bytes = Buffer.allocUnsafe(length);
  bytes[0] = frameVersion;
  bytes[1] = header.kind;
  bytes[2] = header.flags;
  bytes[3] = header.marks;
  bytes[4] = header.attempt & 255;
  bytes[5] = header.attempt >>> 8;
  bytes[6] = inbox.length;
  bytes[7] = frameLevel;
  bytes.writeUInt32LE(header.number, 8);
  bytes.writeUInt32LE(header.salt, 12);
  bytes.writeUInt32LE(header.seq >>> 0, 16);
  if (inbox.length > 0) bytes.set(inbox, headerBytes);
  let offset = headerBytes + inbox.length;
  for (const part of parts) {
    bytes.set(part, offset);
    offset += part.length;
  }
  return bytes;
}

/** null for anything that is not a frame of ours. The payload is a view. */
export function readFrame(data: Uint8Array): Frame | null {
  if (data.length < headerBytes || data[0] !== frameVersion) return null;
  const bytes = asBuffer(data);
  const start = headerBytes + bytes[6]!;
  if (bytes.length < start) return null;
  return {
    kind: bytes[1]!,
    flags: bytes[2]!,
    marks: bytes[3]!,
    attempt: bytes[4]! | (bytes[5]! << 8),
    level: bytes[7]!,
    number: bytes.readUInt32LE(8),
    salt: bytes.readUInt32LE(12),
    seq: bytes.readUInt32LE(16),
    inbox: start === headerBytes ? '' : bytes.toString('latin1', headerBytes, start),
    payload: bytes.subarray(start),
  };
}

export const asBuffer = (bytes: Uint8Array): Buffer => (Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));

/** Numbers as the payloads hold them: u32, little endian, one after the other. */
export function u32(...values: number[]): Buffer {
  const bytes = Buffer.allocUnsafe(values.length * 4);
  for (let i = 0; i < values.length; i++) bytes.writeUInt32LE(values[i]! >>> 0, i * 4);
  return bytes;
}

export const jsonBytes = (value: unknown): Buffer => Buffer.from(JSON.stringify(value) ?? 'null');

export const readJson = <T>(bytes: Uint8Array, start = 0, end = bytes.length): T => JSON.parse(asBuffer(bytes).toString('utf8', start, end)) as T;
