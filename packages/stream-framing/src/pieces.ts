/** Collects chunks that are needed as a whole, in few buffers: many tiny chunks would otherwise cost hundreds of times their size. */

/** So many pieces are kept as they came. */
const maxUnpaired = 1024;
/** Above this, of so many pieces, nothing is gained by copying them. */
const worthKeeping = maxUnpaired * 1024;

export class Pieces {
  #list: Buffer[] = [];
  /** Pieces at the beginning that were looked at already. */
  #settled = 0;
  #looseBytes = 0;

  get isEmpty(): boolean {
    return this.#list.length === 0;
  }

  /** Keeps the piece itself: do not write into it. */
  add(piece: Buffer): void {
    this.#list.push(piece);
    this.#looseBytes += piece.length;
    if (this.#list.length - this.#settled >= maxUnpaired) this.#settle();
  }

  /** All that was added, without a copy when it came in one piece; from now on there is nothing here. */
  take(): Buffer {
    const list = this.#list;
    this.drop();
    return list.length === 1 ? list[0]! : Buffer.concat(list);
  }

  /** Drops everything that was added. */
  drop(): void {
    this.#list = [];
    this.#settled = 0;
    this.#looseBytes = 0;
  }

  /** Each byte is copied once at most, so that this stays linear. */
  #settle(): void {
    if (this.#looseBytes < worthKeeping) this.#list.push(Buffer.concat(this.#list.splice(this.#settled)));
    this.#settled = this.#list.length;
    this.#looseBytes = 0;
  }
}
