/** Byte values that JSON gives a meaning, and the smallest helpers over raw bytes. */

export const quote = 0x22;
export const backslash = 0x5c;
export const comma = 0x2c;
export const colon = 0x3a;
export const braceOpen = 0x7b;
export const braceClose = 0x7d;
export const bracketOpen = 0x5b;
export const bracketClose = 0x5d;

/** Strings are walked by hand this far before the native search is worth its call. */
export const nearBytes = 48;
/** Where the search found a quote closer than this, quotes stand dense (code in a string): walking is quicker for a while. */
export const denseBytes = 256;
export const walkedBytes = 4096;

export const isBlank = (byte: number): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/** The same memory as a Buffer, whose `indexOf` is a native search. */
export const asBuffer = (bytes: Uint8Array): Buffer => (Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));

/**
 * Offset after the closing quote of the string that opens at `start`, or -1 when it never closes.
 * Characters inside are not judged: a raw control character or an unknown escape does not move the end.
 */
export function skipStringBytes(bytes: Buffer, start: number): number {
  let position = start + 1;
  const length = bytes.length;
  let walked = nearBytes;
  for (;;) {
    const near = Math.min(position + walked, length);
    while (position < near) {
      const byte = bytes[position]!;
      if (byte === quote) return position + 1;
      position += byte === backslash ? 2 : 1;
    }
    if (position >= length) return -1;
    const found = bytes.indexOf(quote, position);
    if (found < 0) return -1;
    // Backslash runs before different quotes never overlap, so counting them stays linear.
    let run = found;
    while (run > position && bytes[run - 1] === backslash) run -= 1;
    walked = found - position < denseBytes ? walkedBytes : nearBytes;
    position = found + 1;
    if (((found - run) & 1) === 0) return position;
  }
}
