/** What rows are between threads is what they would have been without one. */
import { describe, expect, test } from '@jest/globals';
import type { RequestRow } from '@model-gateway/contracts';
import fc from 'fast-check';
import { createSqliteDialect } from '../src/dialects/sqlite.ts';
import { columnNames, encodeRow } from '../src/requests/row-codec.ts';
import { columnValues } from '../src/requests/row-of-columns.ts';
import { addCounts, readCounts, writeCounts } from '../src/stats/histogram.ts';
import { packRows, unpackRows } from '../src/thread/pack-rows.ts';
import { sampleRow } from './samples.ts';

const dialect = createSqliteDialect(':memory:');
const anyText = fc.oneof(fc.constant(null), fc.string({ unit: 'binary' }), fc.constantFrom('a\0b', '\ud800', '__proto__', 'x'.repeat(5_000), ''));
const anyNumber = fc.oneof(fc.integer(), fc.double(), fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, 1e300, -0.4));
const hostile = fc.record({
  id: fc.string({ minLength: 1 }),
  access_key: anyText,
  user_agent: anyText,
  error_code: anyText,
  input_tokens: anyNumber,
  cost_micros: fc.oneof(fc.constant(null), anyNumber),
  stream: fc.boolean(),
  losses: fc.array(fc.record({ field: fc.string({ unit: 'binary' }), action: fc.constant('dropped'), detail: fc.string() }), { maxLength: 3 }),
});

describe('rows between threads', () => {
  test('hold the same, whatever a request brought', () => {
    fc.assert(
      fc.property(fc.array(hostile, { maxLength: 20 }), (overs) => {
        const rows = overs.map((over) => sampleRow(over as Partial<RequestRow>));
        const packed = packRows(rows);
        const got = unpackRows(structuredClone(packed, { transfer: [packed.cells.buffer] }), dialect);
        const wanted = rows.map((row) => encodeRow(row, dialect));
        expect(got.map((row) => Object.fromEntries(columnNames.map((name) => [name, row[name]])))).toEqual(wanted);
        expect(got.map(columnValues)).toEqual(wanted.map(columnValues));
      }),
      { numRuns: 60 },
    );
  });

  test('a row of an earlier version has no value where it knew no column', () => {
    const { pipeline: _pipeline, cache_write_1h_tokens: _tokens, ...early } = sampleRow();
    const [row] = unpackRows(packRows([early as RequestRow]), dialect);
    expect(row).toMatchObject({ pipeline: '[]', cache_write_1h_tokens: null, access_key: 'ada' });
  });
});

describe('counts by bucket', () => {
  const histogram = fc
    .array(
      fc.tuple(
        fc.nat(88),
        fc.integer({ min: -5, max: 1_000_000 }).filter((count) => count !== 0),
      ),
    )
    .map((pairs) => new Map(pairs));

  test('add up as texts as they do as maps', () => {
    fc.assert(
      fc.property(histogram, histogram, (one, other) => {
        const together = readCounts(new Map(), addCounts(writeCounts(one), writeCounts(other)));
        const wanted = new Map(one);
        for (const [bucket, count] of other) wanted.set(bucket, (wanted.get(bucket) ?? 0) + count);
        for (const [bucket, count] of wanted) if (count === 0) wanted.delete(bucket);
        expect(new Map([...together].filter(([, count]) => count !== 0))).toEqual(wanted);
      }),
    );
  });

  test('what is no count is passed over', () => {
    expect(readCounts(new Map(), '3:4 x:1 5 :7 6:1.5 8:9')).toEqual(
      new Map([
        [3, 4],
        [8, 9],
      ]),
    );
  });
});
