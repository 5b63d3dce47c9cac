/** The keyring: what it refuses, what it seals, what opens where. */
import { createDecipheriv, hkdfSync } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { createKeyring, createOpener, generateMasterKey, MasterKeyError, SealError } from './index.ts';

const bytes = (make: (index: number) => number) => Buffer.from(Array.from({ length: 32 }, (_, index) => make(index))).toString('base64');
const faultOf = (act: () => unknown): Error & { code?: string } => {
  try {
    act();
  } catch (error) {
    return error as Error;
  }
  throw new Error('nothing was thrown');
};

describe('GATEWAY_MASTER_KEY', () => {
  test.each([
    ['', 'is empty'],
    ['   ', 'is empty'],
    ['not base64 !', 'is not base64'],
    ['c2hvcnQ=', 'has 5 bytes instead of 32'],
    ['ab'.repeat(32), 'has 48 bytes instead of 32'],
    [bytes(() => 0), 'is all zeros'],
    [bytes(() => 0xff), 'is a sample or a pattern'],
    [bytes((index) => index), 'is a sample or a pattern'],
    [bytes((index) => 200 - 3 * index), 'is a sample or a pattern'],
    [bytes((index) => (index % 16) * 11), 'is a sample or a pattern'],
    [Buffer.from('change-me-change-me-change-me-32').toString('base64'), 'is readable text'],
    [`${generateMasterKey()},${generateMasterKey()}`, 'entry 1 has no id'],
    [`a:${generateMasterKey()},`, 'entry 2 has no id'],
    [`a:${generateMasterKey()},b:${bytes(() => 0)}`, 'entry 2 is all zeros'],
    [`a b:${generateMasterKey()}`, 'has an id that is not'],
    [`:${generateMasterKey()}`, 'has an id that is not'],
    [`a:${generateMasterKey()},a:${generateMasterKey()}`, 'has two keys of one id'],
  ])('%s: %s', (spec, fault) => {
    const error = faultOf(() => createKeyring(spec));
    expect(error).toBeInstanceOf(MasterKeyError);
    expect(error.message).toContain(`GATEWAY_MASTER_KEY ${fault}`);
    expect(error.message).toContain('accepted: 32 random bytes in base64');
    expect(error.message).not.toContain('\n');
    for (const entry of spec.split(',')) if (entry.length > 12) expect(error.message).not.toContain(entry.slice(-12));
  });

  test('the same key twice is refused', () => {
    const key = generateMasterKey();
    expect(faultOf(() => createKeyring(`a:${key},b:${key}`)).message).toContain('has the same key twice');
  });

  test('what the generator makes is accepted, with or without padding, spaces and the URL alphabet', () => {
    for (let round = 0; round < 200; round += 1) expect(createKeyring(generateMasterKey()).id).toMatch(/^[0-9a-f]{12}$/);
    const key = generateMasterKey();
    const sealed = createKeyring(key).seal('x', 'a');
    for (const spelling of [`${key}\n`, key.replace(/=+$/, ''), key.replaceAll('+', '-').replaceAll('/', '_')])
      expect(createKeyring(spelling).open(sealed, 'a')).toBe('x');
  });
});

