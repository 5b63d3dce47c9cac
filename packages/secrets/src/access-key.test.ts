/** Access keys: format, checksum, hash and mask; and values that never print. */
import { inspect } from 'node:util';
import { crc32 } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { hashAccessKey, isAccessKeyFormat, maskKey, mintAccessKey, Secret } from './index.ts';

describe('access keys', () => {
  test('minted keys have the form and are all different', () => {
    const keys = Array.from({ length: 500 }, mintAccessKey);
    expect(new Set(keys).size).toBe(500);
    for (const key of keys) {
      expect(key).toMatch(/^gk-[0-9A-Za-z]{46}$/);
      expect(isAccessKeyFormat(key)).toBe(true);
    }
  });

  test('the checksum is CRC32 of the random part in base62', () => {
    const key = mintAccessKey();
    const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
    const value = [...key.slice(-6)].reduce((sum, digit) => sum * 62 + digits.indexOf(digit), 0);
    expect(value).toBe(crc32(key.slice(3, 43)));
  });

  test('every single-character typo is noticed', () => {
    const key = mintAccessKey();
    for (let index = 0; index < key.length; index += 1) {
      const other = key[index] === 'x' ? 'y' : 'x';
      expect(isAccessKeyFormat(key.slice(0, index) + other + key.slice(index + 1))).toBe(false);
    }
    for (const text of ['', 'gk-', `${key}0`, key.slice(0, -1), ` ${key}`, key.toUpperCase(), `sk${key.slice(2)}`, `${key}\n`])
      expect(isAccessKeyFormat(text)).toBe(false);
  });

  test('every character is about equally likely', () => {
    const counts = new Map<string, number>();
    for (let round = 0; round < 1_000; round += 1)
      for (const character of mintAccessKey().slice(3, 43)) counts.set(character, (counts.get(character) ?? 0) + 1);
    expect(counts.size).toBe(62);
    // 40,000 draws over 62 characters: 645 expected, standard deviation 25.
    for (const count of counts.values()) expect(Math.abs(count - 645)).toBeLessThan(180);
  });

  test('the hash is SHA-256 in lower-case hex', () => {
    expect(hashAccessKey('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });

  test('masks show four characters at each end, of short values nothing', () => {
    expect(maskKey('gk-0123456789abcdef')).toBe('gk-0****cdef');
    expect(maskKey('0123456789abcde')).toBe('****');
    expect(maskKey('')).toBe('****');
  });
});

test('a Secret shows itself only when asked', () => {
  const secret = new Secret('sk-value');
  const shown = [`${secret}`, String(secret), JSON.stringify({ secret }), inspect(secret), inspect({ deep: [secret] }), Object.values(secret).join()].join(' ');
  expect(shown).not.toContain('sk-value');
  expect(`${secret}`).toBe('***');
  expect(secret.reveal()).toBe('sk-value');
});
