/** UTF-8, base64 and SHA-256 without anything of a host: the sandbox has none. */

const leads = [0, 0, 0xc0, 0xe0, 0xf0];

/** A text's UTF-8 bytes; a lone surrogate becomes U+FFFD. */
export function toUtf8(text: string): number[] {
  const bytes: number[] = [];
  for (let at = 0; at < text.length; at++) {
    let point = text.codePointAt(at)!;
    if (point > 0xffff) at++;
    else if (point >= 0xd800 && point <= 0xdfff) point = 0xfffd;
    const length = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    // Not by push: that of the sandbox is bounded for scripts.
    bytes[bytes.length] = length === 1 ? point : leads[length]! | (point >> (6 * (length - 1)));
    for (let rest = length - 2; rest >= 0; rest--) bytes[bytes.length] = 0x80 | ((point >> (6 * rest)) & 63);
  }
  return bytes;
}

/** Bytes as text; malformed ones become U+FFFD. */
export function fromUtf8(bytes: readonly number[]): string {
  let out = '';
  for (let at = 0; at < bytes.length; ) {
    const first = bytes[at]!;
    const length = first < 0x80 ? 1 : first >= 0xc2 && first < 0xe0 ? 2 : first >= 0xe0 && first < 0xf0 ? 3 : first >= 0xf0 && first < 0xf5 ? 4 : 0;
    const point = length === 0 ? null : decodePoint(bytes, at, length);
    out += point === null ? '\ufffd' : String.fromCodePoint(point);
    at += point === null ? 1 : length;
  }
  return out;
}

const smallest = [0, 0, 0x80, 0x800, 0x10000];

function decodePoint(bytes: readonly number[], at: number, length: number): number | null {
  if (length === 1) return bytes[at]!;
  let point = bytes[at]! & (0xff >> (length + 1));
  for (let next = 1; next < length; next++) {
    const byte = bytes[at + next];
    if (byte === undefined || (byte & 0xc0) !== 0x80) return null;
    point = (point << 6) | (byte & 63);
  }
  return point < smallest[length]! || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff) ? null : point;
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const values = new Map<string, number>([...alphabet].map((letter, at) => [letter, at]));
values.set('-', 62);
values.set('_', 63);

export function toBase64(bytes: readonly number[]): string {
  let out = '';
  for (let at = 0; at < bytes.length; at += 3) {
    const [first = 0, second, third] = [bytes[at], bytes[at + 1], bytes[at + 2]];
    out += alphabet[first >> 2]! + alphabet[((first & 3) << 4) | ((second ?? 0) >> 4)]!;
    out += second === undefined ? '==' : alphabet[((second & 15) << 2) | ((third ?? 0) >> 6)]! + (third === undefined ? '=' : alphabet[third & 63]!);
  }
  return out;
}

/** Throws TypeError on what is not base64. */
export function fromBase64(text: string): number[] {
  const bytes: number[] = [];
  let bits = 0;
  let held = 0;
  for (let at = 0; at < text.length; at++) {
    const letter = text[at]!;
    if (letter === '=' || letter === '\n' || letter === '\r') continue;
    const value = values.get(letter);
    if (value === undefined) throw new TypeError('the text is not base64');
    held = ((held << 6) | value) & 0xffffff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes[bytes.length] = (held >> bits) & 255;
    }
  }
  return bytes;
}

/** The first 32 bits of the fractions of the roots of the first primes, as FIPS 180-4 has them. */
function fractions(count: number, root: number): number[] {
  const out: number[] = [];
  for (let candidate = 2; out.length < count; candidate++) {
    let prime = true;
    for (let factor = 2; factor * factor <= candidate && prime; factor++) prime = candidate % factor !== 0;
    if (prime) out.push(((candidate ** (1 / root) % 1) * 0x100000000) | 0);
  }
  return out;
}
const roundConstants = fractions(64, 3);
const initialHash = fractions(8, 2);
const rotate = (word: number, by: number): number => (word >>> by) | (word << (32 - by));

export function sha256(bytes: readonly number[]): number[] {
  const hash = [...initialHash];
  const length = bytes.length;
  const blocks = ((length + 8) >> 6) + 1;
  const words: number[] = new Array<number>(64).fill(0);
  for (let block = 0; block < blocks; block++) {
    for (let at = 0; at < 16; at++) words[at] = wordAt(bytes, block * 64 + at * 4, length, blocks);
    mix(hash, words);
  }
  return hash.flatMap((word) => [word >>> 24, (word >>> 16) & 255, (word >>> 8) & 255, word & 255]);
}

/** A word of the padded message. */
function wordAt(bytes: readonly number[], at: number, length: number, blocks: number): number {
  if (at === blocks * 64 - 8) return Math.floor(length / 0x20000000);
  if (at === blocks * 64 - 4) return (length << 3) | 0;
  const byte = (index: number): number => (index < length ? bytes[index]! : index === length ? 0x80 : 0);
  return (byte(at) << 24) | (byte(at + 1) << 16) | (byte(at + 2) << 8) | byte(at + 3);
}

function mix(hash: number[], words: number[]): void {
  for (let at = 16; at < 64; at++) {
    const early = words[at - 15]!;
    const late = words[at - 2]!;
    words[at] =
      (words[at - 16]! + (rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3)) + words[at - 7]! + (rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10))) | 0;
  }
  let [a, b, c, d, e, f, g, h] = hash as [number, number, number, number, number, number, number, number];
  for (let at = 0; at < 64; at++) {
    const first = (h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) + roundConstants[at]! + words[at]!) | 0;
    const second = ((rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
  }
  for (const [at, word] of [a, b, c, d, e, f, g, h].entries()) hash[at] = (hash[at]! + word) | 0;
}

export const toHex = (bytes: readonly number[]): string => bytes.map((byte) => (byte < 16 ? '0' : '') + byte.toString(16)).join('');
