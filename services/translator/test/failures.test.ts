/** The caller's error when no node of a load balancer served the request. */
import { expect, test } from '@jest/globals';
import type { Plan } from '@model-gateway/contracts';
import type { UpstreamFault } from '@model-gateway/protocols';
import { faultToError } from '../src/attempt/classify.ts';
import { Failures } from '../src/attempt/failures.ts';

const missing: UpstreamFault = { class: 'not-found', status: 404, code: 'model_not_found', message: 'no model m-1' };
const broken: UpstreamFault = { class: 'server', status: 500, message: 'inner words' };

function errorOf(faults: UpstreamFault[], balanced: boolean, passedOver = false) {
  const failures = new Failures({ balanced, nodes: [] } as unknown as Plan);
  for (const fault of faults) failures.add(fault, faultToError(fault, { clean: (text) => text }));
  if (passedOver) failures.passOver(1000);
  return failures.error();
}

test('where each node says that it does not have the model, the words say so; the status is that of a balancer whose nodes all failed', () => {
  expect(errorOf([missing, missing], true)).toMatchObject({
    code: 'no_upstream',
    status: 503,
    message: 'Each upstream that was asked has nothing of that name. The last one said: no model m-1',
  });
});

test.each([
  ['another failed otherwise', [broken, missing], false],
  ['another is at its limit', [missing], true],
])('not where %s', (_what, faults, passedOver) => {
  expect(errorOf(faults, true, passedOver)).toMatchObject({ code: 'no_upstream', status: 503, message: 'No upstream can take this request.' });
});

test('a request larger than each account’s tokens of a minute is the caller’s to shorten; one that failed otherwise may yet take it', () => {
  const large: UpstreamFault = { class: 'too-large', status: 413, message: 'Request too large' };
  const limited: UpstreamFault = { class: 'rate', status: 429, message: 'slow down', retryAfterMs: 2000 };
  for (const balanced of [true, false]) expect(errorOf([large, large], balanced)).toMatchObject({ code: 'context_overflow', status: 400 });
  expect(errorOf([large, broken], true)).toMatchObject({ code: 'no_upstream', status: 503 });
  expect(errorOf([large, limited], false)).toMatchObject({ code: 'upstream_rate_limited', status: 429, retryAfter: 2 });
  expect(errorOf([large], true, true)).toMatchObject({ code: 'no_upstream', status: 503 });
});

test('a single upstream’s own 404 stays', () => {
  expect(errorOf([missing], false)).toMatchObject({ status: 404, message: 'no model m-1' });
});
