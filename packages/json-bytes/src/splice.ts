/** Reads one scanned string, and replaces byte ranges while every other byte stays as it is. */
import { asBuffer } from './cursor.ts';
import { backslash } from './syntax.ts';

/** The bytes from `start` up to `end` (exclusive) become `text` in UTF-8; `start === end` inserts. */
export interface Replacement {
  start: number;
  end: number;
  text: string;
}

/** The text of a string value that `scanBody` found (`start` and `end` include the quotes). Throws SyntaxError on bytes that are not a JSON string. */
export function decodeJsonString(source: Uint8Array, start: number, end: number): string {
  const bytes = asBuffer(source);
  if (!bytes.subarray(start, end).includes(backslash)) return bytes.toString('utf8', start + 1, end - 1);
  return JSON.parse(bytes.toString('utf8', start, end)) as string;
}

/** A new buffer with the replacements made. They may come in any order; RangeError when they overlap or lie outside. */
export function spliceBytes(source: Uint8Array, replacements: readonly Replacement[]): Buffer {
  const bytes = asBuffer(source);
  const ordered = replacements.length > 1 ? [...replacements].sort((a, b) => a.start - b.start || a.end - b.end) : replacements;
  let size = bytes.length;
  let floor = 0;
  for (const { start, end, text } of ordered) {
    if (start < floor || end < start || end > bytes.length) throw new RangeError(`Replacement ${start}..${end} overlaps another or lies outside the text`);
    size += Buffer.byteLength(text) - (end - start);
    floor = end;
  }
  const out = Buffer.allocUnsafe(size);
  let from = 0;
  let to = 0;
  for (const { start, end, text } of ordered) {
    to += bytes.copy(out, to, from, start);
    to += out.write(text, to);
    from = end;
  }
  bytes.copy(out, to, from);
  return out;
}
