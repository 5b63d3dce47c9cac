/** The order of rows in the log, live and after a break. */
import { expect, test } from '@jest/globals';
import type { LogRow } from '../../api/stats.ts';
import { addLive, join, joinWithGap, type LiveRows, noLiveRows } from './join-rows.ts';

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
  const before = addLive([row('b'), row('a', { status: 200 })], noLiveRows);
  expect(addLive([row('a', { status: 499 })], before).rows).toEqual([row('a', { status: 499 }), row('b')]);
});

/** `batches` times a hundred rows: the newest is the first of the last batch. */
const watched = (batches: number, before: LiveRows = noLiveRows, name = ''): LiveRows => {
  let live = before;
  for (let at = 0; at < batches; at++)
    live = addLive(
      Array.from({ length: 100 }, (_, index) => row(`${name}${at}-${index}`)),
      live,
    );
  return live;
};

test('however long one looks on, no more than the latest live rows are kept', () => {
  const { rows } = watched(50);
  expect([rows.length, rows[0]?.id, rows.at(-1)?.id]).toEqual([2_000, '49-0', '30-99']);
});

test('live rows that are older than what is read of the past stay below it', () => {
  expect(ids(join([row('e'), row('d'), row('c'), row('b')], [row('d')]))).toEqual(['e', 'd', 'c', 'b']);
});

test('where live rows had to go, the list says how many are not there', () => {
  const past = [row('old-2'), row('old-1')];
  expect(joinWithGap(watched(20), past).slice(1_999)).toEqual([row('0-99'), ...past]);
  expect(joinWithGap(watched(50), past).slice(1_999)).toEqual([row('30-99'), { gap: 3_000 }, ...past]);
  // More than are remembered one by one.
  expect(joinWithGap(watched(150), past)[2_000]).toEqual({ gap: 13_000 });
});

test('what was read again since counts as there', () => {
  const read = watched(10).rows.slice(0, 150);
  // They are live still: the past goes on below them.
  expect(joinWithGap(watched(15), read).some((line) => 'gap' in line)).toBe(false);
  // Then they had to go, and ten batches more.
  const later = joinWithGap(watched(30, watched(10), 'later-'), read);
  expect(later.slice(1_999, 2_002)).toEqual([row('later-10-99'), { gap: 1_000 }, row('9-0')]);
});
