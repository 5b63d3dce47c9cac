/** A document under change: the same as splicing its text each time, and one splice at the end tells all of it. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { applyEdits, type Edit, JsonDocument } from './index.ts';

type Json = ReturnType<typeof JSON.parse>;

/** What `applyEdits` makes of the printed value, read again. */
const spliced = (value: Json, edits: readonly Edit[]): Json => JSON.parse(applyEdits(JSON.stringify(value), edits)) as Json;

describe('inserting', () => {
  test.each<[string, Edit[], string]>([
    ['[]', [{ path: [0], value: 1, insert: true }], '[1]'],
    ['[ ]', [{ path: [7], value: 1, insert: true }], '[1 ]'],
    ['[1, 2]', [{ path: [0], value: 0, insert: true }], '[0,1, 2]'],
    ['[1, 2]', [{ path: [1], value: 9, insert: true }], '[1,9, 2]'],
    ['[1, 2 ]', [{ path: [2], value: 9, insert: true }], '[1, 2,9 ]'],
    [
      '[1, 2]',
      [
        { path: [0], value: undefined },
        { path: [0], value: 'x', insert: true },
      ],
      '["x", 2]',
    ],
    [
      '[1, 2, 3]',
      [
        { path: [0], value: undefined },
        { path: [1], value: undefined },
        { path: [1], value: 'x', insert: true },
      ],
      '["x", 3]',
    ],
    [
      '[1, 2]',
      [
        { path: [0], value: undefined },
        { path: [1], value: undefined },
        { path: [0], value: 'x', insert: true },
        { path: [1], value: 'y', insert: true },
        { path: [2], value: 'z', insert: true },
      ],
      '["x","y","z"]',
    ],
    [
      '{"m":[{"c":[1]}]}',
      [
        { path: ['m', 0, 'c', 0], value: 'a', insert: true },
        { path: ['m', 0, 'c', 0], value: 'b', insert: true },
      ],
      '{"m":[{"c":["a","b",1]}]}',
    ],
    ['{"m":{}}', [{ path: ['m', 0], value: 1, insert: true }], '{"m":{}}'],
  ])('%s', (text, edits, wanted) => {
    const result = applyEdits(text, edits);
    expect(result.replaceAll(' ', '')).toBe(wanted.replaceAll(' ', ''));
    expect(Buffer.from(applyEdits(Buffer.from(text), edits)).toString()).toBe(result);
    const document = new JsonDocument(JSON.parse(text));
    document.apply(edits);
    expect(document.value).toEqual(JSON.parse(wanted));
  });
});

const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, true, 1, 'é', ''),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c', 'Ä"'), tie('value'), { maxKeys: 4 }),
  ),
})).value as fc.Arbitrary<Json>;

/** A batch of edits at places that exist, none inside another's value. */
function batchOf(value: Json, picks: readonly number[], fresh: Json): Edit[] {
  const places: { path: (string | number)[]; inArray: boolean }[] = [];
  const collect = (at: Json, path: (string | number)[]) => {
    if (typeof at !== 'object' || at === null) return;
    for (const key of Object.keys(at)) {
      const step = Array.isArray(at) ? Number(key) : key;
      places.push({ path: [...path, step], inArray: Array.isArray(at) });
      collect(at[key], [...path, step]);
    }
  };
  collect(value, []);
  const edits: Edit[] = [];
  const within = (a: readonly unknown[], b: readonly unknown[]) => b.every((step, at) => a[at] === step);
  for (const pick of picks) {
    const place = places[pick % Math.max(1, places.length)];
    if (!place) continue;
    const kind = pick % 4;
    const insert = kind === 3 && place.inArray;
    if (!insert && edits.some((other) => !other.insert && (within(other.path, place.path) || within(place.path, other.path)))) continue;
    if (insert && edits.some((other) => !other.insert && within(place.path.slice(0, -1), other.path))) continue;
    if (!insert && edits.some((other) => other.insert && within(other.path.slice(0, -1), place.path))) continue;
    if (insert) edits.push({ path: place.path, value: fresh, insert: true });
    else if (kind === 0) edits.push({ path: place.path, value: undefined });
    else if (kind === 1 && !place.inArray) edits.push({ path: [...place.path.slice(0, -1), 'new'], value: fresh, add: true });
    else edits.push({ path: place.path, value: fresh });
  }
  return edits;
}

describe('JsonDocument', () => {
  test('several batches in turn: the value is that of splicing each, and the edits make it of the original text', () => {
    fc.assert(
      fc.property(json, fc.array(fc.tuple(fc.array(fc.nat(200), { maxLength: 6 }), json), { maxLength: 4 }), (original, batches) => {
        const before = JSON.stringify(original);
        const document = new JsonDocument(original);
        let value = original;
        for (const [picks, fresh] of batches) {
          const edits = batchOf(value, picks, fresh);
          value = spliced(value, edits);
          document.apply(edits);
          expect(document.value).toEqual(value);
        }
        const printed = JSON.stringify(original, null, 1);
        expect(JSON.parse(applyEdits(printed, document.edits()))).toEqual(value);
        expect(JSON.stringify(original)).toBe(before);
      }),
      { numRuns: 400 },
    );
  });

  test('an edit that leads nowhere changes nothing', () => {
    const document = new JsonDocument({ a: [1], b: 'text' });
    document.apply([
      { path: ['x'], value: 1 },
      { path: ['x', 'y'], value: 1, add: true },
      { path: ['b', 'length'], value: 1 },
      { path: ['a', 5], value: 1 },
      { path: ['a', 5], value: undefined },
      { path: ['__proto__'], value: {}, add: true },
      { path: [], value: 1 },
    ]);
    expect(document.edits()).toEqual([]);
    expect(document.value).toEqual({ a: [1], b: 'text' });
  });

  test('values of edits stay as they are, even when a later edit changes them', () => {
    const shared = Object.freeze({ list: Object.freeze([1]) });
    const document = new JsonDocument({});
    document.apply([{ path: ['a'], value: shared, add: true }]);
    document.apply([{ path: ['a', 'list', 1], value: 2, insert: true }]);
    expect(document.value).toEqual({ a: { list: [1, 2] } });
    expect(document.edits()).toEqual([{ path: ['a'], value: { list: [1, 2] }, add: true }]);
    expect(shared.list).toEqual([1]);
  });

  test('removing and inserting many elements takes linear time', () => {
    const many = Array.from({ length: 200_000 }, (_, index) => ({ index }));
    const document = new JsonDocument({ many });
    const began = performance.now();
    document.apply(
      many.flatMap((_, index): Edit[] => (index % 2 ? [{ path: ['many', index], value: undefined }] : [{ path: ['many', index], value: 0, insert: true }])),
    );
    const text = applyEdits(JSON.stringify({ many }), document.edits());
    expect(performance.now() - began).toBeLessThan(90_000);
    expect((JSON.parse(text) as { many: unknown[] }).many).toHaveLength(200_000);
  });
});