describe('sealing', () => {
  const first = generateMasterKey();
  const second = generateMasterKey();
  const ring = createKeyring(`new:${first},old:${second}`);

  test('opens with the same place only, and never shows the value', () => {
    const sealed = ring.seal('sk-sécret 😀', 'upstreams/1/api_keys/2');
    expect(sealed).toMatch(/^v2\.new\.[A-Za-z0-9_-]+$/);
    expect(sealed).not.toContain('sk-');
    expect(ring.open(sealed, 'upstreams/1/api_keys/2')).toBe('sk-sécret 😀');
    expect(faultOf(() => ring.open(sealed, 'upstreams/2/api_keys/2'))).toMatchObject({ code: 'not-authentic', message: expect.stringContaining('"new"') });
    expect(ring.open(ring.seal('', 'a'), 'a')).toBe('');
  });

  test('two seals of one value differ', () => {
    expect(ring.seal('x', 'a')).not.toBe(ring.seal('x', 'a'));
  });

  test('every flipped bit and every cut is noticed', () => {
    const sealed = ring.seal('value', 'a');
    const body = Buffer.from(sealed.slice('v2.new.'.length), 'base64url');
    for (let bit = 0; bit < body.length * 8; bit += 1) {
      const changed = Buffer.from(body);
      changed[bit >> 3]! ^= 1 << (bit & 7);
      expect(faultOf(() => ring.open(`v2.new.${changed.toString('base64url')}`, 'a')).code).toBe('not-authentic');
    }
    for (let length = 0; length < body.length; length += 1) {
      expect(faultOf(() => ring.open(`v2.new.${body.subarray(0, length).toString('base64url')}`, 'a'))).toBeInstanceOf(SealError);
    }
    expect(faultOf(() => ring.open(sealed.replace('v2.new', 'v2.old'), 'a')).code).toBe('not-authentic');
    for (const text of ['', 'v1', 'v2.new.AAAA', `v3.new.${'A'.repeat(60)}`, 'plain text', `v1..${'A'.repeat(60)}`])
      expect(faultOf(() => ring.open(text, 'a')).code).toBe('malformed');
  });

  test('rotation: the old key opens, the new seals, a missing one is named', () => {
    const before = createKeyring(`old:${second}`).seal('x', 'a');
    expect(ring.open(before, 'a')).toBe('x');
    expect(ring.isStale(before, 'a')).toBe(true);
    expect(ring.isStale(ring.seal('x', 'a'), 'a')).toBe(false);
    const error = faultOf(() => createKeyring(`new:${first}`).open(before, 'a'));
    expect(error).toMatchObject({ code: 'unknown-key', message: expect.stringContaining('"old"') });
  });

  test('a second rotation under the names of the first: each key opens what it sealed, and what the name meant before is stale', () => {
    const before = ring.seal('x', 'a');
    const third = generateMasterKey();
    const again = createKeyring(`new:${third},old:${first}`);
    expect(again.open(before, 'a')).toBe('x');
    expect(again.isStale(before, 'a')).toBe(true);
    expect(again.isStale(again.seal('x', 'a'), 'a')).toBe(false);
    expect(createOpener(again.sealingKeys('a')).open(before, 'a')).toBe('x');
    expect(faultOf(() => createKeyring(`new:${third}`).open(before, 'a'))).toMatchObject({ code: 'not-authentic', message: expect.stringContaining('"new"') });
  });

  test('a key under another name opens what it sealed', () => {
    expect(createKeyring(`renamed:${first}`).open(ring.seal('x', 'a'), 'a')).toBe('x');
  });

  test('each purpose has a key of its own, and no key that is derived for anything else is one of them', () => {
    const key = Buffer.from('c1a5298f939e87e8f962a5edfc206918a6b3d8f0e2417c5b9d0e1f2a3b4c5d6e', 'hex');
    const purposeKey = (purpose: string) => Buffer.from(hkdfSync('sha256', key, '', `model-gateway/seal/${purpose}`, 32));
    const sealed = createKeyring(`k:${key.toString('base64')}`).seal('value', 'upstreams/1/api_keys/2');
    const body = Buffer.from(sealed.slice('v2.k.'.length), 'base64url');
    const openUnder = (sealingKey: Buffer): string => {
      const opening = createDecipheriv('aes-256-gcm', sealingKey, body.subarray(0, 12));
      opening.setAAD(Buffer.from('v2.k.upstreams/1/api_keys/2'));
      opening.setAuthTag(body.subarray(-16));
      return opening.update(body.subarray(12, -16), undefined, 'utf8') + opening.final('utf8');
    };
    expect(openUnder(purposeKey('upstreams'))).toBe('value');
    const others = [purposeKey('access_keys'), purposeKey('mcp_servers'), Buffer.from(hkdfSync('sha256', key, '', 'model-gateway/seal', 32)), key];
    for (const other of [...others, createKeyring(`k:${key.toString('base64')}`).derive('seal/upstreams').key]) expect(() => openUnder(other)).toThrow();
  });

  test('what earlier versions sealed opens, is stale, and cannot be passed off as sealed today', () => {
    const key = Buffer.from('c1a5298f939e87e8f962a5edfc206918a6b3d8f0e2417c5b9d0e1f2a3b4c5d6e', 'hex').toString('base64');
    const unnamed = 'v1.00a9615b05aa.1zQHbPsdnf_WXzRm7zJ5W3-inUNfeEl0vUiJgiNygMUOLa8hQ9UqJAmI5r1l7tyZBCMCaSPR7IN8aOY';
    const named = 'v1.old.9TE_RfIkJCampwjRMdTuo3gvLQc1na8oou3hQ0CqooZma1eYPv_YzISiU9LwIGmwg_oBVA';
    const ring = createKeyring(`new:${generateMasterKey()},old:${key}`);
    expect(ring.open(unnamed, 'upstreams/1/api_keys/2')).toBe('sk-sealed-by-an-earlier-version');
    expect(ring.open(named, 'access_keys/7/key')).toBe('gk-of-an-earlier-version');
    expect(createKeyring(`old:${key}`).isStale(named, 'access_keys/7/key')).toBe(true);
    expect(faultOf(() => ring.open(named, 'access_keys/8/key')).code).toBe('not-authentic');
    expect(faultOf(() => ring.open(named.replace('v1', 'v2'), 'access_keys/7/key')).code).toBe('not-authentic');
  });

  test('a key that began without an id is found after it got one', () => {
    const before = createKeyring(second);
    expect(ring.open(before.seal('x', 'a'), 'a')).toBe('x');
    expect(ring.deriveAll('p')).toContainEqual(before.derive('p'));
  });
});

describe('derived keys', () => {
  const ring = createKeyring(`a:${generateMasterKey()},b:${generateMasterKey()}`);

  test('are fixed per label and master key, and differ between labels', () => {
    expect(ring.derive('signatures')).toEqual(ring.derive('signatures'));
    expect(ring.derive('signatures').key).toHaveLength(32);
    expect(ring.derive('signatures').key.equals(ring.derive('seal').key)).toBe(false);
    const all = ring.deriveAll('signatures');
    expect(all[0]).toEqual(ring.derive('signatures'));
    expect(all.slice(0, 2).map(({ id }) => id)).toEqual(['a', 'b']);
    expect(all[0]!.key.equals(all[1]!.key)).toBe(false);
  });

  test('are what HKDF-SHA256 gives (computed once by hand)', () => {
    const key = Buffer.from('c1a5298f939e87e8f962a5edfc206918a6b3d8f0e2417c5b9d0e1f2a3b4c5d6e', 'hex');
    expect(createKeyring(key.toString('base64')).derive('check').key.toString('hex')).toBe('6465b4e990cb5a6602d84a404c533ff38097447163ce319d55c731194b62e67f');
  });
});
