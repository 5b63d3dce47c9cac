/** Messages of a stream whose bytes come in pieces: what is longer than the bus carries at once, such as a WebSocket's frame. */
import { frameFlag } from '@model-gateway/contracts';

export class WholeMessages {
  readonly #maxBytes: number;
  #parts: Uint8Array[] = [];
  #size = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The message that these bytes complete; `null`: more of it is to come, its receiver is done with these bytes; `too-long`: it is none. */
  push(bytes: Uint8Array, flags: number): Buffer | null | 'too-long' {
    this.#size += bytes.length;
    if (this.#size > this.#maxBytes) return 'too-long';
    const ends = (flags & frameFlag.messageEnd) !== 0;
    if (!ends || this.#parts.length > 0) this.#parts.push(bytes);
    if (!ends) return null;
    const whole = this.#parts.length > 0 ? Buffer.concat(this.#parts, this.#size) : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#parts = [];
    this.#size = 0;
    return whole;
  }
}
