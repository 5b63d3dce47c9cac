import { expect, test } from '@jest/globals';
import type { CallableName } from '../../api/use-catalog.ts';
import { isSettled, planNames } from './name-plan.ts';

const names: CallableName[] = [
  { name: 'fast', kind: 'model', aliases: ['default'], hidden: false, enabled: true },
  { name: 'best', kind: 'load-balancer', aliases: [], hidden: false, enabled: true },
];

test('a prefix stands before every name that was not typed', () => {
  const plan = planNames(['a', 'b'], 'eu-', { b: { typed: 'second' } }, names);
  expect(plan.map(({ name }) => name)).toEqual(['eu-a', 'second']);
  expect(plan.every(isSettled)).toBe(true);
});

test('taken names are told apart by what has them, and settled by joining or another name', () => {
  const plan = planNames(['fast', 'best', 'default', 'free'], '', { best: { joins: true }, default: { joins: true } }, names);
  expect(plan.map(({ taken, joins }) => [taken, joins])).toEqual([
    ['model', false],
    ['load-balancer', true],
    ['alias', false],
    [null, false],
  ]);
  expect(plan.map(isSettled)).toEqual([false, true, false, true]);
  expect(planNames(['a', 'b'], '', { b: { typed: 'a' } }, []).map(({ taken }) => taken)).toEqual([null, 'repeated']);
});
