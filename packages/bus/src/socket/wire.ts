/** Frames on a socket between two processes of one machine: a length, a fixed header, then the payload. The socket keeps their order and loses none. */

/** What a frame is. The number of a stream's frames is the stream's, of a question's the question's. */
export const wireKind = {
  /** What the sender serves and listens to, as the whole list. */
  offers: 1,
  ping: 2,
  pong: 3,
  ask: 10,
  answer: 11,
  askError: 12,
  /** JSON of the opening, its length before it, then a small body. */
  open: 20,
  /** The next bytes of a large body. */
  body: 21,
  /** The opening is here whole: is it still wanted? */
  ready: 22,
  /** It is. */
  go: 23,
  event: 40,
  durable: 50,
  stored: 51,
  notStored: 52,
  /** Durable events are wanted. */
  consume: 60,
  endConsume: 61,
  batch: 62,
  committed: 63,
  notCommitted: 64,
  /** The frames of a stream follow, each as its kind of `frameKind` above this. */
  stream: 100,
} as const;

const lengthBytes = 4;
const headerBytes = 8;
/** Bodies travel in pieces; only JSON may be longer than those. */
const largestFrame = 512 * 1024 * 1024;
const empty = Buffer.alloc(0);

/** A frame as it was read; the payload is a view. */
export interface WireFrame {
  kind: number;
  number: number;
  /** Of a stream's data, with the attempt (`marksOf`). */
  marks: number;
  flags: number;
  payload: Buffer;
}

/** A frame's flags (u8) and attempt (u16) as one number. */
export const marksOf = (flags: number, attempt: number): number => (flags & 0xff) | ((attempt & 0xffff) << 8);

/** Length, kind (u8), marks (u24), number (u32), all little endian. */
export function writeWire(kind: number, number: number, payload: Uint8Array = empty, marks = 0): Buffer {
  const bytes = Buffer.allocUnsafe(lengthBytes + headerBytes + payload.length);
  bytes.writeUInt32LE(headerBytes + payload.length, 0);
  bytes[4] = kind;
  bytes.writeUIntLE(marks, 5, 3);
  bytes.writeUInt32LE(number, 8);
  bytes.set(payload, lengthBytes + headerBytes);
  return bytes;
}

/** Cuts what comes into frames. */
export class WireReader {
  private pieces: Buffer[] = [];
  private bytes = 0;
  /** Bytes that the next frame needs, its length included. */
  private wanted = lengthBytes;

  /** Calls `take` for each frame that is whole. Throws on a length that no frame of ours has. */
  add(piece: Buffer, take: (frame: WireFrame) => void): void {
    this.pieces.push(piece);
    this.bytes += piece.length;
    if (this.bytes < this.wanted) return;
    let buffer = this.pieces.length === 1 ? piece : Buffer.concat(this.pieces, this.bytes);
    for (;;) {
      this.wanted = lengthBytes;
      if (buffer.length < lengthBytes) break;
      const length = buffer.readUInt32LE(0);
      if (length < headerBytes || length > largestFrame) throw new Error('a frame of an impossible length');
      this.wanted = lengthBytes + length;
      if (buffer.length < this.wanted) break;
      const frame = buffer.subarray(lengthBytes, this.wanted);
      buffer = buffer.subarray(this.wanted);
      take({ kind: frame[0]!, flags: frame[1]!, marks: frame.readUIntLE(1, 3), number: frame.readUInt32LE(4), payload: frame.subarray(headerBytes) });
    }
    this.pieces = buffer.length > 0 ? [buffer] : [];
    this.bytes = buffer.length;
  }
}
