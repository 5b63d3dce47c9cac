import { expect, test } from '@jest/globals';
import { holdsWords, looksLikeKey, settingPlaces } from './places.ts';

test('every word counts, in any order and case', () => {
  expect(holdsWords('key NEW', 'New access key')).toBe(true);
  expect(holdsWords('timeout', 'Time-outs of an upstream', 'timeout time limit')).toBe(true);
  expect(holdsWords('key gone', 'New access key')).toBe(false);
  expect(holdsWords('', 'anything')).toBe(true);
});

test.each([
  ['gk-abcdefgh1234567890', true],
  [' sk-proj-abcdefgh12345678 ', true],
  ['AIzaSyA1234567890abcdef', true],
  ['gk-team', false],
  ['sk-', false],
  ['openai-main', false],
  ['0f9c2f0e-1f5e-4b52-8b59-0f9c2f0e1f5e', false],
])('%j is a key: %j', (text, expected) => expect(looksLikeKey(text)).toBe(expected));

test('settings have names of their own', () => expect(new Set(settingPlaces.map(({ id }) => id)).size).toBe(settingPlaces.length));
