/** Edits: equal to editing the parsed value, byte for byte nothing else touched. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { applyEdits, type Edit } from './index.ts';

describe('applyEdits', () => {
  test.each<[string, Edit[], string]>([
    ['{ "model" : "a" , "n":1 }', [{ path: ['model'], value: 'b"é' }], '{ "model" : "b\\"é" , "n":1 }'],
    ['{"a":1, "b":2, "c":3}', [{ path: ['a'], value: undefined }], '{"b":2, "c":3}'],
    ['{"a":1, "b":2, "c":3}', [{ path: ['b'], value: undefined }], '{"a":1, "c":3}'],
    ['{"a":1, "b":2, "c":3 }', [{ path: ['c'], value: undefined }], '{"a":1, "b":2 }'],
    [
      '{"a":1, "b":2}',
      [
        { path: ['a'], value: undefined },
        { path: ['b'], value: undefined },
      ],
      '{}',
    ],
    [
      '{"a":1,"b":2,"c":3}',
      [
        { path: ['a'], value: undefined },
        { path: ['c'], value: undefined },
      ],
      '{"b":2}',
    ],
    [
      '[1, 2, 3, 4]',
      [
        { path: [0], value: undefined },
        { path: [2], value: undefined },
      ],
      '[2, 4]',
    ],
    ['{}', [{ path: ['x'], value: 1, add: true }], '{"x":1}'],
    ['{ }', [{ path: ['x'], value: 1, add: true }], '{"x":1 }'],
    [
      '{"a":1\n}',
      [
        { path: ['x'], value: [1], add: true },
        { path: ['y'], value: null, add: true },
      ],
      '{"a":1,"x":[1],"y":null\n}',
    ],
    [
      '{"a":1}',
      [
        { path: ['a'], value: undefined },
        { path: ['x'], value: 1, add: true },
      ],
      '{"x":1}',
    ],
    [
      '{"a":1,"b":2}',
      [
        { path: ['b'], value: undefined },
        { path: ['x'], value: 1, add: true },
      ],
      '{"a":1,"x":1}',
    ],
    ['{"o":{"u":false}}', [{ path: ['o', 'u'], value: true, add: true }], '{"o":{"u":true}}'],
    ['{"o":{}}', [{ path: ['o', 'u'], value: true, add: true }], '{"o":{"u":true}}'],
    [
      '{"a":1}',
      [
        { path: ['missing'], value: 1 },
        { path: ['a', 'b'], value: 1, add: true },
        { path: ['no', 'where'], value: 1, add: true },
      ],
      '{"a":1}',
    ],
    ['{"a":1,"a":{"b":2}}', [{ path: ['a'], value: 0 }], '{"a":0,"a":0}'],
    ['{"mod\\u0065l":1}', [{ path: ['model'], value: 2 }], '{"mod\\u0065l":2}'],
    ['{"é":[{"ü":1}]}', [{ path: ['é', 0, 'ü'], value: 'ö' }], '{"é":[{"ü":"ö"}]}'],
    ['{"\\u00e9":1}', [{ path: ['é'], value: 2 }], '{"\\u00e9":2}'],
    [
      '{"a":{"b":1}}',
      [
        { path: ['a', 'b'], value: 2 },
        { path: ['a'], value: 3 },
      ],
      '{"a":3}',
    ],
    [
      '{"a":1}',
      [
        { path: ['a'], value: 2 },
        { path: ['a'], value: 3 },
      ],
      '{"a":3}',
    ],
    [
      '{"0":1,"a":[5]}',
      [
        { path: [0], value: 2 },
        { path: ['a', '0'], value: 2 },
      ],
      '{"0":1,"a":[5]}',
    ],
    [' [1] ', [{ path: [], value: { x: 1 } }], ' {"x":1} '],
    ['{"a":1}', [{ path: ['__proto__'], value: 1, add: true }], '{"a":1,"__proto__":1}'],
  ])('%s with %j', (text, edits, expected) => {
    expect(applyEdits(text, edits)).toBe(expected);
    expect(Buffer.from(applyEdits(Buffer.from(text), edits)).toString()).toBe(expected);
  });

  test('what needs no change comes back as the same object, and broken text as it is', () => {
    const bytes = Buffer.from('{"a":1}');
    expect(applyEdits(bytes, [{ path: ['b'], value: 1 }])).toBe(bytes);
    expect(applyEdits('{"a":1,', [{ path: ['a'], value: 2 }])).toBe('{"a":1,');
    expect(applyEdits('', [{ path: ['a'], value: 2 }])).toBe('');
    expect(applyEdits('[DONE]', [{ path: ['a'], value: 2 }])).toBe('[DONE]');
  });

  test('bytes that are not UTF-8 survive beside an edit', () => {
    const source = Buffer.concat([Buffer.from('{"a":1,"x":"'), Buffer.from([0xff, 0xfe, 0x80]), Buffer.from('"}')]);
    const out = Buffer.from(applyEdits(source, [{ path: ['a'], value: 'é' }]));
    expect(out.equals(Buffer.concat([Buffer.from('{"a":"é","x":"'), Buffer.from([0xff, 0xfe, 0x80]), Buffer.from('"}')]))).toBe(true);
  });

  test('ten thousand edits of one array stay linear', () => {
    const text = JSON.stringify(Array.from({ length: 10_000 }, (_, index) => ({ id: `call_${index}` })));
    const edits = Array.from({ length: 10_000 }, (_, index) => ({ path: [index, 'id'], value: index }));
    const started = process.cpuUsage();
    expect(JSON.parse(applyEdits(text, edits))[9_999]).toEqual({ id: 9_999 });
    expect(process.cpuUsage(started).user / 1000).toBeLessThan(5_000);
  });
});

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** The same edits on the parsed value, the obvious slow way. */
function editParsed(value: Json, edits: readonly Edit[]): Json | undefined {
  const here = edits.findLast((edit) => edit.path.length === 0);
  if (here) return here.value as Json | undefined;
  const below = (segment: string | number) => edits.filter((edit) => edit.path[0] === segment).map((edit) => ({ ...edit, path: edit.path.slice(1) }));
  if (Array.isArray(value)) return value.map((item, index) => editParsed(item, below(index))).filter((item) => item !== undefined);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, item]) => [key, editParsed(item, below(key))] as const);
  for (const edit of edits) {
    const key = edit.path[0] as string;
    if (edit.add && edit.path.length === 1 && typeof key === 'string' && edit.value !== undefined && !entries.some(([known]) => known === key)) {
      entries.push([key, edits.findLast((other) => other.path.length === 1 && other.path[0] === key)!.value as Json]);
    }
  }
  return Object.fromEntries(entries.filter(([, item]) => item !== undefined)) as Json;
}

