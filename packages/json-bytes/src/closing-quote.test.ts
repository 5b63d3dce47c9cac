/** The search for a string's end: what is committed is what its source says, and it finds what a walk over the bytes finds. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import loadAssembler from 'wabt';
import { skipToClosingQuote, walkToClosingQuote } from './closing-quote.ts';

const near = (name: string): string => readFileSync(join(import.meta.dirname, name), 'utf8');

/** One byte after the other. */
function walk(bytes: Buffer, start: number): number {
  for (let position = start; position < bytes.length; position += bytes[position] === 0x5c ? 2 : 1) if (bytes[position] === 0x22) return position + 1;
  return -1;
}

test('the committed module is the assembled source', async () => {
  const parsed = (await loadAssembler()).parseWat('closing-quote.wat', near('closing-quote.wat'), { simd: true });
  parsed.validate();
  const assembled = Buffer.from(parsed.toBinary({}).buffer).toString('base64');
  const committed = /const assembled = \[([^\]]*)\]/.exec(near('closing-quote.ts'))?.[1]?.replaceAll(/[\s',]/g, '');
  expect(committed).toBe(assembled);
});

describe('finds the end that a walk finds', () => {
  test('among backslashes and quotes, wherever the bytes begin', () => {
    const piece = fc.constantFrom('\\', '\\\\', '\\"', '\\\\\\', 'a', 'é', 'word '.repeat(9), '\\'.repeat(63), '\\'.repeat(64));
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), fc.boolean(), fc.nat(20), (pieces, closed, before) => {
        const bytes = Buffer.from(`${'"'.repeat(before)}${pieces.join('')}${closed ? '"' : ''}"\\"`).subarray(before);
        expect(skipToClosingQuote(bytes, 0)).toBe(walk(bytes, 0));
        expect(walkToClosingQuote(bytes, 0)).toBe(walk(bytes, 0));
      }),
      { numRuns: 2000 },
    );
  });

  // Pieces of 1, 4, 16 and then 64 KiB.
  test.each([1, 63, 64, 65, 1023, 1024, 1025, 5119, 5120, 5121, 21_503, 21_504, 21_505, 87_039, 87_040, 87_041, 300_000])(
    'at every place around the ends of pieces: %d bytes before it',
    (size) => {
      for (const run of [0, 1, 2, 3]) {
        const bytes = Buffer.concat([Buffer.alloc(size, 'x'), Buffer.alloc(run, '\\'), Buffer.from('"y"')]);
        expect(skipToClosingQuote(bytes, 0)).toBe(walk(bytes, 0));
        expect(skipToClosingQuote(bytes.subarray(0, size + run), 0)).toBe(-1);
      }
    },
  );

  test('and nothing of the string that was searched before', () => {
    expect(skipToClosingQuote(Buffer.from(`${'a'.repeat(40)}"`), 0)).toBe(41);
    expect(skipToClosingQuote(Buffer.from('a'.repeat(10)), 0)).toBe(-1);
    expect(skipToClosingQuote(Buffer.from('a"'), 2)).toBe(-1);
  });
});
