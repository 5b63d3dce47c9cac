/** Which changes of turns share a transaction. */
import { expect, test } from '@jest/globals';
import type { TurnsWritten } from '@model-gateway/contracts';
import type { TurnChange } from '@model-gateway/storage';
import { WriteQueue } from '../src/turns/write-queue.ts';

let now = 0;
/** Ends the wait for further changes. */
let pass: (nothing?: unknown) => void;
const batches: string[][] = [];
const queue = new WriteQueue(
  {
    async write(changes) {
      batches.push(changes.map((change) => ('id' in change ? change.id : '')));
      return changes.map((): TurnsWritten => ({ stored: true }));
    },
  },
  { now: () => now, wait: () => new Promise((resolve) => (pass = resolve)) },
);
const write = (id: string): Promise<TurnsWritten> => queue.write({ kind: 'cancel', owner: 'ada', id } satisfies TurnChange);
/** Long enough for whatever came with the turn of the event loop before. */
const later = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

test('those of one turn of the event loop, and while they come several at a time those of a moment', async () => {
  const alone = write('a');
  await later();
  await Promise.all([alone, write('b')]);
  expect(batches.splice(0)).toEqual([['a'], ['b']]);
  await Promise.all([write('c'), write('d')]);
  const first = write('e');
  await later();
  const second = write('f');
  pass();
  await Promise.all([first, second]);
  expect(batches.splice(0)).toEqual([
    ['c', 'd'],
    ['e', 'f'],
  ]);
  now += 1000;
  await write('g');
  expect(batches).toEqual([['g']]);
});
