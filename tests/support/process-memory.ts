/** What stands in the memory of a process: its heaps, buffers and stacks, byte by byte, also what is no longer in use. A heap snapshot shows less, and costs minutes. */
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import type { ManagedProcess } from './managed-process.ts';

/** Linux alone has it, and only for processes of one's own. */
export function memoryReadable(): boolean {
  if (process.platform === 'linux') return true;
  process.stderr.write('reading the memory of processes DID NOT RUN: Linux alone lets one do it\n');
  return false;
}

const pieceBytes = 8 * 1024 * 1024;

/** Those of the texts (ASCII, up to 1,000 characters) that stand in its memory somewhere. */
export function textsInMemory(one: ManagedProcess, texts: readonly string[]): string[] {
  if (one.pid === null) throw new Error(`${one.name} does not run`);
  const wanted = new Map(texts.map((text) => [text, Buffer.from(text, 'latin1')]));
  const found: string[] = [];
  let looked = 0;
  const memory = openSync(`/proc/${one.pid}/mem`, 'r');
  try {
    const buffer = Buffer.alloc(pieceBytes);
    for (const { start, end } of writableRegions(one.pid)) {
      // Pieces overlap: a text may stand across their border.
      for (let at = start; at < end; at += pieceBytes - 1_000) {
        const size = readPiece(memory, buffer, at, Math.min(pieceBytes, end - at));
        const piece = buffer.subarray(0, size);
        looked += size;
        for (const [text, bytes] of wanted)
          if (piece.includes(bytes)) {
            found.push(text);
            wanted.delete(text);
          }
      }
    }
  } finally {
    closeSync(memory);
  }
  if (looked === 0) throw new Error(`nothing of the memory of ${one.name} can be read`);
  return found;
}

/** What was mapped a moment ago may be gone. */
function readPiece(memory: number, buffer: Buffer, at: number, size: number): number {
  try {
    return readSync(memory, buffer, 0, size, at);
  } catch {
    return 0;
  }
}

function writableRegions(pid: number): { start: number; end: number }[] {
  const lines = readFileSync(`/proc/${pid}/maps`, 'utf8').split('\n');
  return lines.flatMap((line) => {
    const [, start, end] = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line) ?? [];
    return start === undefined || end === undefined ? [] : [{ start: Number.parseInt(start, 16), end: Number.parseInt(end, 16) }];
  });
}
