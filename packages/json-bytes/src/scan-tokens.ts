/** Numbers, literals and string contents of JSON bytes: where they end, or -1 when they are malformed. */
import { backslash, quote } from './bytes.ts';

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x30 && byte <= 0x39;

function skipDigits(bytes: Buffer, start: number): number {
  let position = start;
  while (isDigit(bytes[position])) position += 1;
  return position;
}

/** Offset after the number at `start`, or -1. */
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
