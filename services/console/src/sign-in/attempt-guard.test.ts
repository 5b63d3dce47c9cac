import { expect, test } from '@jest/globals';
import { delayOf } from './attempt-guard.ts';

test('delays grow from nothing to five seconds', () => {
  expect([0, 2, 3, 4, 7, 8, 1_000_000].map(delayOf)).toEqual([0, 0, 250, 500, 4_000, 5_000, 5_000]);
});
