import { expect, test } from '@jest/globals';
import { lookAgain } from './ask-store.ts';

test('what comes late to the store is found all the same', async () => {
  const looks = [undefined, undefined, 'turn'];
  await expect(lookAgain('unknown', () => Promise.resolve(looks.shift()))).resolves.toBe('turn');
  expect(looks).toEqual([]);
});

test.each([
  ['new', 6],
  ['unknown', 4],
  ['old', 1],
] as const)('what never comes is looked for a few times alone, by the age of its id: %s', async (age, times) => {
  let looks = 0;
  await expect(
    lookAgain(age, () => {
      looks++;
      return Promise.resolve(undefined);
    }),
  ).resolves.toBeUndefined();
  expect(looks).toBe(times);
});
