import { expect, test } from '@jest/globals';
import { BodyGate } from './body-gate.ts';

function setUp(max: number) {
  const begun: string[] = [];
  const gate = new BodyGate<string>(max);
  const enter = (...calls: string[]): void => {
    for (const call of calls) gate.enter(call, () => begun.push(call));
  };
  return { gate, begun, enter };
}

test('so many begin at once, the others in their order as places become free', () => {
  const { gate, begun, enter } = setUp(2);
  enter('a', 'b', 'c', 'd');
  expect([begun, gate.isWaiting('b'), gate.isWaiting('c')]).toEqual([['a', 'b'], false, true]);
  gate.leave('b');
  gate.leave('b');
  expect(begun).toEqual(['a', 'b', 'c']);
  gate.leave('a');
  expect(begun).toEqual(['a', 'b', 'c', 'd']);
});

test('one that leaves while it waits never begins, and frees no place', () => {
  const { gate, begun, enter } = setUp(1);
  enter('a', 'b', 'c');
  gate.leave('b');
  expect(begun).toEqual(['a']);
  gate.leave('a');
  gate.leave('unknown');
  expect(begun).toEqual(['a', 'c']);
});

test('one that ends as it begins lets the next one in', () => {
  const gate = new BodyGate<number>(1);
  const begun: number[] = [];
  const begin = (call: number) => () => {
    begun.push(call);
    if (call > 0) gate.leave(call);
  };
  gate.enter(0, begin(0));
  for (const call of [1, 2, 3]) gate.enter(call, begin(call));
  gate.leave(0);
  expect(begun).toEqual([0, 1, 2, 3]);
});
