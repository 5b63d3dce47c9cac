import { describe, expect, test } from '@jest/globals';
import { createKeyring } from './keyring.ts';
import { generateMasterKey } from './master-key.ts';
import { createShortLivedKeys, isShortLivedKey, ShortLivedKeyVerifier } from './short-lived-key.ts';

const master = generateMasterKey();
const keys = createShortLivedKeys(createKeyring(master));
const claims = { parent: 'key_1', expiresAt: 1_800_000_000_000, use: 'realtime', model: 'voice' };
const carried = JSON.stringify({ session: { instructions: 'é secret words '.repeat(50) } });
const minted = keys.mint(claims, carried, 8000)!;
const readOf = (text: string, among = keys.verificationKeys) => {
  const read = new ShortLivedKeyVerifier(among).read(text);
  if (read === null || read === 'unknown-issuer') throw new Error(`${read}`);
  return read;
};

describe('short-lived keys', () => {
  test('anybody with the public half reads the claims, and only the issuer what is carried', () => {
    expect(isShortLivedKey(minted)).toBe(true);
    // A subprotocol of a handshake may hold nothing else.
    expect(minted).toMatch(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/);
    const read = readOf(minted);
    expect(read.claims).toEqual(claims);
    expect(keys.open(read.carried)).toBe(carried);
    // What is left of it is no key.
    expect(new ShortLivedKeyVerifier(keys.verificationKeys).read(`ek_${read.carried}`)).toBeNull();
    expect(Buffer.from(minted, 'base64url').toString('latin1')).not.toContain('secret');
    expect(createShortLivedKeys(createKeyring(generateMasterKey())).open(read.carried)).toBeNull();
    expect(JSON.stringify(keys.verificationKeys)).not.toContain(master.slice(0, 20));
  });

  test('any changed character makes it worthless', () => {
    const verifier = new ShortLivedKeyVerifier(keys.verificationKeys);
    for (let at = 3; at < minted.length; at += 7) {
      const other = minted[at] === 'A' ? 'B' : 'A';
      const changed = `${minted.slice(0, at)}${other}${minted.slice(at + 1)}`;
      const read = verifier.read(changed);
      expect(read === null || read === 'unknown-issuer').toBe(true);
    }
    for (const text of ['', 'ek_', 'ek_a.b.c', `${minted}x`, minted.slice(0, -1), `gk-${minted.slice(3)}`]) expect(verifier.read(text)).toBeNull();
    // Claims of one with what another carries.
    const head = minted.slice(3, minted.indexOf('.'));
    const [, sealed] = keys.mint({ ...claims, expiresAt: 1 }, carried, 8000)!.split('.');
    expect(keys.open(`${head}.${sealed}`)).toBeNull();
  });

  test('an older master key goes on working; one that is not known is told apart; what does not fit is not made', () => {
    const spec = (id: string, key: string): string => `${id}:${key.includes(':') ? key.split(':')[1] : key}`;
    const [a, b] = [spec('a', generateMasterKey()), spec('b', generateMasterKey())];
    const before = createShortLivedKeys(createKeyring(a));
    const after = createShortLivedKeys(createKeyring(`${b},${a}`));
    const old = before.mint(claims, 'x', 8000)!;
    const read = readOf(old, after.verificationKeys);
    expect(read.claims).toEqual(claims);
    expect(after.open(read.carried)).toBe('x');
    expect(new ShortLivedKeyVerifier(before.verificationKeys).read(after.mint(claims, 'x', 8000)!)).toBe('unknown-issuer');
    expect(keys.mint(claims, carried, 100)).toBeNull();
  });
});
