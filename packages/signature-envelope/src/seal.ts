/** Seals a vendor's thinking signature into opaque text for the caller, and opens it again for the upstream that issued it. */
import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto';
import { parseClaims, printClaims, type SignatureClaims } from './claims.ts';
import { type Envelope, forms, headerOf, isEnvelope, nonceBytes, parseEnvelope, printEnvelope, tagBytes } from './envelope.ts';
import { type EnvelopeKey, keyPair } from './keys.ts';
import { openLegacy } from './legacy.ts';

const cipher = 'aes-256-gcm';

/**
 * The envelope's text (standard base64). The nonce is a keyed hash of what is sealed, as in SIV: the same signature under the same claims always
 * gives the same text, so that a caller that sends a turn again sends the same prefix and the upstream's prompt cache still matches; and a nonce
 * repeats only with the same plaintext, the one repetition that does not weaken AES-GCM.
 */
export function sealSignature(claims: SignatureClaims, key: EnvelopeKey): string {
  const pair = keyPair(key);
  const header = claims.owner === undefined ? headerOf(forms.plain, key.id) : headerOf(forms.owned, key.id, claims.owner);
  const plain = Buffer.from(printClaims(claims), 'utf8');
  const nonce = createHmac('sha256', pair.nonce).update(header).update(plain).digest().subarray(0, nonceBytes);
  const sealing = createCipheriv(cipher, pair.encryption, nonce, { authTagLength: tagBytes });
  sealing.setAAD(header);
  const ciphertext = Buffer.concat([sealing.update(plain), sealing.final()]);
  return printEnvelope({ header, nonce, ciphertext, tag: sealing.getAuthTag() });
}

/** The upstream to which the signature would be sent now. */
export interface SignatureUse {
  model: string;
  upstream: string;
  account: string;
  protocol: string;
  /** `signature_passthrough`: a change of upstream or account does not strip while the model is the same. */
  passthrough: boolean;
}

/** Why a signature must not be sent. `upstream-changed` includes another protocol at the upstream of the same name. */
export type SignatureRefusal = 'not-ours' | 'unknown-key' | 'forged' | 'model-changed' | 'upstream-changed' | 'account-changed';

export type OpenedSignature =
  /** `protocol` and `prefixHash` are what was claimed when it was sealed; an old envelope claims neither. */
  { ok: true; signature: string; protocol?: string; prefixHash?: string } | { ok: false; reason: SignatureRefusal };

const refuse = (reason: SignatureRefusal): OpenedSignature => ({ ok: false, reason });

/** Never throws, whatever the caller sent. `keys` are all that may have sealed it, in any order. */
export function openSignature(text: string, keys: readonly EnvelopeKey[], use: SignatureUse): OpenedSignature {
  if (!isEnvelope(text)) return refuse('not-ours');
  const envelope = parseEnvelope(text);
  if (!envelope) return refuse('forged');
  // The id is an operator's name for a key, which may have been given to another since.
  const named = keys.filter(({ id }) => id === envelope.keyId);
  const inTurn = [...named, ...keys.filter(({ id }) => id !== envelope.keyId)];
  const refusal = named.length === 0 ? 'unknown-key' : 'forged';
  if (envelope.form === forms.legacy) {
    const old = firstOf(inTurn, (key) => openLegacy(envelope, key));
    if (!old) return refuse(refusal);
    return old.model === use.model ? { ok: true, signature: old.signature } : refuse('model-changed');
  }
  const claims = firstOf(inTurn, (key) => decrypt(envelope, key));
  if (!claims) return refuse(refusal);
  const reason = judge(claims, use);
  if (reason) return refuse(reason);
  return { ok: true, signature: claims.signature, protocol: claims.protocol, ...(claims.prefixHash !== undefined && { prefixHash: claims.prefixHash }) };
}

function firstOf<T>(keys: readonly EnvelopeKey[], open: (key: EnvelopeKey) => T | null): T | null {
  for (const key of keys) {
    const opened = open(key);
    if (opened) return opened;
  }
  return null;
}

function decrypt(envelope: Envelope, key: EnvelopeKey): SignatureClaims | null {
  const opening = createDecipheriv(cipher, keyPair(key).encryption, envelope.nonce, { authTagLength: tagBytes });
  opening.setAAD(envelope.header);
  opening.setAuthTag(envelope.tag);
  try {
    return parseClaims(Buffer.concat([opening.update(envelope.ciphertext), opening.final()]).toString('utf8'));
  } catch {
    // The authentication tag is wrong: changed on the way, or made without the key.
    return null;
  }
}

function judge(claims: SignatureClaims, use: SignatureUse): SignatureRefusal | null {
  if (claims.model !== use.model) return 'model-changed';
  // A signature in another vendor's form cannot be used, even with `signature_passthrough`.
  if (claims.protocol !== use.protocol) return 'upstream-changed';
  if (use.passthrough) return null;
  if (claims.upstream !== use.upstream) return 'upstream-changed';
  return claims.account === use.account ? null : 'account-changed';
}
