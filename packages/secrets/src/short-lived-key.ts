/**
 * Short-lived keys: signed by who holds the master key, checked by anybody with the public half. What a key carries beside its claims is sealed for the
 * signer's kind alone: a browser that holds the key, and the process that checks it, see none of it.
 */
import { createCipheriv, createDecipheriv, createPrivateKey, createPublicKey, type KeyObject, randomBytes, sign, verify } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { DerivedKey, Keyring } from './keyring.ts';

/** What the key says of itself, readable by everybody who has it. */
export interface ShortLivedClaims {
  /** Id of the access key that it was made with. */
  parent: string;
  /** Milliseconds since the epoch. */
  expiresAt: number;
  /** Which sessions it opens. */
  use: string;
  /** The one model it may be used for, as its maker named it; absent: any that its parent may use. */
  model?: string;
}

/** The public half of a signing key. */
export interface VerificationKey {
  id: string;
  /** 32 bytes of an Ed25519 key, in base64url. */
  key: string;
}

const prefix = 'ek_';
const form = /^ek_(([A-Za-z0-9_-]{8,4000})\.[A-Za-z0-9_-]{38,60000})\.([A-Za-z0-9_-]{86})$/;
const carriedForm = /^([A-Za-z0-9_-]{8,4000})\.([A-Za-z0-9_-]{38,60000})$/;
const nonceBytes = 12;
const tagBytes = 16;
/** More than any text that fits into a key unpacks to. */
const maxPlainBytes = 1024 * 1024;
/** The bytes that precede the 32 of an Ed25519 key in PKCS #8 and in SPKI. */
const privateHeader = Buffer.from('302e020100300506032b657004220420', 'hex');
const publicHeader = Buffer.from('302a300506032b6570032100', 'hex');

const signingLabel = 'short-lived-key/signing';
const sealingLabel = 'short-lived-key/sealing';

const privateKeyOf = ({ key }: DerivedKey): KeyObject => createPrivateKey({ key: Buffer.concat([privateHeader, key]), format: 'der', type: 'pkcs8' });

/** Whether a credential is meant to be one of these keys. */
export const isShortLivedKey = (text: string): boolean => text.startsWith(prefix);

/** Makes short-lived keys and opens what they carry. */
export interface ShortLivedKeys {
  /** `carried`: any text, of which a key of `maxLength` characters may have no room; then null. */
  mint(claims: ShortLivedClaims, carried: string, maxLength: number): string | null;
  /** What a key carries, of what `ShortLivedKeyVerifier.read` left of it. null: it was not made here, or with other claims. */
  open(carried: string): string | null;
  /** One for each master key. */
  readonly verificationKeys: readonly VerificationKey[];
}

export function createShortLivedKeys(keyring: Keyring): ShortLivedKeys {
  const first = keyring.derive(signingLabel);
  const signing = privateKeyOf(first);
  const sealing = keyring.derive(sealingLabel);
  const verificationKeys = keyring.deriveAll(signingLabel).map((derived) => ({ id: derived.id, key: rawPublicKey(privateKeyOf(derived)) }));
  return {
    verificationKeys,
    mint({ parent, expiresAt, use, model }, carried, maxLength) {
      const claims = toText({ i: first.id, p: parent, e: expiresAt, u: use, ...(model !== undefined && { m: model }) });
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv('aes-256-gcm', sealing.key, nonce).setAAD(Buffer.from(claims));
      const sealed = Buffer.concat([nonce, cipher.update(deflateRawSync(carried)), cipher.final(), cipher.getAuthTag()]);
      const signed = `${prefix}${claims}.${sealed.toString('base64url')}`;
      const text = `${signed}.${sign(null, Buffer.from(signed), signing).toString('base64url')}`;
      return text.length <= maxLength && form.test(text) ? text : null;
    },
    open(carried) {
      const [, claims, sealed] = carriedForm.exec(carried) ?? [];
      if (claims === undefined || sealed === undefined) return null;
      const body = Buffer.from(sealed, 'base64url');
      for (const { key } of keyring.deriveAll(sealingLabel)) {
        const opening = createDecipheriv('aes-256-gcm', key, body.subarray(0, nonceBytes), { authTagLength: tagBytes });
        opening.setAAD(Buffer.from(claims)).setAuthTag(body.subarray(-tagBytes));
        try {
          const packed = Buffer.concat([opening.update(body.subarray(nonceBytes, -tagBytes)), opening.final()]);
          return inflateRawSync(packed, { maxOutputLength: maxPlainBytes }).toString('utf8');
        } catch {
          // Sealed under another of the keys.
        }
      }
      return null;
    },
  };
}

const toText = (claims: object): string => Buffer.from(JSON.stringify(claims)).toString('base64url');

const rawPublicKey = (key: KeyObject): string =>
  createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(publicHeader.length).toString('base64url');

/** Checks signatures with the public halves that it was given. */
export class ShortLivedKeyVerifier {
  readonly #keys = new Map<string, KeyObject>();

  constructor(keys: readonly VerificationKey[]) {
    for (const { id, key } of keys)
      this.#keys.set(id, createPublicKey({ key: Buffer.concat([publicHeader, Buffer.from(key, 'base64url')]), format: 'der', type: 'spki' }));
  }

  /**
   * null: no key of ours. 'unknown-issuer': signed under a key that was not given here. Whether it has expired is for the caller to say. `carried` opens at
   * the issuer's, and is not a key any more.
   */
  read(text: string): { readonly claims: ShortLivedClaims; readonly carried: string } | 'unknown-issuer' | null {
    const [, carried, claims, signature] = form.exec(text) ?? [];
    if (carried === undefined || claims === undefined || signature === undefined) return null;
    const read = readClaims(claims);
    if (!read) return null;
    const key = this.#keys.get(read.issuer);
    if (!key) return 'unknown-issuer';
    const signed = Buffer.from(text.slice(0, -signature.length - 1));
    return verify(null, signed, key, Buffer.from(signature, 'base64url')) ? { claims: read.claims, carried } : null;
  }
}

function readClaims(text: string): { issuer: string; claims: ShortLivedClaims } | null {
  try {
    const { i: issuer, p: parent, e: expiresAt, u: use, m: model } = JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as Record<string, unknown>;
    if (typeof issuer !== 'string' || typeof parent !== 'string' || typeof expiresAt !== 'number' || typeof use !== 'string') return null;
    if (model !== undefined && typeof model !== 'string') return null;
    return { issuer, claims: { parent, expiresAt, use, ...(model !== undefined && { model }) } };
  } catch {
    return null;
  }
}
