/** Envelopes of the first generation: they open while the model is the same, and only then. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { sealLegacy } from '../test/legacy-writer.ts';
import { type EnvelopeKey, envelopePrefix, openSignature, ownerOf } from './index.ts';

const key: EnvelopeKey = { id: 'k1', key: Buffer.alloc(32, 1) };
const use = { model: 'm', upstream: 'up', account: 'acc', protocol: 'beta', passthrough: false };

describe('an old envelope', () => {
  test('opens for the same model at any upstream and account', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (signature) => {
        const sealed = sealLegacy('m', signature, key);
        expect(sealed.startsWith(envelopePrefix)).toBe(true);
        expect(openSignature(sealed, [key], { ...use, upstream: 'elsewhere', account: 'other' })).toEqual({ ok: true, signature });
      }),
      { numRuns: 50 },
    );
  });

  test('is stripped when the model changes, passthrough or not', () => {
    for (const passthrough of [false, true])
      expect(openSignature(sealLegacy('m', 's', key), [key], { ...use, model: 'n', passthrough })).toEqual({ ok: false, reason: 'model-changed' });
  });

  test('opens with any of several keys, and with no other', () => {
    const second: EnvelopeKey = { id: 'k2', key: Buffer.alloc(32, 2) };
    const sealed = sealLegacy('m', 's', second);
    expect(openSignature(sealed, [key, second], use).ok).toBe(true);
    expect(openSignature(sealed, [key], use)).toEqual({ ok: false, reason: 'unknown-key' });
    expect(openSignature(sealed, [{ ...key, id: 'k2' }], use)).toEqual({ ok: false, reason: 'forged' });
  });

  test('shows no owner, and any changed byte closes it', () => {
    const sealed = sealLegacy('m', 's', key);
    expect(ownerOf(sealed)).toBeNull();
    const bytes = Buffer.from(sealed, 'base64');
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = Buffer.from(bytes);
      changed[at]! ^= 0xff;
      expect(openSignature(changed.toString('base64'), [key], use).ok).toBe(false);
    }
  });
});
