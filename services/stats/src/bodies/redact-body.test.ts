import { describe, expect, test } from '@jest/globals';
import { createRedactor } from '@model-gateway/telemetry';
import fc from 'fast-check';
import { cutText, redactBody } from './redact-body.ts';

const known = createRedactor();
known.add('upstream-secret/one');
const redact = (text: string) => redactBody(text, known.redactKnown);
const nested = (value: unknown, depth: number): string => (depth === 0 ? JSON.stringify(value) : JSON.stringify({ arguments: nested(value, depth - 1) }));

describe('what a stored body never contains', () => {
  test.each([
    ['a known secret', 'use upstream-secret/one please', 'upstream-secret'],
    ['a known secret, its slash escaped', String.raw`{"a":"upstream-secret\/one"}`, 'upstream-secret'],
    ['a known secret, written as codes', String.raw`{"a":"\u0075pstream-secret\u002fone"}`, 'pstream-secret'],
    ['a bearer token', 'curl -H "Authorization: Bearer abc.def-123"', 'abc.def-123'],
    ['a bearer token in JSON', '{"messages":[{"content":"-H \'Authorization: Bearer abcdefgh1234\'"}]}', 'abcdefgh1234'],
    ['a field of JSON', '{"api_key":"a b, c; d"}', 'a b, c'],
    ['a field with quotes in it', JSON.stringify({ password: 'one "two" three\\' }), 'two'],
    ['a number', '{"password": 12345678}', '12345678'],
    ['a header list', '{"x-api-key":"verysecretvalue"}', 'verysecretvalue'],
    ['camel case', '{"secretAccessKey":"wJalrXUtnFEMIK7MDENG"}', 'wJalrXUtnFEMI'],
    ['single quotes', "{'client_secret': 'abc def'}", 'abc def'],
    ['an environment file', 'DB_PASSWORD=hunter2\\nOPENAI_API_KEY=abc123def', 'hunter2'],
    ['the second line of it', 'DB_PASSWORD=hunter2\\nOPENAI_API_KEY=abc123def', 'abc123def'],
    ['a cookie', 'Cookie: session=abcd1234; other=efgh5678', 'efgh5678'],
    ['a vendor key', 'my key is sk-proj-AAAABBBBCCCC', 'AAAABBBBCCCC'],
    ['an access key of this gateway', 'gk-0123456789abcdefghij', '0123456789'],
    ['a key of a map', 'AIzaSyA1234567890abcdefghijk', 'SyA1234567890'],
    ['a cloud key id', 'AKIAIOSFODNN7EXAMPLE', 'IOSFODNN7'],
    ['a repository token', 'ghp_abcdefghijklmnopqrstuvwxyz0123', 'abcdefghijkl'],
    ['a chat token', 'xoxb-1234567890-abcdefghij', '1234567890'],
    ['a signed token', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcDEF123', 'eyJzdWIi'],
    ['a private key', '-----BEGIN RSA PRIVATE KEY-----\\nMIIEow\\n-----END RSA PRIVATE KEY-----', 'MIIEow'],
    ['a private key that is cut', '-----BEGIN PRIVATE KEY-----\\nMIIEow', 'MIIEow'],
    ['a key in an address', 'GET /v1beta/models?key=verysecretvalue&alt=sse', 'verysecretvalue'],
    ['a password in an address', 'postgres://user:verysecretvalue@db/x', 'verysecretvalue'],
    ['a long token', '{"token":"0123456789abcdef"}', '0123456789abcdef'],
    ['a field without an end', '{"password":"abcdef', 'abcdef'],
  ])('%s', (_name, text, secret) => {
    expect(redact(text)).not.toContain(secret);
    expect(redact(text)).toContain('[redacted]');
  });

  test('however deep JSON nests in JSON strings', () => {
    for (let depth = 0; depth < 4; depth++) {
      const text = nested({ password: 'se"cr\\et', other: 'kept "here"' }, depth);
      const out = redact(text);
      expect(out).toBe(nested({ password: '[redacted]', other: 'kept "here"' }, depth));
    }
  });

  test('whatever the value of a field is, and the rest of the body stays', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.json({ maxDepth: 2 }), fc.integer({ min: 0, max: 3 }), (secret, rest, depth) => {
        const body = { before: 'words', password: secret, after: 'words' };
        expect(redact(nested(body, depth))).toBe(nested({ ...body, password: '[redacted]' }, depth));
        JSON.parse(redact(JSON.stringify({ password: secret, rest: JSON.parse(rest) })));
      }),
    );
  });
});

test('ordinary bodies stay as they are', () => {
  for (const text of [
    '{"model":"m","max_tokens":512,"messages":[{"role":"user","content":"Basic training is hard: what is a password?"}]}',
    '{"tools":[{"name":"login","parameters":{"type":"object","properties":{"password":{"type":"string"},"token":{"type":"string"}}}}]}',
    '{"logprobs":{"content":[{"token":"Hello","logprob":-0.3,"bytes":[72]}]}}',
    '{"usage":{"input_tokens":12,"cached_tokens":0},"authorization":null,"secret":true}',
    String.raw`{"content":"a \\u0041 b \"c\" \\\/ \n"}`.replace(String.raw`\/`, '/'),
    'data: {"type":"message_start"}\n\ndata: [DONE]\n\n',
  ])
    expect(redact(text)).toBe(text);
});

test('hostile texts take no longer than others', () => {
  for (const piece of [
    '"password":"',
    '\\"token\\":\\"',
    '-----BEGIN PRIVATE KEY-----',
    'Bearer ',
    '://a:',
    'eyJ'.padEnd(12, 'a'),
    'eyJaaaaaaaa-',
    'password=',
    '\\',
    '?key=',
    "token:'\\",
    'Basic a',
  ]) {
    const text = piece.repeat(Math.ceil(200_000 / piece.length));
    // Of the processor, not of the clock: others may be at work.
    const began = process.cpuUsage();
    redact(text);
    const { user, system } = process.cpuUsage(began);
    expect([piece, user + system < 1_000_000]).toEqual([piece, true]);
  }
});

test('a JSON web token is found wherever it stands', () => {
  const token = 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0.c2lnbmVk';
  for (const [text, left] of [
    [token, '[redacted]'],
    [`x-${token} ${token}`, 'x-[redacted] [redacted]'],
    [`a-long-beginning.${token}.more`, 'a-long-beginning.[redacted].more'],
    [`${token.slice(0, 19)}.short`, `${token.slice(0, 19)}.short`],
    ['no-token-at-all.of-this-form', 'no-token-at-all.of-this-form'],
    ['beyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0', 'beyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0'],
  ] as const)
    expect(redact(text)).toBe(left);
});

test('a cut never splits a character', () => {
  expect(cutText('añb', 2)).toBe('a');
  expect(cutText('a😀b', 4)).toBe('a');
  expect(cutText('a😀b', 5)).toBe('a😀');
  expect(cutText('abc', 0)).toBe('');
  expect(cutText('abc', -5)).toBe('');
  expect(cutText('abc', 9)).toBe('abc');
});
