/** Writes log lines asynchronously and buffers them while the reader is slow; logging never blocks, hangs or ends the process. */
import { write, writeSync } from 'node:fs';

/** The destination of log lines. */
export interface LineWriter {
  write(line: string): void;
  /**
   * Writes the buffered lines synchronously. Gives up after a second, and at once when the disk is full or the reader has gone: an exit must not hang
   * because of a log.
   */
  flush(): void;
}

/** Where lines go, and how many may wait. */
export interface LineWriterOptions {
  /** An open file, pipe or terminal. */
  fd: number;
  /** UTF-16 units that may be buffered; lines beyond are dropped. */
  max: number;
  /** Formats the line that reports how many lines were dropped, once writing works again. */
  lostLine(lines: number): string;
}

/** A pipe whose reader is behind. */
const busyMs = 100;
/** A disk that is full, or fails. */
const faultMs = 1000;
const maxFlushMs = 1000;
const nothing = Buffer.alloc(0);
const busy: ReadonlySet<string | undefined> = new Set(['EAGAIN', 'EBUSY', 'EINTR']);
/** The reader has closed the pipe for good. */
const gone: ReadonlySet<string | undefined> = new Set(['EPIPE', 'EBADF']);
const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

export function createLineWriter({ fd, max, lostLine }: LineWriterOptions): LineWriter {
  let waiting = '';
  /** The text being written, or to be tried again. */
  let chunk: Buffer = nothing;
  let writing = false;
  let retry: NodeJS.Timeout | undefined;
  let due = false;
  let isGone = false;
  let lost = 0;

  /**
   * Lines of one turn of the event loop are written together; a flush in the same turn, before the process ends, finds no write under way that it
   * could overtake.
   */
  function endOfTurn(): void {
    due = false;
    next();
  }

  function next(): void {
    if (writing || retry !== undefined) return;
    if (chunk.length === 0) {
      if (waiting === '') return;
      chunk = Buffer.from(waiting);
      waiting = '';
    }
    writing = true;
    write(fd, chunk, 0, chunk.length, null, written);
  }

  function written(error: Error | null, bytes: number): void {
    writing = false;
    if (error) return failed(codeOf(error));
    chunk = chunk.subarray(bytes);
    if (lost > 0) {
      waiting += lostLine(lost);
      lost = 0;
    }
    next();
  }

  function failed(code: string | undefined): void {
    if (gone.has(code)) {
      isGone = true;
      waiting = '';
      chunk = nothing;
      return;
    }
    retry = setTimeout(
      () => {
        retry = undefined;
        next();
      },
      busy.has(code) ? busyMs : faultMs,
    ).unref();
  }

  return {
    write(line) {
      if (isGone) return;
      if (waiting.length + chunk.length + line.length > max) lost++;
      else waiting += line;
      if (due || writing || retry !== undefined) return;
      due = true;
      setImmediate(endOfTurn);
    },
    flush() {
      // A write already handed to the system completes by itself.
      let left = Buffer.concat([writing ? nothing : chunk, Buffer.from(waiting)]);
      if (!writing) chunk = nothing;
      waiting = '';
      const until = performance.now() + maxFlushMs;
      while (left.length > 0 && performance.now() < until) {
        try {
          left = left.subarray(writeSync(fd, left));
        } catch (error) {
          if (!busy.has(codeOf(error))) return;
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
        }
      }
    },
  };
}
