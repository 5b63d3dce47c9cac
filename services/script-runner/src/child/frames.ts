/** Messages on a pipe: two lengths, a JSON object, bytes. Both ends of a slot speak it. */

const headBytes = 8;
/** A longer message is a defect or an attack: nothing is allocated for it. */
const maxLength = 512 * 1024 * 1024;

/** One message on the pipe between pool and child: JSON and bytes. */
export interface Frame {
  json: unknown;
  bytes: Buffer;
}

/** The parts of one message, to be written one after the other: the bytes are not copied. */
export function frame(json: unknown, bytes: Uint8Array): [Buffer, Uint8Array] {
  const text = Buffer.from(JSON.stringify(json), 'utf8');
  const head = Buffer.allocUnsafe(headBytes + text.length);
  head.writeUInt32BE(text.length, 0);
  head.writeUInt32BE(bytes.length, 4);
  text.copy(head, headBytes);
  return [head, bytes];
}

/** Puts messages together from what arrives. */
export class FrameReader {
  readonly #onFrame: (frame: Frame) => void;
  #parts: Buffer[] = [];
  #held = 0;
  #needed = headBytes;

  constructor(onFrame: (frame: Frame) => void) {
    this.#onFrame = onFrame;
  }

  /** Throws RangeError on what is not a message. */
  push(chunk: Buffer): void {
    this.#parts.push(chunk);
    this.#held += chunk.length;
    while (this.#held >= this.#needed) if (!this.#read()) return;
  }

  /** false: more is needed. */
  #read(): boolean {
    const all = this.#parts.length === 1 && this.#parts[0] ? this.#parts[0] : Buffer.concat(this.#parts, this.#held);
    this.#parts = [all];
    const [textLength, byteLength] = [all.readUInt32BE(0), all.readUInt32BE(4)];
    const end = headBytes + textLength + byteLength;
    if (end > maxLength) throw new RangeError('a message between a script slot and its host is too long');
    if (all.length < end) {
      this.#needed = end;
      return false;
    }
    const textEnd = headBytes + textLength;
    const rest = all.subarray(end);
    this.#parts = rest.length > 0 ? [rest] : [];
    this.#held = rest.length;
    this.#needed = headBytes;
    this.#onFrame({ json: JSON.parse(all.toString('utf8', headBytes, textEnd)) as unknown, bytes: all.subarray(textEnd, end) });
    return true;
  }
}
