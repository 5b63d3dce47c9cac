/** Finds where values end in bytes that are known to be JSON: cheap steps without judging what they pass. */
import { braceClose, braceOpen, bracketClose, bracketOpen, colon, comma, isBlank, quote, skipStringBytes } from './bytes.ts';

export function skipBlanks(bytes: Buffer, start: number): number {
  let position = start;
  while (position < bytes.length && isBlank(bytes[position]!)) position += 1;
  return position;
}

/** Offset after the value at `start`, or -1. */
export function skipValue(bytes: Buffer, start: number): number {
  const first = bytes[start];
  if (first === quote) return skipStringBytes(bytes, start);
  let position = start;
  if (first !== braceOpen && first !== bracketOpen) {
    for (; position < bytes.length; position += 1) {
      const byte = bytes[position]!;
      if (byte === comma || byte === braceClose || byte === bracketClose || isBlank(byte)) break;
    }
    return position === start ? -1 : position;
  }
  let depth = 0;
  while (position < bytes.length) {
    const byte = bytes[position]!;
    if (byte === quote) {
      position = skipStringBytes(bytes, position);
      if (position < 0) return -1;
      continue;
    }
    position += 1;
    if (byte === braceOpen || byte === bracketOpen) depth += 1;
    else if (byte === braceClose || byte === bracketClose) {
      depth -= 1;
      if (depth === 0) return position;
    }
  }
  return -1;
}

/** Number of keys in the value from `start` to `end`, repeated ones counted each time. */
export function countKeys(bytes: Buffer, start: number, end: number): number {
  let count = 0;
  for (let position = start; position < end; ) {
    const byte = bytes[position]!;
    if (byte === colon) count += 1;
    position = byte === quote ? skipStringBytes(bytes, position) : position + 1;
  }
  return count;
}

/** The key from `start` to `end` (quotes included); null for one that no JSON parser would read. */
export function readKey(bytes: Buffer, start: number, end: number): string | null {
  const raw = bytes.toString('utf8', start + 1, end - 1);
  if (!raw.includes('\\')) return raw;
  try {
    return JSON.parse(bytes.toString('utf8', start, end)) as string;
  } catch {
    // No JSON parser reads a key with a malformed escape.
    return null;
  }
}
