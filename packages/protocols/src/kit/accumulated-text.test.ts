import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { AccumulatedText } from './accumulated-text.ts';

test('is the sum of its pieces', () => {
  fc.assert(
    fc.property(
      fc.string(),
      fc.array(
        fc.oneof(
          fc.string(),
          fc.integer({ min: 1, max: 9000 }).map((length) => 'x'.repeat(length)),
        ),
      ),
      (start, pieces) => {
        const text = new AccumulatedText(start);
        for (const piece of pieces) text.add(piece);
        const whole = start + pieces.join('');
        expect(`${text}`).toBe(whole);
        expect(text.length).toBe(whole.length);
      },
    ),
  );
});

test('holds little more than the text', () => {
  const deltaFields = Array.from({ length: 20 }, () => new AccumulatedText());
  // What is garbage, here and of suites before this one in the process, is none of what is held.
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const held = (): number => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  const before = held();
  for (let round = 0; round < 40_000; round++) for (const text of deltaFields) text.add(`${round % 7} `);
  const grown = held() - before;
  const letters = deltaFields.reduce((sum, text) => sum + text.length, 0);
  // A tree of these pieces takes 30 bytes a letter.
  expect(grown / letters).toBeLessThan(15);
});
