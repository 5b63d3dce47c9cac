/** Holds the bytes of an unfinished record between chunks; appending is amortised, so that one-byte chunks stay linear. */
export class Carry {
  private storage: Buffer | null = null;
  private length = 0;

  get isEmpty(): boolean {
    return this.length === 0;
  }

  /** The held bytes, as a view. */
  view(): Buffer {
    return this.storage ? this.storage.subarray(0, this.length) : Buffer.alloc(0);
  }

  clear(): void {
    this.storage = null;
    this.length = 0;
  }

  /** Starts again with a copy of these bytes. Old storage is not overwritten: records handed out still refer to it. */
  replace(bytes: Buffer): void {
    // Not from Node's buffer pool: these bytes may wait long for the next chunk, and would retain a whole 64 KiB slab.
    this.storage = Buffer.allocUnsafeSlow(Math.max(512, bytes.length * 2));
    bytes.copy(this.storage);
    this.length = bytes.length;
  }

  /** Appends a chunk and gives a view of everything held. */
  append(chunk: Buffer): Buffer {
    const needed = this.length + chunk.length;
    if (!this.storage || needed > this.storage.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.length * 2));
      this.storage?.copy(larger, 0, 0, this.length);
      this.storage = larger;
    }
    chunk.copy(this.storage, this.length);
    this.length = needed;
    return this.view();
  }
}

/** The same memory as a Buffer, whose searches and decoding are native. */
export const asBuffer = (bytes: Uint8Array): Buffer => (Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
