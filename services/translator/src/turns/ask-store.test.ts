import { expect, test } from '@jest/globals';
import { lookAgain } from './ask-store.ts';

test('what comes late to the store is found all the same', async () => {
  const looks = [undefined, undefined, 'turn'];
  await expect(lookAgain(() => Promise.resolve(looks.shift()))).resolves.toBe('turn');
  expect(looks).toEqual([]);
});

test('what never comes is looked for a few times alone', async () => {
  let looks = 0;
  await expect(
    lookAgain(() => {
      looks++;
      return Promise.resolve(undefined);
    }),
  ).resolves.toBeUndefined();
  expect(looks).toBe(6);
});
