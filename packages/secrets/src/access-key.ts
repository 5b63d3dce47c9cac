/** The gateway's own access keys: minting, telling a typo from an unknown key, the hash for lookup, the mask for lists. */
import { hash, randomBytes } from 'node:crypto';

const prefix = 'gk-';
const randomLength = 40;
const checkLength = 6;
const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** Largest multiple of 62 in a byte: bytes above it are thrown away, so that every character is equally likely. */
const fairBytes = 248;
const keyForm = /^gk-[0-9A-Za-z]{46}$/;

const crcTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

function crc32(text: string): number {
  let value = 0xffffffff;
  for (let index = 0; index < text.length; index += 1) value = crcTable[(value ^ text.charCodeAt(index)) & 0xff]! ^ (value >>> 8);
  return (value ^ 0xffffffff) >>> 0;
}

/** CRC32 of the random part in six base62 digits, the largest first. */
function checksumOf(text: string): string {
  let rest = crc32(text);
  let out = '';
  for (let position = 0; position < checkLength; position += 1) {
    out = digits.charAt(rest % 62) + out;
    rest = Math.floor(rest / 62);
  }
  return out;
}

/** A new access key: `gk-`, 40 random base62 characters, 6 of checksum. */
export function mintAccessKey(): string {
  let random = '';
  while (random.length < randomLength) {
    for (const byte of randomBytes(randomLength + 8)) {
      if (byte < fairBytes && random.length < randomLength) random += digits.charAt(byte % 62);
    }
  }
  return prefix + random + checksumOf(random);
}

/** Whether this is a key of ours as far as the text alone can tell: the form, and the checksum. */
export function isAccessKeyFormat(text: string): boolean {
  if (!keyForm.test(text)) return false;
  const random = text.slice(prefix.length, prefix.length + randomLength);
  return text.slice(-checkLength) === checksumOf(random);
}

/** Lower-case hex SHA-256: what is stored and looked up. */
export const hashAccessKey = (text: string): string => hash('sha256', text, 'hex');

/** Below this a mask would show half of the value or more. */
const shortestMasked = 16;

/** First and last four characters; `****` alone for short values. For lists and logs of any kind of key. */
export const maskKey = (text: string): string => (text.length < shortestMasked ? '****' : `${text.slice(0, 4)}****${text.slice(-4)}`);
