/**
 * Envelopes of the first generation, which name the model alone (docs/decisions/0006). They are opened and never written: a caller may hold one in a
 * conversation that began before an upgrade, and it stays valid as long as the model is the same.
 */
import { createDecipheriv } from 'node:crypto';
import { type Envelope, tagBytes } from './envelope.ts';
import { type EnvelopeKey, keyPair } from './keys.ts';

/** What is sealed inside: the JSON text of `[model, signature]`. Null when the tag does not fit or the text is something else. */
export function openLegacy(envelope: Envelope, key: EnvelopeKey): { model: string; signature: string } | null {
  const opening = createDecipheriv('aes-256-gcm', keyPair(key).legacy, envelope.nonce, { authTagLength: tagBytes });
  opening.setAAD(envelope.header);
  opening.setAuthTag(envelope.tag);
  let fields: unknown;
  try {
    fields = JSON.parse(Buffer.concat([opening.update(envelope.ciphertext), opening.final()]).toString('utf8'));
  } catch {
    // Forged, cut, or sealed by other code: not usable.
    return null;
  }
  const [model, signature] = Array.isArray(fields) && fields.length === 2 ? (fields as unknown[]) : [];
  return typeof model === 'string' && typeof signature === 'string' ? { model, signature } : null;
}
