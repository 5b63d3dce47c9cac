import { describe, expect, test } from '@jest/globals';
import { sessionHeaders, sessionOf, sessionOfCacheKey } from '../src/admission/session.ts';

describe('the session of a request', () => {
  test.each(sessionHeaders)('%s', (name) => expect(sessionOf({ [name]: 'one-1' })).toBe('one-1'));
  test('what names its client comes first', () => expect(sessionOf({ 'x-session-id': 'b', 'x-claude-code-session-id': 'a' })).toBe('a'));
  test.each(['', ' ', 'a b', 'a\u00e9', 'x'.repeat(129), 'a,\tb'])('%j is no plain token', (value) => expect(sessionOf({ session_id: value })).toBeNull());
  test('nothing is said', () => expect(sessionOf({ 'user-agent': 'x' })).toBeNull());
  test('a cache key is one when it is a UUID', () => {
    const of = (text: string) => sessionOfCacheKey(Buffer.from(text), { start: 0, end: Buffer.byteLength(text) });
    expect(of('"0f8fad5b-d9cb-469f-a165-70867728950e"')).toBe('0f8fad5b-d9cb-469f-a165-70867728950e');
    expect(of('"session_0f8fad5b-d9cb-469f-a165-70867728950e"')).toBe('session_0f8fad5b-d9cb-469f-a165-70867728950e');
    for (const other of [
      '"my-app"',
      '"another_0f8fad5b-d9cb-469f-a165-70867728950e"',
      '"0f8fad5b-d9cb-469f-a165-7086772895zz"',
      'null',
      `"${'x'.repeat(10_000)}"`,
    ])
      expect(of(other)).toBeNull();
  });
});
