/** What comes in pieces is whole again, and small pieces do not stay buffers of their own. */
import { expect, test } from '@jest/globals';
import { Pieces } from './index.ts';

const collect = (pieces: Iterable<Buffer>): Pieces => {
  const all = new Pieces();
  for (const piece of pieces) all.add(piece);
  return all;
};

test.each([1, 7, 1023, 1024, 1025, 5000])('bytes come out as they went in, %p to a piece', (size) => {
  const bytes = Buffer.from(Array.from({ length: 12_345 }, (_, at) => at % 251));
  const cut = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size));
  const all = collect(cut);
  expect(all.isEmpty).toBe(false);
  expect(all.take().equals(bytes)).toBe(true);
  expect([all.isEmpty, all.take().length]).toEqual([true, 0]);
});

test('one piece is given as it is', () => {
  const piece = Buffer.from('whole');
  expect(collect([piece]).take()).toBe(piece);
});

test('bytes that come one by one are held by few buffers; large pieces are not copied', () => {
  const copies: number[] = [];
  const { concat } = Buffer;
  Buffer.concat = (list, length) => {
    copies.push(list.length);
    return length === undefined ? concat(list) : concat(list, length);
  };
  try {
    const small = collect(Array.from({ length: 100_000 }, () => Buffer.of(1)));
    small.take();
    // Thousands at a time, and at the end those together.
    expect(Math.max(...copies)).toBe(1024);
    expect(copies.at(-1)).toBeLessThan(1024);
    copies.length = 0;
    const large = Buffer.alloc(2048);
    collect(Array.from({ length: 5000 }, () => large)).take();
    expect(copies).toEqual([5000]);
  } finally {
    Buffer.concat = concat;
  }
});
