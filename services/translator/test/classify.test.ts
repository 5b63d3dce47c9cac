/** What each class of fault means for the caller, and for the next key. */
import { describe, expect, test } from '@jest/globals';
import type { UpstreamFault } from '@model-gateway/protocols';
import { faultToError, healthSign, nextStep, outboundFault, signOfCall, wasUnreached } from '../src/attempt/classify.ts';

const secret = 'sk-canary-4711';
const facts = { clean: (text: string) => text.replaceAll(secret, '***') };
const fault = (kind: UpstreamFault['class'], more: Partial<UpstreamFault> = {}): UpstreamFault => ({ class: kind, message: `said with ${secret}`, ...more });

describe('faults that are not the caller’s: our own sentence, our own status', () => {
  test.each([
    ['credential', 401, 'upstream_credential', 502],
    ['credential', 403, 'upstream_credential', 502],
    ['account', 400, 'upstream_failed', 502],
    ['rate', 429, 'upstream_rate_limited', 429],
    ['overloaded', 529, 'upstream_overloaded', 503],
    ['overloaded', 503, 'upstream_overloaded', 503],
    ['server', 500, 'upstream_failed', 502],
    ['timeout', undefined, 'upstream_timeout', 504],
    ['connect', undefined, 'upstream_failed', 502],
    ['broken', 200, 'upstream_broken', 502],
  ] as [UpstreamFault['class'], number | undefined, string, number][])('%s (%p) is %s, %d', (kind, status, code, answered) => {
    const error = faultToError(fault(kind, { ...(status !== undefined && { status }) }), { ...facts, body: `{"error":"${secret}"}` });
    expect(error).toMatchObject({ code, status: answered });
    expect(error.body).toBeUndefined();
    expect(JSON.stringify(error.toWire())).not.toContain('said with');
    // Operators still read the words, without the credential.
    expect(String(error.cause)).toContain('said with ***');
  });

  test('a Retry-After is handed on in whole seconds, never 0', () => {
    expect(faultToError(fault('rate', { retryAfterMs: 1200 }), facts).retryAfter).toBe(2);
    expect(faultToError(fault('rate', { retryAfterMs: 1 }), facts).retryAfter).toBe(1);
    expect(faultToError(fault('rate', { retryAfterMs: 0 }), facts).retryAfter).toBe(1);
    expect(faultToError(fault('rate'), facts).retryAfter).toBeUndefined();
  });
});

test.each([
  ['unreadable', 'upstream_bad_reply'],
  ['malformed', 'upstream_bad_reply'],
  ['incomplete', 'upstream_broken'],
])('a reply that is %s is %s', (code, told) => {
  expect(faultToError(fault('broken', { status: 200, code }), facts)).toMatchObject({ code: told, status: 502 });
});

describe('the caller’s faults: the upstream’s status and words, cleaned', () => {
  test.each([
    ['caller', 400, 400],
    ['caller', 422, 422],
    ['caller', 413, 413],
    ['not-found', 404, 404],
    // A caller's fault found in a stream has the stream's 200, and one reported with a 5xx is still the caller's.
    ['caller', 200, 400],
    ['caller', 500, 400],
  ] as [UpstreamFault['class'], number | undefined, number][])('%s (%p): %d', (kind, status, answered) => {
    const error = faultToError(fault(kind, { ...(status !== undefined && { status }), param: 'messages.0' }), { ...facts, body: '{"error":"***"}' });
    expect(error).toMatchObject({ code: 'upstream_rejected', status: answered, message: 'said with ***', param: 'messages.0', body: '{"error":"***"}' });
  });
});

