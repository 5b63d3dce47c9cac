/** Questions about JSON bytes: as asking the parsed value, and no more of it read than needed. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { jsonEqual, PathFinder, type PathQuestion } from './index.ts';

const ask = (body: string, ...questions: PathQuestion[]) => [...new PathFinder(questions).search(Buffer.from(body))];
const path = (text: string): string[] => text.split('.');

describe('PathFinder', () => {
  const body =
    '{"model":"a","n":1.0,"messages":[{"role":"user","content":[{"type":"text","text":"hi"},{"type":"image"}]},{"role":"x","content":null}],"mess\\u0061ge":{"0":[]}}';
  test.each<[PathQuestion, number]>([
    [{ path: path('model') }, 1],
    [{ path: path('model'), equal: 'a' }, 1],
    [{ path: path('model'), equal: 'b' }, 0],
    [{ path: path('n'), equal: 1 }, 1],
    [{ path: path('n'), equal: '1.0' }, 0],
    [{ path: path('messages.*.content.*.type'), equal: 'image' }, 1],
    [{ path: path('messages.1.content.*') }, 0],
    [{ path: path('messages.1.content') }, 1],
    [{ path: path('messages.1.content'), equal: null }, 1],
    [{ path: path('messages.0.content.1'), equal: { type: 'image' } }, 1],
    [{ path: path('messages.9') }, 0],
    [{ path: path('messages.role') }, 0],
    [{ path: path('message.0'), equal: [] }, 1],
    [{ path: path('*.0') }, 1],
    [{ path: path('*.*.role'), equal: 'x' }, 1],
    [{ path: path('toString') }, 0],
    [{ path: path('__proto__') }, 0],
  ])('%j', (question, wanted) => {
    expect(ask(body, question)).toEqual([wanted]);
  });

  test('every occurrence of a repeated key counts', () => {
    expect(ask('{"a":1,"a":2}', { path: ['a'], equal: 1 }, { path: ['a'], equal: 2 }, { path: ['a'], equal: 3 })).toEqual([1, 1, 0]);
  });

  test('as asking the parsed value', () => {
    const value = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom<unknown>(null, true, 0, 'x', 'ü"\\'),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom('a', 'b', '0', 'ü"'), tie('value'), { maxKeys: 3 }),
      ),
    })).value;
    const steps = fc.array(fc.constantFrom('a', 'b', '0', '1', '*', 'ü"'), { minLength: 1, maxLength: 4 });
    const found = (at: unknown, [step, ...rest]: string[]): unknown[] => {
      if (step === undefined) return [at];
      if (typeof at !== 'object' || at === null) return [];
      const keys = step === '*' ? Object.keys(at) : Object.hasOwn(at, step) ? [step] : [];
      return keys.flatMap((key) => found((at as Record<string, unknown>)[key], rest));
    };
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom('a', 'b', 'ü"'), value),
        fc.array(fc.tuple(steps, fc.option(value, { nil: undefined })), { maxLength: 5 }),
        (body, asked) => {
          const questions = asked.map(([steps, equal]): PathQuestion => ({ path: steps, ...(equal !== undefined && { equal }) }));
          const wanted = questions.map(({ path, equal }) => Number(found(body, [...path]).some((at) => equal === undefined || jsonEqual(equal, at))));
          for (const text of [JSON.stringify(body), JSON.stringify(body, null, 2)]) expect(ask(text, ...questions)).toEqual(wanted);
        },
      ),
      { numRuns: 500 },
    );
  });

  test('large strings, many keys and deep values are passed over in linear time', () => {
    const image = 'A'.repeat(8_000_000);
    const keys = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`k${index}`, [index]]));
    const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
    const text = `{"image":"data:image/png;base64,${image}","keys":${JSON.stringify(keys)},"deep":${deep},"last":1}`;
    const finder = new PathFinder([
      { path: ['image'], equal: 'data:' },
      { path: ['keys', '*', '0'], equal: 99_999 },
      { path: ['deep', '*', 'x'] },
      { path: ['last'] },
    ]);
    const bytes = Buffer.from(text);
    const began = performance.now();
    expect([...finder.search(bytes)]).toEqual([0, 1, 0, 1]);
    expect(performance.now() - began).toBeLessThan(60_000);
  });
});
