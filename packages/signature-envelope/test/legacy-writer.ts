/** Writes envelopes of the first generation, as a gateway before the upgrade did; for tests alone. */
import { createCipheriv, randomBytes } from 'node:crypto';
import { forms, headerOf, nonceBytes, printEnvelope, tagBytes } from '../src/envelope.ts';
import { type EnvelopeKey, keyPair } from '../src/keys.ts';

export function sealLegacy(model: string, signature: string, key: EnvelopeKey): string {
  const header = headerOf(forms.legacy, key.id);
  const nonce = randomBytes(nonceBytes);
  const sealing = createCipheriv('aes-256-gcm', keyPair(key).legacy, nonce, { authTagLength: tagBytes });
  sealing.setAAD(header);
  const ciphertext = Buffer.concat([sealing.update(JSON.stringify([model, signature]), 'utf8'), sealing.final()]);
  return printEnvelope({ header, nonce, ciphertext, tag: sealing.getAuthTag() });
}
