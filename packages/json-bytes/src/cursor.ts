/** The tokenizer over JSON bytes: where strings, numbers, literals, values and members end. Nothing is decoded, and -1 says that the bytes are malformed there. */
import { skipToClosingQuote } from './closing-quote.ts';
import { backslash, braceClose, braceOpen, bracketClose, bracketOpen, colon, comma, isBlank, nearBytes, quote } from './syntax.ts';

/** The same memory as a Buffer, whose `indexOf` is a native search. */
export const asBuffer = (bytes: Uint8Array): Buffer => (Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));

/**
 * Offset after the closing quote of the string that opens at `start`, or -1 when it never closes. The content is not validated: a raw control
 * character or an unknown escape does not move the end.
 */
export function skipString(bytes: Buffer, start: number): number {
  let position = start + 1;
  const near = Math.min(position + nearBytes, bytes.length);
  while (position < near) {
    const byte = bytes[position]!;
    if (byte === quote) return position + 1;
    position += byte === backslash ? 2 : 1;
  }
  // A string without quotes inside (an image, plain prose) ends at the next quote, which a native search finds.
  const found = bytes.indexOf(quote, position);
  if (found < 0) return -1;
  return found === position || bytes[found - 1] !== backslash ? found + 1 : skipToClosingQuote(bytes, position);
}

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x30 && byte <= 0x39;

function skipDigits(bytes: Buffer, start: number): number {
  let position = start;
  while (isDigit(bytes[position])) position += 1;
  return position;
}

/** Offset after the number at `start`, or -1 when it is malformed. */
export function skipNumber(bytes: Buffer, start: number): number {
  let position = bytes[start] === 0x2d ? start + 1 : start;
  if (bytes[position] === 0x30) position += 1;
  else {
    const integerEnd = skipDigits(bytes, position);
    if (integerEnd === position) return -1;
    position = integerEnd;
  }
  if (bytes[position] === 0x2e) {
    const fractionEnd = skipDigits(bytes, position + 1);
    if (fractionEnd === position + 1) return -1;
    position = fractionEnd;
  }
  const exponent = bytes[position];
  if (exponent === 0x65 || exponent === 0x45) {
    position += 1;
    if (bytes[position] === 0x2b || bytes[position] === 0x2d) position += 1;
    const exponentEnd = skipDigits(bytes, position);
    if (exponentEnd === position) return -1;
    position = exponentEnd;
  }
  return position;
}

/** Offset after the literal, or -1 when the bytes at `start` are not it. */
export function skipLiteral(bytes: Buffer, start: number, literal: string): number {
  for (let index = 0; index < literal.length; index += 1) if (bytes[start + index] !== literal.charCodeAt(index)) return -1;
  return start + literal.length;
}

const escapes = new Set([...'"\\/bfnrtu'].map((character) => character.charCodeAt(0)));
const isHex = (byte: number | undefined): boolean => byte !== undefined && (isDigit(byte) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66));

/** Whether what stands between the quotes is what JSON allows there. `start` and `end` include the quotes. */
export function isStringContentValid(bytes: Buffer, start: number, end: number): boolean {
  for (let position = start + 1; position < end - 1; position += 1) {
    const byte = bytes[position]!;
    if (byte < 0x20 || byte === quote) return false;
    if (byte !== backslash) continue;
    position += 1;
    if (!escapes.has(bytes[position]!)) return false;
    if (bytes[position] !== 0x75) continue;
    for (let digit = 1; digit <= 4; digit += 1) if (!isHex(bytes[position + digit])) return false;
    position += 4;
  }
  return true;
}

export function skipBlanks(bytes: Buffer, start: number): number {
  let position = start;
  while (position < bytes.length && isBlank(bytes[position]!)) position += 1;
  return position;
}

/** Offset after the value at `start`, or -1. */
export function skipValue(bytes: Buffer, start: number): number {
  const first = bytes[start];
  if (first === quote) return skipString(bytes, start);
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
      position = skipString(bytes, position);
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

/** Receives one member of an object: where its key begins and ends (quotes included) and its value begins. Returns the offset after the value; -1 ends the walk. */
export type OnMember = (keyStart: number, keyEnd: number, valueStart: number) => number;

/** Offset after the object that opens at `start`, whose members `onMember` reads or skips; -1 where the bytes are not an object, or `onMember` ended the walk. */
export function walkObject(bytes: Buffer, start: number, onMember: OnMember): number {
  let position = skipBlanks(bytes, start + 1);
  if (bytes[position] === braceClose) return position + 1;
  for (;;) {
    if (bytes[position] !== quote) return -1;
    const keyEnd = skipString(bytes, position);
    if (keyEnd < 0) return -1;
    const colonAt = skipBlanks(bytes, keyEnd);
    if (bytes[colonAt] !== colon) return -1;
    const end = onMember(position, keyEnd, skipBlanks(bytes, colonAt + 1));
    if (end < 0) return -1;
    position = skipBlanks(bytes, end);
    if (bytes[position] === braceClose) return position + 1;
    if (bytes[position] !== comma) return -1;
    position = skipBlanks(bytes, position + 1);
  }
}

/** The same for an array: `onElement` gets the element's index and where it begins. */
export function walkArray(bytes: Buffer, start: number, onElement: (index: number, start: number) => number): number {
  let position = skipBlanks(bytes, start + 1);
  if (bytes[position] === bracketClose) return position + 1;
  for (let index = 0; ; index += 1) {
    const end = onElement(index, position);
    if (end < 0) return -1;
    position = skipBlanks(bytes, end);
    if (bytes[position] === bracketClose) return position + 1;
    if (bytes[position] !== comma) return -1;
    position = skipBlanks(bytes, position + 1);
  }
}

/** Number of keys in the value from `start` to `end`, repeated ones counted each time. */
export function countKeys(bytes: Buffer, start: number, end: number): number {
  let count = 0;
  for (let position = start; position < end; ) {
    const byte = bytes[position]!;
    if (byte === colon) count += 1;
    position = byte === quote ? skipString(bytes, position) : position + 1;
  }
  return count;
}

/** The key, or another text, from `start` to `end` (quotes included); null for one that no JSON parser would read. */
export function readKey(bytes: Buffer, start: number, end: number): string | null {
  const raw = bytes.toString('utf8', start + 1, end - 1);
  if (!raw.includes('\\')) return raw;
  try {
    return JSON.parse(bytes.toString('utf8', start, end)) as string;
  } catch {
    // No JSON parser reads a text with a malformed escape.
    return null;
  }
}
