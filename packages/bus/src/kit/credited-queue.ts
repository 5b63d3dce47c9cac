/** One direction of bytes under credit: what credit does not cover waits in order, and the sender is notified when it may continue. */
import { soon } from './soon.ts';

/** `Bytes`: a text stands for bytes of one character each. */
type Emit<Bytes> = (bytes: Bytes, flags: number, attempt: number) => void;

interface Piece<Bytes> {
  bytes: Bytes;
  flags: number;
  attempt: number;
  /** Where the next part starts. */
  offset: number;
}

/** Options of a credited queue. */
export interface CreditedQueueOptions<Bytes> {
  /** Credit at the start. */
  window: number;
  /** Largest part to emit at once; `endFlag` is left out of all parts but the last. */
  cap: number;
  endFlag: number;
  emit: Emit<Bytes>;
  /** Nothing is emitted before `release`: the receiver is not known or not listening yet. */
  held?: boolean;
}

/** Bytes of one direction: emits them in order as far as credit goes, and holds the rest. */
export class CreditedQueue<Bytes extends Uint8Array | string = Uint8Array> {
  private credit: number;
  private readonly cap: number;
  private readonly endFlag: number;
  private readonly emit: Emit<Bytes>;
  private held: boolean;
  private closed = false;
  private emitting = false;
  private queue: Piece<Bytes>[] = [];
  private first = 0;
  private queuedBytes = 0;
  /** `push` has returned false and `onReady` has not been called since. */
  private owes = false;
  private wake: (() => void) | null = null;
  private finish: (() => void) | null = null;

  constructor(options: CreditedQueueOptions<Bytes>) {
    this.credit = options.window;
    this.cap = options.cap;
    this.endFlag = options.endFlag;
    this.emit = options.emit;
    this.held = options.held ?? false;
  }

  /** Takes bytes; false when the sender should wait for `onReady`. What comes nevertheless waits in order. */
  push(bytes: Bytes, flags: number, attempt: number): boolean {
    if (this.closed) return false;
    if (this.empty && !this.held && !this.emitting && this.credit > 0 && bytes.length <= this.cap) {
      this.credit -= bytes.length;
      this.emitting = true;
      this.emit(bytes, flags, attempt);
      this.emitting = false;
      // What the receiver pushed back from inside the call waits behind it.
      if (!this.empty) this.pump();
    } else {
      this.queue.push({ bytes, flags, attempt, offset: 0 });
      this.queuedBytes += bytes.length;
      this.pump();
    }
    if (this.sendable) return true;
    this.owes = true;
    return false;
  }

  /** Takes credit for bytes that travel another way; answers as `push` does. */
  charge(bytes: number): boolean {
    this.credit -= bytes;
    if (this.sendable) return true;
    this.owes = true;
    return false;
  }

  /** The receiver is done with this many bytes. */
  grant(bytes: number): void {
    this.credit += bytes;
    this.pump();
    this.notifyReady();
  }

  /** The receiver is there now. */
  release(): void {
    if (!this.held) return;
    this.held = false;
    this.pump();
    this.notifyReady();
  }

  /** One callback; a later one replaces it. Called each time the sender may go on after a `false`. */
  onReady(callback: () => void): void {
    this.wake = callback;
    if (this.owes && this.sendable) soon(() => this.notifyReady());
  }

  /** Runs `finish` once all that was pushed is out. */
  end(finish: () => void): void {
    if (this.closed) return;
    if (this.empty && !this.emitting) finish();
    else this.finish = finish;
  }

  /** Drops what waits of attempts below `attempt`; returns how many pieces. */
  dropBefore(attempt: number): number {
    const kept: Piece<Bytes>[] = [];
    let dropped = 0;
    for (let i = this.first; i < this.queue.length; i++) {
      const piece = this.queue[i]!;
      if (piece.attempt >= attempt) kept.push(piece);
      else {
        dropped++;
        this.queuedBytes -= piece.bytes.length - piece.offset;
      }
    }
    this.queue = kept;
    this.first = 0;
    return dropped;
  }

  /** Forgets everything; later calls do nothing. */
  close(): void {
    this.closed = true;
    this.queue = [];
    this.first = 0;
    this.queuedBytes = 0;
    this.wake = null;
    this.finish = null;
  }

  /** Nothing waits. */
  get empty(): boolean {
    return this.first === this.queue.length;
  }

  private get sendable(): boolean {
    return this.credit - this.queuedBytes > 0;
  }

  private notifyReady(): void {
    if (!this.owes || !this.wake || this.closed || this.emitting || !this.sendable) return;
    this.owes = false;
    this.wake();
  }

  private pump(): void {
    // A receiver that grants from inside `emit` comes back here; the outer loop sees its credit.
    if (this.emitting || this.held) return;
    this.emitting = true;
    while (!this.empty && this.credit > 0) this.emitNext();
    this.emitting = false;
    if (this.empty && this.finish) {
      const finish = this.finish;
      this.finish = null;
      finish();
    }
  }

  private emitNext(): void {
    const piece = this.queue[this.first]!;
    const end = Math.min(piece.bytes.length, piece.offset + this.cap);
    const part = piece.offset === 0 && end === piece.bytes.length ? piece.bytes : partOf(piece.bytes, piece.offset, end);
    const last = end === piece.bytes.length;
    piece.offset = end;
    if (last) this.advance();
    this.credit -= part.length;
    this.queuedBytes -= part.length;
    this.emit(part, last ? piece.flags : piece.flags & ~this.endFlag, piece.attempt);
  }

  private advance(): void {
    this.first++;
    if (this.empty) {
      this.queue = [];
      this.first = 0;
    } else if (this.first > 1024) {
      this.queue = this.queue.slice(this.first);
      this.first = 0;
    }
  }
}

const partOf = <Bytes extends Uint8Array | string>(bytes: Bytes, start: number, end: number): Bytes =>
  (typeof bytes === 'string' ? bytes.slice(start, end) : bytes.subarray(start, end)) as Bytes;
