import { expect, test } from '@jest/globals';
import { isSparse, labelLeft, nonEmptySteps, stackUp, stepsOf } from './draw-chart.ts';

const one = (values: (number | null)[]) => ({ label: 'x', color: '#000', values });

test('each part of a bar stands on those below it; what is not there adds nothing', () => {
  expect(stackUp([one([1, 2, null]), one([10, null, 3])])).toEqual([
    [1, 2, 0],
    [11, 2, 3],
  ]);
});

test('steps without anything are read out to nobody', () =>
  expect(nonEmptySteps([1, 2, 3], [one([0, 5, null]), one([0, null, 7])])).toEqual([
    { time: 2, values: [5, null] },
    { time: 3, values: [null, 7] },
  ]));

test('a line of few values has points: one value alone would draw nothing', () => {
  expect(isSparse([null, 7, null])).toBe(true);
  expect(isSparse(Array.from({ length: 96 }, (_, at) => at))).toBe(false);
});

test('whole numbers have whole marks, others have any', () => {
  expect(stepsOf([one([1, null]), one([0, 2])])?.slice(0, 4)).toEqual([1, 2, 5, 10]);
  expect(stepsOf([one([0.25])])).toBeUndefined();
});

test.each([
  ['right of its mark', 100, 103],
  ['right of it up to the edge', 437, 440],
  ['left of it where the chart ends too soon', 438, 375],
])('the label of a mark is %s', (_where, x, left) => {
  expect(labelLeft({ x, width: 60, gap: 3, end: 500 })).toBe(left);
});
