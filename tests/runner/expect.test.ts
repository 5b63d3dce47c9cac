/** What suites get as `expect` says what jest's own says, and counts what it counts. */
import { expect, test } from '@jest/globals';

const failure = (assert: () => unknown): Error => {
  try {
    assert();
  } catch (error) {
    return error as Error;
  }
  throw new Error('it holds');
};
const plain = ({ message }: Error): string => message.replaceAll(/\u001b\[\d+m/g, '');

test('an assertion that does not hold is explained, and its stack begins in the suite', () => {
  const error = failure(() => expect({ a: 1 }).toEqual({ a: 2 }));
  expect(plain(error)).toContain('expect(received).toEqual(expected)');
  expect(plain(error)).toContain('-   "a": 2,\n+   "a": 1,');
  expect(error.stack).not.toContain('runner/expect.mjs');
  expect(error.stack).toContain('runner/expect.test.ts');
});

test('one that is denied, one of a wrong kind of value, and one about what a function throws', () => {
  expect(plain(failure(() => expect([1]).not.toEqual([1])))).toContain('expect(received).not.toEqual(expected)');
  expect(plain(failure(() => expect('a').toBeGreaterThan(1)))).toContain('received value must be a number or bigint');
  let calls = 0;
  expect(plain(failure(() => expect(() => calls++).toThrow('word')))).toContain('Received function did not throw');
  expect(calls).toBe(1);
});

test('promises: what holds, what does not, and what is none', async () => {
  await expect(Promise.resolve(1)).resolves.not.toBe(2);
  await expect(Promise.reject(new Error('word'))).rejects.toThrow('word');
  const error = await expect(Promise.resolve(1))
    .rejects.toThrow()
    .catch((caught: Error) => caught);
  expect(plain(error as Error)).toContain('Received promise resolved instead of rejected');
  expect((error as Error).stack).not.toContain('runner/expect.mjs');
  expect(plain(failure(() => expect(1).resolves.toBe(1)))).toContain('must be a promise');
});

test('assertions are counted', () => {
  const before = expect.getState().assertionCalls;
  expect(1).toBe(1);
  expect([1, 'a']).toEqual([expect.any(Number), expect.stringContaining('a')]);
  expect(() => undefined).not.toThrow();
  expect(expect.getState().assertionCalls - before).toBe(3);
});
