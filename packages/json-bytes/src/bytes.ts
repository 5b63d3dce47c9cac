/** Byte values that JSON gives a meaning, and the smallest helpers over raw bytes. */
import { skipToClosingQuote } from './closing-quote.ts';

export const quote = 0x22;
export const backslash = 0x5c;
export const comma = 0x2c;
export const colon = 0x3a;
export const braceOpen = 0x7b;
export const braceClose = 0x7d;
export const bracketOpen = 0x5b;
export const bracketClose = 0x5d;

/** Strings shorter than this are walked in JavaScript; only beyond it is a native search worth its call. */
export const nearBytes = 48;

export const isBlank = (byte: number): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/** The same memory as a Buffer, whose `indexOf` is a native search. */
export const asBuffer = (bytes: Uint8Array): Buffer => (Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));

/**
 * Offset after the closing quote of the string that opens at `start`, or -1 when it never closes. The content is not validated: a raw control
 * character or an unknown escape does not move the end.
 */
export function skipStringBytes(bytes: Buffer, start: number): number {
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
