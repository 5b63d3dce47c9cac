/** Where log lines go: written beside the process's work, kept for a while when nobody takes them, never a reason to wait, to hang or to end. */
import { write, writeSync } from 'node:fs';

export interface LineWriter {
  write(line: string): void;
  /** Writes what waits, synchronously. Gives up after a second, and at once when the disk is full or the reader has gone: no log is worth an exit that hangs. */
  flush(): void;
}

export interface LineWriterOptions {
  /** An open file, pipe or terminal. */
  fd: number;
  /** UTF-16 units that may wait; the lines beyond are lost. */
  max: number;
  /** The line that tells how many were lost, once lines are taken again. */
  lostLine(lines: number): string;
}

/** A pipe whose reader is behind. */
const busyMs = 100;
/** A disk that is full, or fails. */
const faultMs = 1000;
const maxFlushMs = 1000;
const nothing = Buffer.alloc(0);
const busy: ReadonlySet<string | undefined> = new Set(['EAGAIN', 'EBUSY', 'EINTR']);
/** Nobody will ever read it. */
const gone: ReadonlySet<string | undefined> = new Set(['EPIPE', 'EBADF']);
const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

export function createLineWriter({ fd, max, lostLine }: LineWriterOptions): LineWriter {
  let waiting = '';
  /** What is being written, or is to be tried again. */
  let chunk: Buffer = nothing;
  let writing = false;
  let retry: NodeJS.Timeout | undefined;
  let due = false;
  let isGone = false;
  let lost = 0;

  /** What is said in one turn goes together, and a flush in it, before the process ends, finds nothing that was begun and could be overtaken. */
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
      // What the system is writing already is its own to end.
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
