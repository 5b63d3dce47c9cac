import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { compactBody } from './compact-body.ts';

const compact = (text: string, limit = 100_000) => {
  const { bytes, whole } = compactBody(Buffer.from(text), limit);
  return { text: bytes.toString(), whole };
};
const run = (length: number) => 'iVBORw0KGgo+/9'.repeat(Math.ceil(length / 14)).slice(0, length);

describe('a compact body', () => {
  test('is the body where nothing is long', () => {
    for (const text of ['', '{}', 'a'.repeat(511), `{"a":"${'word '.repeat(2_000)}"}`]) expect(compact(text)).toEqual({ text, whole: true });
  });

  test('names the length of each run and keeps the text around it', () => {
    const body = `{"a":"data:image/png;base64,${run(70_000)}","b":"${run(512)}","c":"${run(511)}","question":"what?"}`;
    expect(compact(body)).toEqual({
      text: `{"a":"data:image/png;base64,[base64: 70000 characters]","b":"[base64: 512 characters]","c":"${run(511)}","question":"what?"}`,
      whole: true,
    });
    expect(JSON.parse(compact(body).text)).toMatchObject({ question: 'what?' });
  });

  test('is cut at its limit, also behind runs', () => {
    expect(compact('x y '.repeat(100), 10)).toEqual({ text: 'x y x y x ', whole: false });
    const cut = compact(`"${run(5_000)}" ${'x y '.repeat(1_000)}`, 300);
    expect(cut.text.startsWith('"[base64: 5000 characters]" x y ')).toBe(true);
    expect(cut).toMatchObject({ whole: false });
    expect(cut.text).toHaveLength(300);
    expect(compact(`ab ${run(600)} cd`, 2)).toEqual({ text: 'ab', whole: false });
  });

  test('nothing is lost and nothing invented, wherever runs begin and end', () => {
    const piece = fc.oneof(
      fc.string({ maxLength: 40 }).map((text) => text.replaceAll('[base64', '(')),
      fc.integer({ min: 1, max: 2_000 }).map((length) => run(length)),
      fc.constant(' '),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const body = pieces.join('');
        const expected = Buffer.from(body)
          .toString('latin1')
          .replaceAll(/[A-Za-z0-9+/_=-]{512,}/g, (all) => `[base64: ${all.length} characters]`);
        const { bytes, whole } = compactBody(Buffer.from(body), 1_000_000);
        expect(bytes.toString('latin1')).toBe(expected);
        expect(whole).toBe(true);
        const limit = Math.floor(body.length / 3) + 1;
        const cut = compactBody(Buffer.from(body), limit);
        expect(expected.startsWith(cut.bytes.toString('latin1'))).toBe(true);
        expect(cut.bytes.length).toBeLessThanOrEqual(limit + 40);
        if (!cut.whole) expect(cut.bytes.length).toBeGreaterThanOrEqual(Math.min(limit, expected.length));
      }),
      { numRuns: 300 },
    );
  });

  test('megabytes cost little', () => {
    const bodies = [Buffer.alloc(8 << 20, 'a'), Buffer.from(`${run(511)} `.repeat(16_384)), Buffer.from('word and '.repeat(900_000))];
    for (const body of bodies) {
      // Of the processor, not of the clock: others may be at work.
      const began = process.cpuUsage();
      compactBody(body, 84_000);
      const { user, system } = process.cpuUsage(began);
      expect(user + system).toBeLessThan(1_000_000);
    }
  });
});
