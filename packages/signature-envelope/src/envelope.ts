/**
 * The envelope's outer form: standard base64 of
 *   magic (6 bytes) · form (1) · length of the key id (1) · key id · [owner's tag (8)] · nonce (12) · ciphertext · tag (16).
 * All before the nonce is authenticated with the ciphertext. Forms 2 (no owner) and 3 are generation 2; form 1 is the old one (`legacy.ts`).
 */
import { ownerBytes } from './owner.ts';

const magic = Buffer.from('mgsig1', 'latin1');
export const forms = { legacy: 1, plain: 2, owned: 3 } as const;
export type Form = (typeof forms)[keyof typeof forms];
const knownForms: ReadonlySet<number> = new Set(Object.values(forms));
export const nonceBytes = 12;
export const tagBytes = 16;

/** How every envelope's text begins (six bytes fill eight characters exactly): a cheap byte search finds out whether a body holds any. */
export const envelopePrefix = magic.toString('base64');

/** Standard and URL-safe base64, with or without padding: clients decode and re-encode signatures in either form. */
const base64Form = /^[A-Za-z0-9+/_-]+={0,2}$/;

/** The parsed outer form of an envelope; nothing in it is verified yet. */
export interface Envelope {
  form: Form;
  keyId: string;
  /** Base64url, when the envelope carries one. */
  owner: string | null;
  /** The additional authenticated data. */
  header: Buffer;
  nonce: Buffer;
  ciphertext: Buffer;
  tag: Buffer;
}

/** `owner`: the tag of `ownerTag`, for the form that carries one. */
export function headerOf(form: Form, keyId: string, owner = ''): Buffer {
  const id = Buffer.from(keyId, 'utf8');
  if (id.length > 255) throw new RangeError('A key id has at most 255 bytes');
  return Buffer.concat([magic, Buffer.from([form, id.length]), id, Buffer.from(owner, 'base64url')]);
}

export const printEnvelope = ({ header, nonce, ciphertext, tag }: Pick<Envelope, 'header' | 'nonce' | 'ciphertext' | 'tag'>): string =>
  Buffer.concat([header, nonce, ciphertext, tag]).toString('base64');

/** Whether this text claims to be an envelope of ours. */
export const isEnvelope = (text: string): boolean => text.startsWith(envelopePrefix);

/** Where the header ends, or null when the bytes are cut or of an unknown form. */
function readHeader(bytes: Buffer): Pick<Envelope, 'form' | 'keyId' | 'owner' | 'header'> | null {
  const form = bytes[magic.length];
  const idLength = bytes[magic.length + 1];
  if (form === undefined || idLength === undefined || !knownForms.has(form)) return null;
  const idEnd = magic.length + 2 + idLength;
  const end = form === forms.owned ? idEnd + ownerBytes : idEnd;
  if (bytes.length < end) return null;
  return {
    form: form as Form,
    keyId: bytes.toString('utf8', magic.length + 2, idEnd),
    owner: form === forms.owned ? bytes.toString('base64url', idEnd, end) : null,
    header: bytes.subarray(0, end),
  };
}

/** Its parts, or null when it is cut, of an unknown form, or no base64. */
export function parseEnvelope(text: string): Envelope | null {
  if (!isEnvelope(text) || !base64Form.test(text)) return null;
  const bytes = Buffer.from(text, 'base64');
  const header = readHeader(bytes);
  if (!header) return null;
  const ciphertextStart = header.header.length + nonceBytes;
  const ciphertextEnd = bytes.length - tagBytes;
  if (ciphertextEnd < ciphertextStart) return null;
  return {
    ...header,
    nonce: bytes.subarray(header.header.length, ciphertextStart),
    ciphertext: bytes.subarray(ciphertextStart, ciphertextEnd),
    tag: bytes.subarray(ciphertextEnd),
  };
}

/** More base64 than the longest header takes. */
const maxHeaderLength = Math.ceil((magic.length + 2 + 255 + ownerBytes) / 3) * 4;

/**
 * The owner's tag that an envelope shows, or null. Unverified: it only influences routing, so a forged one affects nothing but its own request.
 * `text` may be longer than the envelope; only its head is read.
 */
export function ownerOf(text: string): string | null {
  if (!isEnvelope(text)) return null;
  return readHeader(Buffer.from(text.slice(0, maxHeaderLength), 'base64'))?.owner ?? null;
}

/** The owner of the last envelope in a request's body, or null. One native byte search where there is none. */
export function lastOwner(body: Buffer): string | null {
  const at = body.lastIndexOf(envelopePrefix, undefined, 'latin1');
  return at < 0 ? null : ownerOf(body.toString('latin1', at, at + maxHeaderLength));
}
