/** Envelopes: what opens, what does not, and why; no input throws. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type EnvelopeKey, envelopePrefix, isEnvelope, openSignature, type SignatureClaims, type SignatureUse, sealSignature } from './index.ts';

const keyOf = (id: string, fill: number): EnvelopeKey => ({ id, key: Buffer.alloc(32, fill) });
const key = keyOf('k1', 1);
const other = keyOf('k2', 2);
const claims: SignatureClaims = {
  signature: 'EqQBCkYIARgCKkDx+/=proof',
  model: 'm',
  upstream: 'up',
  account: 'acc',
  protocol: 'beta',
  prefixHash: 'abc123',
};
const use: SignatureUse = { model: 'm', upstream: 'up', account: 'acc', protocol: 'beta', passthrough: false };
const open = (text: string, changed: Partial<SignatureUse> = {}, keys: readonly EnvelopeKey[] = [key]) => openSignature(text, keys, { ...use, ...changed });

describe('what opens', () => {
  test('opens to the signature and its claims', () => {
    expect(open(sealSignature(claims, key))).toEqual({ ok: true, signature: claims.signature, protocol: 'beta', prefixHash: 'abc123' });
    const { prefixHash: _, ...without } = claims;
    expect(open(sealSignature(without, key))).toEqual({ ok: true, signature: claims.signature, protocol: 'beta' });
  });

  test('any signature, byte for byte, with any key id', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), fc.string({ unit: 'grapheme', maxLength: 20 }), (signature, id) => {
        const sealed = sealSignature({ ...claims, signature }, keyOf(id, 9));
        expect(sealed.startsWith(envelopePrefix)).toBe(true);
        expect(open(sealed, {}, [other, keyOf(id, 9)])).toMatchObject({ ok: true, signature });
      }),
    );
  });

  test('base64url, and base64 without padding, open too', () => {
    for (let length = 0; length < 6; length += 1) {
      const sealed = sealSignature({ ...claims, signature: 'ÿ?>'.repeat(40) + 'x'.repeat(length) }, key);
      const unpadded = sealed.replace(/=+$/, '');
      const url = sealed.replaceAll('+', '-').replaceAll('/', '_');
      for (const text of [unpadded, url, url.replace(/=+$/, '')]) expect(open(text).ok).toBe(true);
    }
  });

  test('the text is standard base64 with a fixed beginning and hides what is inside', () => {
    const sealed = sealSignature(claims, key);
    expect(envelopePrefix).toHaveLength(8);
    expect(sealed).toMatch(/^bWdzaWcx[A-Za-z0-9+/]+={0,2}$/);
    expect(sealed.length % 4).toBe(0);
    expect(Buffer.from(sealed, 'base64').toString('latin1')).not.toContain('proof');
    expect(isEnvelope(sealed)).toBe(true);
    expect(isEnvelope(claims.signature)).toBe(false);
  });

  test('sealing is deterministic, and any difference inside changes the whole text after the header', () => {
    const sealed = sealSignature(claims, key);
    expect(sealSignature({ ...claims }, { id: key.id, key: Buffer.from(key.key) })).toBe(sealed);
    const changes: Partial<SignatureClaims>[] = [
      { signature: 'other' },
      { model: 'n' },
      { upstream: 'v' },
      { account: 'b' },
      { protocol: 'gamma' },
      { prefixHash: 'x' },
    ];
    const nonces = [{}, ...changes].map((change) =>
      Buffer.from(sealSignature({ ...claims, ...change }, key), 'base64')
        .subarray(10, 22)
        .toString('hex'),
    );
    expect(new Set(nonces).size).toBe(nonces.length);
  });
});

describe('what does not open', () => {
  const sealed = sealSignature(claims, key);

  test.each<[Partial<SignatureUse>, string]>([
    [{ model: 'n' }, 'model-changed'],
    [{ model: 'n', upstream: 'v', passthrough: true }, 'model-changed'],
    [{ upstream: 'v' }, 'upstream-changed'],
    [{ protocol: 'gamma' }, 'upstream-changed'],
    [{ account: 'b' }, 'account-changed'],
    [{ upstream: 'v', account: 'b' }, 'upstream-changed'],
  ])('%j: %s', (changed, reason) => {
    expect(open(sealed, changed)).toEqual({ ok: false, reason });
  });

  test('passthrough keeps it across upstream and account while the model is the same', () => {
    expect(open(sealed, { upstream: 'v', account: 'b', passthrough: true })).toMatchObject({ ok: true, signature: claims.signature });
  });

  test('an envelope of another key', () => {
    expect(open(sealed, {}, [other])).toEqual({ ok: false, reason: 'unknown-key' });
    expect(open(sealed, {}, [])).toEqual({ ok: false, reason: 'unknown-key' });
    expect(open(sealed, {}, [keyOf('k1', 7)])).toEqual({ ok: false, reason: 'forged' });
  });

  test('a key whose id was given to another since, or that has another id now', () => {
    const before = sealSignature(claims, keyOf('new', 9));
    expect(open(before, {}, [keyOf('new', 7), keyOf('old', 9)])).toMatchObject({ ok: true, signature: claims.signature });
    expect(open(before, {}, [keyOf('renamed', 9)])).toMatchObject({ ok: true, signature: claims.signature });
    expect(open(before, {}, [keyOf('new', 7), keyOf('old', 8)])).toEqual({ ok: false, reason: 'forged' });
  });

  test('every flipped bit', () => {
    const bytes = Buffer.from(sealed, 'base64');
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const changed = Buffer.from(bytes);
      changed[bit >> 3]! ^= 1 << (bit & 7);
      expect(open(changed.toString('base64')).ok).toBe(false);
    }
  });

  test('every cut, and anything appended', () => {
    const bytes = Buffer.from(sealed, 'base64');
    for (let length = 0; length < bytes.length; length += 1) expect(open(bytes.subarray(0, length).toString('base64')).ok).toBe(false);
    expect(open(Buffer.concat([bytes, Buffer.from([0])]).toString('base64'))).toEqual({ ok: false, reason: 'forged' });
    expect(open(`${sealed} `)).toEqual({ ok: false, reason: 'forged' });
  });

  test("a vendor's own signature is not an envelope", () => {
    for (const text of ['', 'EqQBCkYIARgC', 'skip_thought_signature_validator', ' bWdzaWcx', 'gAAAAABo'])
      expect(open(text)).toEqual({ ok: false, reason: 'not-ours' });
  });

  test('something else sealed with our key and header is refused, not trusted', () => {
    expect(open(sealSignature({ ...claims, model: undefined as unknown as string }, key))).toEqual({ ok: false, reason: 'forged' });
  });

  test('no text throws', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.base64String()), fc.boolean(), (text, prefixed) => {
        expect(open(prefixed ? envelopePrefix + text : text).ok).toBe(false);
      }),
      { numRuns: 1000 },
    );
  });
});

test('a key id that does not fit the envelope is a defect, said at once', () => {
  expect(() => sealSignature(claims, keyOf('x'.repeat(256), 1))).toThrow(RangeError);
});