function pathsOf(value: Json, prefix: (string | number)[] = []): (string | number)[][] {
  if (typeof value !== 'object' || value === null) return [prefix];
  const children: [string | number, Json][] = Array.isArray(value) ? value.map((item, index) => [index, item]) : Object.entries(value);
  return [prefix, ...children.flatMap(([segment, item]) => pathsOf(item, [...prefix, segment]))];
}

describe('properties', () => {
  const document = fc.oneof(fc.dictionary(fc.string({ maxLength: 3 }), fc.jsonValue({ maxDepth: 3 })), fc.array(fc.jsonValue({ maxDepth: 3 })));
  const change = fc.record({
    pick: fc.nat(),
    value: fc.option(fc.jsonValue({ maxDepth: 1 }), { nil: undefined, freq: 2 }),
    extra: fc.option(fc.string({ maxLength: 3 })),
  });

  test('the parsed result is the edited parsed text', () => {
    fc.assert(
      fc.property(document, fc.constantFrom(0, 2), fc.array(change, { minLength: 1, maxLength: 6 }), (value, indent, changes) => {
        const text = JSON.stringify(value, null, indent);
        const parsed = JSON.parse(text) as Json;
        const paths = pathsOf(parsed).filter((path) => path.length > 0);
        const unique = new Map<string, Edit>();
        for (const { pick, value: next, extra } of changes) {
          const base = paths.length > 0 ? paths[pick % paths.length]! : [];
          const edit: Edit = extra === null ? { path: base, value: next } : { path: [...base.slice(0, -1), extra], value: next, add: true };
          if (edit.path.length > 0) unique.set(JSON.stringify(edit.path), edit);
        }
        const edits = [...unique.values()];
        // JSON has no negative zero of JavaScript's.
        const expected = JSON.parse(JSON.stringify(editParsed(parsed, edits))) as unknown;
        expect(JSON.parse(applyEdits(text, edits))).toEqual(expected);
        expect(JSON.parse(Buffer.from(applyEdits(Buffer.from(text), edits)).toString())).toEqual(expected);
      }),
      { numRuns: 600 },
    );
  });

  test('everything before and after one replaced value is untouched', () => {
    const marker = '\u0001only here\u0001';
    fc.assert(
      fc.property(document, fc.nat(), fc.constantFrom(0, 1), (value, pick, indent) => {
        const text = JSON.stringify(value, null, indent);
        const parsed = JSON.parse(text) as Json;
        const paths = pathsOf(parsed);
        const path = paths[pick % paths.length]!;
        const [before, after, ...more] = applyEdits(text, [{ path, value: marker }]).split(JSON.stringify(marker));
        expect(more).toEqual([]);
        expect(text.startsWith(before!)).toBe(true);
        expect(text.endsWith(after!)).toBe(true);
        const old = path.reduce<Json>((node, segment) => Object.entries(node as object).find(([key]) => key === String(segment))![1] as Json, parsed);
        expect(JSON.parse(text.slice(before!.length, text.length - after!.length))).toEqual(old);
      }),
      { numRuns: 400 },
    );
  });

  test('damaged text: never throws, never hangs', () => {
    fc.assert(
      fc.property(document, fc.array(fc.tuple(fc.nat(), fc.constantFrom(...'{}[],:"\\', '')), { maxLength: 4 }), (value, damage) => {
        let text = JSON.stringify(value);
        for (const [at, piece] of damage) text = text.slice(0, at % (text.length + 1)) + piece + text.slice((at % (text.length + 1)) + 1);
        const edits: Edit[] = [
          { path: ['a', 0], value: 1 },
          { path: ['b'], value: undefined },
          { path: [0], value: undefined },
          { path: ['c'], value: 2, add: true },
        ];
        expect(typeof applyEdits(text, edits)).toBe('string');
        expect(applyEdits(Buffer.from(text), edits)).toBeInstanceOf(Uint8Array);
      }),
      { numRuns: 1000 },
    );
  });
});
