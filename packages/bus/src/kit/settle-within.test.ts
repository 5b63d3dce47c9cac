import { expect, jest, test } from '@jest/globals';
import { settlesWithin } from './settle-within.ts';

test('true for work that fulfils or rejects in time', async () => {
  expect(await settlesWithin(Promise.resolve('done'), 60_000)).toBe(true);
  expect(await settlesWithin(Promise.reject(new Error('failed')), 60_000)).toBe(true);
});

test('false for work that takes too long', async () => {
  jest.useFakeTimers();
  try {
    const answer = settlesWithin(new Promise(() => {}), 1000);
    jest.advanceTimersByTime(1000);
    expect(await answer).toBe(false);
  } finally {
    jest.useRealTimers();
  }
});
