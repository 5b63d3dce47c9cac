/**
 * The envelope's outer form: standard base64 of
 *   magic (6 bytes) · version (1) · length of the key id (1) · key id · nonce (12) · ciphertext · tag (16).
 * All before the nonce is authenticated with the ciphertext.
 */

const magic = Buffer.from('mgsig1', 'latin1');
const version = 2;
export const nonceBytes = 12;
export const tagBytes = 16;

/** How every envelope's text begins (six bytes fill eight characters exactly): a cheap byte search tells whether a body holds any. */
export const envelopePrefix = magic.toString('base64');

/** Either alphabet, with or without padding: clients re-encode (wire.md §4). */
const base64Form = /^[A-Za-z0-9+/_-]+={0,2}$/;

export interface Envelope {
  keyId: string;
  /** What is authenticated beside the ciphertext. */
  header: Buffer;
  nonce: Buffer;
  ciphertext: Buffer;
  tag: Buffer;
}

export function headerOf(keyId: string): Buffer {
  const id = Buffer.from(keyId, 'utf8');
  if (id.length > 255) throw new RangeError('A key id has at most 255 bytes');
  return Buffer.concat([magic, Buffer.from([version, id.length]), id]);
}

export const printEnvelope = ({ header, nonce, ciphertext, tag }: Envelope): string => Buffer.concat([header, nonce, ciphertext, tag]).toString('base64');

/** Whether this text claims to be an envelope of ours. */
export const isEnvelope = (text: string): boolean => text.startsWith(envelopePrefix);

/** Its parts, or null when it is cut, of another version, or no base64. */
export function parseEnvelope(text: string): Envelope | null {
  if (!isEnvelope(text) || !base64Form.test(text)) return null;
  const bytes = Buffer.from(text, 'base64');
  const idLength = bytes[magic.length + 1];
  if (bytes[magic.length] !== version || idLength === undefined) return null;
  const headerLength = magic.length + 2 + idLength;
  const ciphertextStart = headerLength + nonceBytes;
  const ciphertextEnd = bytes.length - tagBytes;
  if (ciphertextEnd < ciphertextStart) return null;
  return {
    keyId: bytes.toString('utf8', magic.length + 2, headerLength),
    header: bytes.subarray(0, headerLength),
    nonce: bytes.subarray(headerLength, ciphertextStart),
    ciphertext: bytes.subarray(ciphertextStart, ciphertextEnd),
    tag: bytes.subarray(ciphertextEnd),
  };
}
