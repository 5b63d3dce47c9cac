/** The newest bytes of a stream and where its events end in them, in few blocks of memory: most events are small, and there may be many. */
import { EventCutter } from './event-cutter.ts';

const firstBlock = 2 * 1024;
const largestBlock = 64 * 1024;
/** What is held for each event beside its bytes. */
const perEvent = 8;

interface Block {
  /** Offset of its first byte in the stream. */
  readonly start: number;
  readonly bytes: Buffer;
  used: number;
}

export class EventLog {
  readonly #cutter = new EventCutter();
  #blocks: Block[] = [];
  /** Behind each event that is kept; the first one is behind event `#dropped`, where the kept bytes begin. */
  #ends: number[] = [0];
  #firstEnd = 0;
  /** Events that are no longer there. */
  #dropped = 0;
  #end = 0;
  #held = 0;
  #start = 0;

  /** Offset behind the last byte. */
  get end(): number {
    return this.#end;
  }

  /** Offset of the first byte that is still there. */
  get start(): number {
    return this.#start;
  }

  /** Events so far, with those that are no longer there. */
  get count(): number {
    return this.#dropped + this.#ends.length - 1 - this.#firstEnd;
  }

  /** The events before this one are no longer there. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Memory that is held. */
  get bytes(): number {
    return this.#held + (this.#ends.length - this.#firstEnd) * perEvent;
  }

  /** The last byte ended an event, or is a comment's. */
  get between(): boolean {
    return this.#cutter.between;
  }

  append(bytes: Uint8Array): void {
    for (const offset of this.#cutter.push(bytes)) {
      // The second half of a line end that came in two pieces.
      if (offset === 1 && bytes[0] === 0x0a && this.#ends.at(-1) === this.#end) this.#ends[this.#ends.length - 1] = this.#end + 1;
      else this.#ends.push(this.#end + offset);
    }
    for (let at = 0; at < bytes.length; ) at += this.#fill(bytes.subarray(at));
  }

  /** Bytes from this offset on, as many as lie together; none at the end. They stay as they are: who has them may write them out later. */
  read(from: number): Buffer {
    const block = this.#blockAt(from);
    return block ? block.bytes.subarray(from - block.start, block.used) : Buffer.alloc(0);
  }

  /** Where the events after this many begin; null: they are no longer there, or not yet. */
  offsetAfter(events: number): number | null {
    if (events < this.#dropped || events > this.count) return null;
    const offset = this.#ends[this.#firstEnd + events - this.#dropped]!;
    return offset < this.#start ? null : offset;
  }

  /** The text of event `n`, the first of which is 0, where it is whole and still there. */
  event(n: number): string | null {
    const from = this.offsetAfter(n);
    const to = this.offsetAfter(n + 1);
    if (from === null || to === null) return null;
    const parts: Buffer[] = [];
    for (let at = from; at < to; ) {
      const part = this.read(at).subarray(0, to - at);
      parts.push(part);
      at += part.length;
    }
    return Buffer.concat(parts).toString('utf8');
  }

  /** Drops the oldest bytes until no more than this many are held, but none from `keep` on. */
  trim(limit: number, keep: number): void {
    while (this.bytes > limit) {
      const block = this.#blocks[0];
      if (!block || block.start + block.used > keep) return;
      this.#blocks.shift();
      this.#held -= block.bytes.length;
      this.#start = block.start + block.used;
      this.#forgetEnds();
    }
  }

  /** Gives up everything. */
  clear(): void {
    this.#blocks = [];
    this.#held = 0;
    this.#start = this.#end;
    this.#forgetEnds();
  }

  /** Ends of events of which not all bytes after them are there; the last stays, so that events are counted on. */
  #forgetEnds(): void {
    while (this.#firstEnd < this.#ends.length - 1 && this.#ends[this.#firstEnd]! < this.#start) {
      this.#firstEnd++;
      this.#dropped++;
    }
    if (this.#firstEnd < 1024) return;
    this.#ends = this.#ends.slice(this.#firstEnd);
    this.#firstEnd = 0;
  }

  /** How many bytes went into the last block. */
  #fill(bytes: Uint8Array): number {
    let block = this.#blocks.at(-1);
    if (!block || block.used === block.bytes.length) {
      const size = Math.min(largestBlock, block ? block.bytes.length * 2 : firstBlock);
      block = { start: this.#end, bytes: Buffer.allocUnsafeSlow(size), used: 0 };
      this.#blocks.push(block);
      this.#held += size;
    }
    const taken = Math.min(bytes.length, block.bytes.length - block.used);
    block.bytes.set(bytes.subarray(0, taken), block.used);
    block.used += taken;
    this.#end += taken;
    return taken;
  }

  #blockAt(offset: number): Block | undefined {
    // Readers are mostly at the end.
    for (let at = this.#blocks.length - 1; at >= 0; at--) {
      const block = this.#blocks[at]!;
      if (offset >= block.start) return offset < block.start + block.used ? block : undefined;
    }
    return undefined;
  }
}
