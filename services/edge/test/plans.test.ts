/** What is kept of the router's answers, and for how long. */
import { expect, test } from '@jest/globals';
import type { Plan } from '@model-gateway/contracts';
import { Plans } from '../src/plans.ts';

const plan = (patch: Partial<Plan> = {}): Plan => ({ revision: 1, model: 'm', nodes: [], balanced: false, lasting: true, ...patch });

test('a lasting answer serves the same caller, model and revision for a second', () => {
  const plans = new Plans();
  const kept = plan();
  plans.keep('ada', 'm', kept, 1000);
  expect(plans.find('ada', 'm', 1, 1000)).toBe(kept);
  expect(plans.find('ada', 'm', 1, 1999)).toBe(kept);
  expect(plans.find('ada', 'm', 1, 2000)).toBeUndefined();
  // A clock that stepped back proves nothing.
  expect(plans.find('ada', 'm', 1, 999)).toBeUndefined();
  expect(plans.find('ada', 'm', 2, 1001)).toBeUndefined();
  expect(plans.find('bob', 'm', 1, 1001)).toBeUndefined();
  expect(plans.find('ada', 'n', 1, 1001)).toBeUndefined();
});

test('what the router must see each time is not kept', () => {
  const plans = new Plans();
  plans.keep('ada', 'm', { revision: 1, model: 'm', nodes: [], balanced: true }, 1000);
  expect(plans.find('ada', 'm', 1, 1000)).toBeUndefined();
});

test('a failure anywhere makes all answers doubtful, a success none', () => {
  const plans = new Plans();
  const place = { model: 'm', upstream: 'u', key: 'k' };
  plans.keep('ada', 'm', plan(), 1000);
  plans.onOutcomes([{ ...place, sign: 'none', ok: 3 }]);
  expect(plans.find('ada', 'm', 1, 1001)).toBeDefined();
  plans.onOutcomes([{ ...place, sign: 'line', ok: 0 }]);
  expect(plans.find('ada', 'm', 1, 1001)).toBeUndefined();
  plans.keep('ada', 'm', plan(), 1000);
  plans.onOutcomes([{ ...place, sign: 'none', ok: 0, waitMs: 500 }]);
  expect(plans.find('ada', 'm', 1, 1001)).toBeUndefined();
});

test('callers with many names cannot make it grow without end', () => {
  const plans = new Plans();
  for (let at = 0; at < 25_000; at++) plans.keep(`key-${at}`, 'm', plan(), 1000);
  expect(plans.find('key-24999', 'm', 1, 1000)).toBeDefined();
  expect(plans.find('key-0', 'm', 1, 1000)).toBeUndefined();
});
