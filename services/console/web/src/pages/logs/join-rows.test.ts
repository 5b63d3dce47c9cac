/** The order of rows in the log, live and after a break. */
import { expect, test } from '@jest/globals';
import type { LogRow } from '../../api/stats.ts';
import { addLive, join } from './join-rows.ts';

const row = (id: string, more: Partial<LogRow> = {}) => ({ id, ...more }) as LogRow;
const ids = (rows: readonly LogRow[]) => rows.map(({ id }) => id);

test('live rows are above stored ones', () => {
  expect(ids(join([row('d'), row('c')], [row('b'), row('a')]))).toEqual(['d', 'c', 'b', 'a']);
});

test('after a break, missed rows are between the live rows before and after it', () => {
  // b came live, c was missed and is read with the past, d came live again.
  expect(ids(join([row('d'), row('b')], [row('c'), row('b'), row('a')]))).toEqual(['d', 'c', 'b', 'a']);
});

test('a live row is newer than the same stored one, and is listed once', () => {
  const joined = join([row('b', { status: 499 })], [row('c'), row('b', { status: 200 }), row('b', { status: 200 })]);
  expect(joined).toEqual([row('c'), row('b', { status: 499 })]);
});

test('a row that comes live again replaces the earlier one', () => {
  expect(addLive([row('a', { status: 499 })], [row('b'), row('a', { status: 200 })])).toEqual([row('a', { status: 499 }), row('b')]);
});

test('however long one looks on, no more than the latest live rows are kept', () => {
  let live: LogRow[] = [];
  for (let at = 0; at < 50; at++)
    live = addLive(
      Array.from({ length: 100 }, (_, index) => row(`${at}-${index}`)),
      live,
    );
  expect([live.length, live[0]?.id, live.at(-1)?.id]).toEqual([2_000, '49-0', '30-99']);
});
