import { describe, expect, test } from '@jest/globals';
import { isPlainRest, splitModel } from './raw-path.ts';

describe('below /v3', () => {
  test.each([
    ['m/a%2Fb', { model: 'm', rest: 'a%2Fb' }],
    ['org%2Fm/v1/x', { model: 'org/m', rest: 'v1/x' }],
    ['m', { model: 'm', rest: '' }],
    ['m/', { model: 'm', rest: '' }],
    ['m/a//b', { model: 'm', rest: 'a//b' }],
    ['m/files/a:b;c=1,2/~x/...', { model: 'm', rest: 'files/a:b;c=1,2/~x/...' }],
    ['m/100%25/x%2541', { model: 'm', rest: '100%25/x%2541' }],
    ['m/a;b=1/..a;c', { model: 'm', rest: 'a;b=1/..a;c' }],
    ['m/a/%252e%252e/b', { model: 'm', rest: 'a/%252e%252e/b' }],
    ['m/%C3%BC%20%2525', { model: 'm', rest: '%C3%BC%20%2525' }],
  ])('%s passes as it is', (text, split) => expect(splitModel(text)).toEqual(split));

  test.each([
    '',
    '/x',
    '../x',
    '%2e%2E/x',
    '%/x',
    'm/..',
    'm/a/../b',
    'm/./b',
    'm/%2e%2e/b',
    'm/.%2E/b',
    'm/a%2f..%2fb',
    'm/a%2F%2e%2e',
    'm/a/..;/b',
    'm/a/..;x=1/b',
    'm/a/%2e.%3b/b',
    'm//host/x',
    'm/%2Fhost',
    'm/a\\b',
    'm/a%5Cb',
    'm/a%0d%0aX: y',
    'm/a%0Ab',
    'm/a%00',
    'm/a%7F',
    'm/a\r\nb',
    'm/a b',
    'm/a#b',
    'm/a?b',
    'm/100%',
    'm/ü',
  ])('%s is refused', (text) => expect(splitModel(text)).toBeNull());
});

describe('below /v1/services', () => {
  test.each(['aigc/text-generation/generation', 'a', 'a.b/c-d'])('%s passes', (rest) => expect(isPlainRest(rest)).toBe(true));
  test.each(['', '../../x', '%2e%2e/x', 'a/%2e', 'a%2Eb', 'a%2fb', '/host/x', 'a//b', 'a%0d%0a', 'a/..'])('%s is refused', (rest) =>
    expect(isPlainRest(rest)).toBe(false),
  );
});
