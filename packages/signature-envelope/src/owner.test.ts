/** The owner's tag: read from a body without a key, and no more than a wish. */
import { describe, expect, test } from '@jest/globals';
import { type EnvelopeKey, lastOwner, openSignature, ownerOf, ownerTag, sealSignature } from './index.ts';

const key: EnvelopeKey = { id: 'k1', key: Buffer.alloc(32, 1) };
const claims = { signature: 'proof', model: 'm', upstream: 'up', account: 'acc', protocol: 'beta' };
const use = { model: 'm', upstream: 'up', account: 'acc', protocol: 'beta', passthrough: false };
const owner = ownerTag('id-of-up', 'acc', 'm');

describe('the owner of an envelope', () => {
  test('is read without a key, whatever the length of the key id and the alphabet', () => {
    for (const id of ['', 'k1', 'key-0123456789', 'x'.repeat(255)]) {
      const sealed = sealSignature({ ...claims, owner }, { id, key: key.key });
      expect(ownerOf(sealed)).toBe(owner);
      expect(ownerOf(sealed.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, ''))).toBe(owner);
      expect(openSignature(sealed, [{ id, key: key.key }], use)).toEqual({ ok: true, signature: 'proof', protocol: 'beta' });
    }
  });

  test('is another for another account or upstream, and absent where none was sealed', () => {
    expect(ownerTag('id-of-up', 'other', 'm')).not.toBe(owner);
    expect(ownerTag('other', 'acc', 'm')).not.toBe(owner);
    expect(ownerTag('id-of-up', 'acc', 'n')).not.toBe(owner);
    expect(ownerOf(sealSignature(claims, key))).toBeNull();
    for (const text of ['', 'bWdzaWcx', 'bWdzaWcxAw', 'EqQB', 'bWdzaWcxAwJrMQ']) expect(ownerOf(text)).toBeNull();
  });

  test('cannot be changed on an envelope that shall open', () => {
    const bytes = Buffer.from(sealSignature({ ...claims, owner }, key), 'base64');
    Buffer.from(ownerTag('elsewhere', 'acc', 'm'), 'base64url').copy(bytes, 10);
    expect(ownerOf(bytes.toString('base64'))).toBe(ownerTag('elsewhere', 'acc', 'm'));
    expect(openSignature(bytes.toString('base64'), [key], use)).toEqual({ ok: false, reason: 'forged' });
  });
});

test('of several envelopes in a body the last counts, and none is none', () => {
  const other = ownerTag('id-of-up', 'second', 'm');
  const sealed = [owner, other].map((tag) => sealSignature({ ...claims, owner: tag }, key));
  expect(lastOwner(Buffer.from(JSON.stringify({ messages: sealed })))).toBe(other);
  expect(lastOwner(Buffer.from('{"messages":[]}'))).toBeNull();
  expect(lastOwner(Buffer.from('{"x":"bWdzaWcx"}'))).toBeNull();
});
