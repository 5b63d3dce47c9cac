import { expect, test } from '@jest/globals';
import { ChunkGarbage } from './chunk-garbage.ts';

const turn = () => new Promise<void>((resolve) => void setImmediate(resolve));

test('collects the young generation once for every 16 MB, after the turn in which the last of them came', async () => {
  const collected: unknown[] = [];
  const garbage = new ChunkGarbage(() => (options) => void collected.push(options));
  for (let i = 0; i < 15; i++) garbage.add(2 ** 20);
  await turn();
  expect(collected).toEqual([]);
  garbage.add(2 ** 20);
  garbage.add(64 * 2 ** 20);
  expect(collected).toEqual([]);
  await turn();
  expect(collected).toEqual([{ type: 'minor', execution: 'sync' }]);
  garbage.add(2 ** 20);
  await turn();
  expect(collected).toHaveLength(1);
});

test('does nothing where Node was started without the flag', async () => {
  const garbage = new ChunkGarbage(() => undefined);
  garbage.add(2 ** 30);
  await turn();
});
