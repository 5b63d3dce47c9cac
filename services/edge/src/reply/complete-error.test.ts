/** The vendor's words in a whole shape. */
import { describe, expect, test } from '@jest/globals';
import { completeError } from './complete-error.ts';

const complete = (given: unknown, drawn: unknown): unknown => JSON.parse(completeError(JSON.stringify(given), JSON.stringify(drawn)));

describe('an error body of the upstream', () => {
  const chat = { error: { message: 'ours', type: 'invalid_request_error', param: null, code: 'upstream_rejected' } };
  const messages = { type: 'error', error: { type: 'invalid_request_error', message: 'ours' }, request_id: 'our-id' };

  test('keeps its words and gets the fields it lacks', () => {
    expect(complete({ error: { message: 'theirs', code: null, inner: 1 } }, chat)).toEqual({
      error: { message: 'theirs', type: 'invalid_request_error', param: null, code: null, inner: 1 },
    });
  });

  test('reports our request id, never the upstream’s', () => {
    const theirs = { type: 'error', error: { type: 'request_too_large', message: 'theirs' }, request_id: 'their-id', detail: 'x' };
    expect(complete(theirs, messages)).toEqual({ ...theirs, request_id: 'our-id' });
  });

  test.each([[{ detail: 'bad' }], [{ error: 'bad' }], [{ error: { code: 1 } }], [[{ error: { message: 'm' } }]], [null]])(
    '%j is told in our own shape',
    (given) => {
      expect(complete(given, chat)).toEqual(chat);
    },
  );

  test('an error body that nests too deep to be printed again is answered in our own shape', () => {
    const nested = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
    expect(completeError(`{"error":{"message":"m","details":${nested}}}`, JSON.stringify(chat))).toBe(JSON.stringify(chat));
  });

  test('plain text of the gateway stays, and names of the prototype are plain fields', () => {
    expect(completeError('Rate limit exceeded (2 requests per 30s). Retry after 30s', JSON.stringify(chat))).toMatch(/^Rate limit exceeded \(2/);
    expect(completeError('{"error":{"message":"m","__proto__":{"x":1}}}', JSON.stringify(chat))).toContain('"__proto__":{"x":1}');
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });
});
