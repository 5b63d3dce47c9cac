import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createRedactor } from './redactor.ts';

describe('redactor', () => {
  test.each([
    ['Authorization: Bearer abc.def-123', 'abc.def-123'],
    ['{"authorization":"Bearer abcdefgh1234"}', 'abcdefgh1234'],
    ['failed with sk-proj-AAAABBBBCCCC', 'AAAABBBBCCCC'],
    ['key gk-0123456789abcdef', '0123456789abcdef'],
    ['x-api-key: verysecretvalue', 'verysecretvalue'],
    ['{"x-goog-api-key":"verysecretvalue"}', 'verysecretvalue'],
    ['GET /v1beta/models?key=verysecretvalue&alt=sse', 'verysecretvalue'],
    ['postgres://user:verysecretvalue@db/x', 'verysecretvalue'],
    ['AIzaSyA1234567890abcdefghijk', 'SyA1234567890'],
  ])('masks what looks like a credential: %s', (text, secret) => {
    expect(createRedactor().redact(text)).not.toContain(secret);
  });

  test('leaves ordinary text alone', () => {
    const text = 'POST /v1/messages 200 in 12 ms, 3 tokens, model claude-x, risk-free-and-longish';
    expect(createRedactor().redact(text)).toBe(text);
  });

  test('masks known secrets anywhere in a text, and their encoded forms', () => {
    const redactor = createRedactor();
    redactor.add('p@ss/w"rd');
    expect(redactor.redact('a p@ss/w"rd b')).toBe('a [redacted] b');
    expect(redactor.redact(encodeURIComponent('p@ss/w"rd'))).toBe('[redacted]');
    expect(redactor.redact(JSON.stringify({ a: 'p@ss/w"rd' }))).toBe('{"a":"[redacted]"}');
  });

  test('add and remove are counted; short secrets are not tracked', () => {
    const redactor = createRedactor();
    redactor.add('hunter22');
    redactor.add('hunter22');
    redactor.remove('hunter22');
    expect(redactor.redact('x hunter22')).toBe('x [redacted]');
    redactor.remove('hunter22');
    expect(redactor.redact('x hunter22')).toBe('x hunter22');
    redactor.add('abc');
    expect(redactor.redact('abcabc')).toBe('abcabc');
  });

  test('no secret survives any surroundings', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ minLength: 6, maxLength: 24 }), { minLength: 1, maxLength: 8 }), fc.string(), fc.string(), (secrets, before, after) => {
        const redactor = createRedactor();
        for (const secret of secrets) redactor.add(secret);
        const out = redactor.redact(before + secrets[0] + after);
        // The mask itself is made of letters: a secret may be a part of it.
        if ('[redacted]'.includes(secrets[0] as string)) return;
        expect(out.split('[redacted]').some((part) => part.includes(secrets[0] as string))).toBe(false);
      }),
    );
  });

  test('overlapping secrets are masked together', () => {
    const redactor = createRedactor();
    for (const secret of ['abcdefgh', 'efghijkl', 'cdefghijklmn']) redactor.add(secret);
    expect(redactor.redact('1 abcdefghijklmn 2 abcdefgh 3')).toBe('1 [redacted] 2 [redacted] 3');
  });

  test('stays fast with thousands of secrets', () => {
    const redactor = createRedactor();
    for (let i = 0; i < 5000; i++) redactor.add(`secret-number-${i}-${'z'.repeat(i % 30)}`);
    const text = 'secret-number-secret-number-1'.repeat(70);
    const started = process.cpuUsage();
    for (let i = 0; i < 100; i++) redactor.redact(text);
    expect(process.cpuUsage(started).user / 100_000).toBeLessThan(50);
  });
});