describe('details for programs', () => {
  const details = { error_code: 'ramp_limit_exceeded', hint: `of ${secret}` };
  const described = (kind: UpstreamFault['class'], sameProtocol = true, more = details) =>
    faultToError(fault(kind, { details: more }), { ...facts, sameProtocol }).details;

  test.each(['rate', 'overloaded', 'server', 'caller', 'context', 'too-large', 'not-found'] as const)('%s: as they are, without credentials', (kind) => {
    expect(described(kind)).toEqual({ error_code: 'ramp_limit_exceeded', hint: 'of ***' });
  });

  test('not of our key or account, not in another protocol, not without bounds', () => {
    expect([described('credential'), described('account'), described('rate', false), described('rate', true, { ...details, hint: 'x'.repeat(5000) })]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });
});

test.each([400, 413, 422, undefined])('a prompt that does not fit (%p) is a 400 of its own, drawn by each protocol', (status) => {
  const error = faultToError(fault('context', { ...(status !== undefined && { status }) }), { ...facts, body: '{"error":"***"}' });
  expect(error).toMatchObject({ code: 'context_overflow', status: 400, message: 'said with ***', body: undefined });
});

test('what is tried next, and what is held against the upstream', () => {
  const table: [UpstreamFault['class'], ReturnType<typeof nextStep>, ReturnType<typeof healthSign>][] = [
    ['caller', 'stop', 'none'],
    ['context', 'larger', 'none'],
    ['too-large', 'key', 'none'],
    ['not-found', 'node', 'none'],
    ['credential', 'key', 'key'],
    ['account', 'key', 'key'],
    ['rate', 'key', 'node'],
    ['overloaded', 'node-or-key', 'node'],
    ['server', 'node-or-key', 'node'],
    ['timeout', 'node', 'hang'],
    ['connect', 'node', 'node'],
    ['broken', 'node', 'node'],
  ];
  for (const [kind, next, sign] of table) expect([kind, nextStep(fault(kind)), healthSign(fault(kind))]).toEqual([kind, next, sign]);
  expect(healthSign(fault('timeout', { code: 'timeout_connect' }))).toBe('line');
  expect(healthSign(fault('connect', { code: 'connect_connect' }))).toBe('line');
  expect(healthSign(fault('connect', { code: 'reset_first-byte' }))).toBe('node');
  expect(healthSign(fault('timeout', { code: 'timeout_first-byte' }))).toBe('hang');
});

test.each([
  ['generate', 'credential', { status: 401 }, 'key'],
  ['generate', 'credential', { status: 403 }, 'node'],
  // Of an operation that its caller chose, a model's address may know nothing.
  ['moderate', 'server', { status: 404 }, 'none'],
  ['embed', 'server', { status: 405 }, 'none'],
  ['embed', 'server', { status: 500 }, 'node'],
  ['generate', 'server', { status: 404 }, 'node'],
  // A path that its caller chose.
  ['native', 'credential', { status: 403 }, 'none'],
  ['native', 'server', { status: 400 }, 'none'],
  ['native', 'timeout', {}, 'none'],
  ['native', 'credential', { status: 401 }, 'key'],
  ['native', 'account', { status: 400 }, 'key'],
  ['native', 'server', { status: 500 }, 'node'],
  ['native', 'rate', { status: 429 }, 'node'],
  ['passthrough', 'credential', { status: 401 }, 'none'],
  ['passthrough', 'server', { status: 500 }, 'none'],
  ['passthrough', 'timeout', {}, 'none'],
  // No call was made.
  ['passthrough', 'credential', {}, 'key'],
  ['passthrough', 'connect', { code: 'connect_dns' }, 'line'],
  // A firewall that breaks off what it does not like.
  ['passthrough', 'connect', { code: 'reset_first-byte' }, 'none'],
  ['native', 'connect', { code: 'reset_first-byte' }, 'none'],
] as const)('%s: %s %p counts against: %s', (operation, kind, more, sign) => {
  expect(signOfCall(fault(kind, more), operation)).toBe(sign);
});

describe('transport faults', () => {
  test.each([
    ['connect', 'connect', false, 'connect'],
    ['timeout', 'body', true, 'timeout'],
    ['timeout', 'head', false, 'timeout'],
    // Before any reply a reset is a connection that failed; after it, a reply that broke.
    ['reset', 'head', false, 'connect'],
    ['reset', 'body', true, 'broken'],
    ['protocol', 'head', false, 'connect'],
    ['protocol', 'body', true, 'broken'],
    ['refused-address', 'connect', false, 'connect'],
  ])('%s in %s (replied: %p) is %s', (kind, phase, replied, expected) => {
    const given = { class: kind, phase, message: 'm' } as Parameters<typeof outboundFault>[0];
    expect(outboundFault(given, replied as boolean)).toEqual({ class: expected, code: `${kind}_${phase}`, message: 'm' });
  });
});

test.each([
  ['connect', 'connect', true],
  ['timeout', 'connect', true],
  ['connect', 'dns', true],
  ['connect', 'tls', true],
  ['connect', 'proxy', true],
  ['refused-address', 'proxy', true],
  ['reset', 'first-byte', false],
  ['timeout', 'first-byte', false],
] as const)('a %s in the phase %s was unreached: %p', (kind, phase, unreached) => {
  expect(wasUnreached(outboundFault({ class: kind, phase, message: 'm', cause: undefined } as never, false))).toBe(unreached);
});
