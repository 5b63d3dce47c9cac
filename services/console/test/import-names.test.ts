/** A file's models give up their names before any takes new ones; a large catalog is not read whole for it. */
import { expect, test } from '@jest/globals';
import { prepareImport } from '../src/transfer/import.ts';

test('names are given up in groups, and no other rows are read', async () => {
  const known = new Set(Array.from({ length: 1_500 }, (_, index) => `model-${2 * index}`));
  const asked: number[] = [];
  const released: string[] = [];
  const models = {
    all: () => Promise.reject(new Error('every row was read')),
    ids: async (names: readonly string[]) => {
      asked.push(names.length);
      return names.filter((name) => known.has(name)).map((name) => `id of ${name}`);
    },
  };
  const writer = { models, modelNames: { release: async (ids: readonly string[]) => void released.push(...ids) } };
  const list = Array.from({ length: 1_001 }, (_, index) => ({ name: `model-${index}` }));
  const run = await prepareImport({ models: list }, { resources: [], context: {} as never });
  await run(writer as never);
  expect(Math.max(...asked)).toBeLessThanOrEqual(200);
  expect(asked.reduce((sum, count) => sum + count, 0)).toBe(list.length);
  expect(released).toEqual(list.filter(({ name }) => known.has(name)).map(({ name }) => `id of ${name}`));
});
