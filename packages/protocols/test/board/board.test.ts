/** Each cell of `docs/compatibility.md`, and that the page tells what these cells find. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { cells, writeBoard } from './board.ts';
import { writeLosses } from './losses.ts';

const page = (name: string): string => readFileSync(join(import.meta.dirname, '../../../../docs', name), 'utf8');

test.each(cells)('$client → $upstream: $feature', ({ judge }) => {
  const { word, because, undeclared } = judge();
  expect(undeclared).toEqual([]);
  if (word === 'lost' || word === 'in part') expect(because).not.toEqual([]);
});

test.each([
  ['compatibility', writeBoard],
  ['losses', writeLosses],
])('docs/%s.md is up to date; else run node scripts/write-%s-doc.mjs', (name, write) => {
  expect(page(`${name}.md`)).toBe(write());
});
