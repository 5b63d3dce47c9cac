/** The pipeline orders of the specification, step by step. */
import { expect, test } from '@jest/globals';
import { order, routeSteps } from '../src/prepare/order.ts';

const names = (steps: readonly { name: string }[]): string[] => steps.map(({ name }) => name);

test('after slot: translation, normalization, rules, the script, cache injection', () => {
  expect(names(order.after).filter((name) => name !== 'fetch-media')).toEqual([
    'translate',
    'normalize',
    'body-rules',
    expect.stringContaining('script'),
    'cache-injection',
  ]);
});

test('before slot: rules that switch, the script, then translation, normalization, rules, cache injection', () => {
  expect(names(routeSteps)[0]).toBe('switch-route');
  expect(names(routeSteps)[1]).toContain('script');
  expect(names(order.before).filter((name) => name !== 'fetch-media')).toEqual(['translate', 'normalize', 'body-rules', 'cache-injection']);
});
