/** Holds the bytes of an unfinished record between chunks; appending is amortised, so that one-byte chunks stay linear. */
export class Carry {
  private storage: Buffer | null = null;
  private length = 0;

  get isEmpty(): boolean {
    return this.length === 0;
  }

  /** What is held, as a view. */
  view(): Buffer {
    return this.storage ? this.storage.subarray(0, this.length) : Buffer.alloc(0);
  }

  clear(): void {
    this.storage = null;
    this.length = 0;
  }

  /** Starts anew with a copy of these bytes. Old storage is left alone: records handed out still look into it. */
  replace(bytes: Buffer): void {
    // Not from the pool: what waits here for the next chunk may wait long, and would hold a whole slab of 64 KiB.
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
