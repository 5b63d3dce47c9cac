/** Every built-in by example, and against Node where Node has the same. */
import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { builtinNames } from '@model-gateway/script-language';
import fc from 'fast-check';
import { builtins as typed } from './index.ts';
import { setSeed } from './time.ts';

// biome-ignore lint/suspicious/noExplicitAny: scripts call them with anything.
const call = typed as Readonly<Record<string, (...given: any[]) => any>>;
const body = () => ({ a: { b: [{ c: 1 }, { c: 2 }] }, t: 'x' });

test('all that the specification names, and nothing else', () => {
  expect(Object.keys(call).sort()).toEqual([...builtinNames].sort());
});

describe('by example', () => {
  test.each<[string, unknown[], unknown]>([
    ['json_path', [body(), 'a.b.1.c'], 2],
    ['json_path', [body(), 'a.b.*.c'], [1, 2]],
    ['json_path', [body(), 'a.x.y'], undefined],
    ['json_path', [body(), 'a.x', 'none'], 'none'],
    ['json_path', [body(), 'toString', 'none'], 'none'],
    ['set_path', [{}, 'a.0.b', 1], { a: [{ b: 1 }] }],
    ['set_path', [body(), 'a.b.*.c', 0], { a: { b: [{ c: 0 }, { c: 0 }] }, t: 'x' }],
    ['remove_path', [body(), 'a.b.0'], { a: { b: [{ c: 2 }] }, t: 'x' }],
    ['remove_path', [body(), 'no.way'], body()],
    ['add_if_absent_path', [{ a: 1 }, 'a', 2], { a: 1 }],
    ['add_if_absent_path', [{ a: null }, 'b.c', 2], { a: null, b: { c: 2 } }],
    ['append_path', [{ a: [1] }, 'a', 2], { a: [1, 2] }],
    ['append_path', [{}, 'a', 2], { a: [2] }],
    ['append_path', [{ a: 'text' }, 'a', 2], { a: 'text' }],
    ['append_path', [{ a: null }, 'a', 2], { a: [2] }],
    ['append_path', [{ a: [[1], [], 'x', null] }, 'a.*', 2], { a: [[1, 2], [2], 'x', [2]] }],
    // null on the way stands for nothing, as it does for body rules; a text does not.
    ['set_path', [{ a: null }, 'a.b', 1], { a: { b: 1 } }],
    ['set_path', [{ a: 'x' }, 'a.b', 1], { a: 'x' }],
    // A list takes what comes right behind its last element, and has no other members than elements.
    ['set_path', [{ a: [1] }, 'a.1', 2], { a: [1, 2] }],
    ['set_path', [{ a: [1] }, 'a.2.b', 2], { a: [1] }],
    ['set_path', [{ a: [1] }, 'a.1000000000', 2], { a: [1] }],
    ['set_path', [{ a: [1] }, 'a.length', 0], { a: [1] }],
    ['set_path', [{ a: [1] }, 'a.-1', 2], { a: [1] }],
    ['set_path', [{ a: [1] }, 'a.01', 2], { a: [1] }],
    ['set_path', [{}, 'a.Infinity', 1], { a: { Infinity: 1 } }],
    ['remove_path', [{ a: [1, 2] }, 'a.length'], { a: [1, 2] }],
    ['remove_path', [{ a: [1, 2] }, 'a.-1'], { a: [1, 2] }],
    ['remove_path', [{ a: [1, 2] }, 'a.*'], { a: [] }],
    ['add_if_absent_path', [{ a: { b: 1 } }, 'a.*', 2], { a: { b: 1 } }],
    ['json_path', [{ a: [1] }, 'a.length', 'none'], 'none'],
    ['str_len', ['a😀é'], 3],
    ['str_contains', ['abc', 'bc'], true],
    ['str_replace', ['a.b.c', '.', '$&'], 'a$&b$&c'],
    ['str_starts_with', ['abc', 'ab'], true],
    ['str_trim', [' \n a '], 'a'],
    ['regex_match', ['abc', '^a.c$'], true],
    ['regex_replace', ['a1b22', '(\\d+)', '<$1>'], 'a<1>b<22>'],
    ['regex_replace', ['a1', '(?P<n>\\d)', '${n}!'], 'a1!'],
    ['regex_extract', ['id: 42', 'id: (\\d+)', 1], '42'],
    ['regex_replace', ['ab', '(a)(b)', '${2}${1}$3'], 'ba$3'],
    ['regex_extract', ['none', '\\d'], null],
    ['regex_extract', ['a1', '\\d', null], '1'],
    ['base64_encode', ['é漢😀'], Buffer.from('é漢😀').toString('base64')],
    ['base64_decode', ['w6nmvKLwn5iA'], 'é漢😀'],
    ['json_encode', [{ a: [1] }], '{"a":[1]}'],
    ['json_parse', ['{"a":[1]}'], { a: [1] }],
    ['array_sort', [[3, 1, 2]], [1, 2, 3]],
    ['array_sort', [[{ n: 'b' }, { n: 'a' }, {}], 'n'], [{ n: 'a' }, { n: 'b' }, {}]],
    ['array_unique', [[1, 1, { a: 1 }, { a: 1 }]], [1, { a: 1 }]],
    [
      'array_unique',
      [
        [
          { k: 1, v: 1 },
          { k: 1, v: 2 },
        ],
        'k',
      ],
      [{ k: 1, v: 1 }],
    ],
    ['array_filter_by', [[{ r: 'a' }, { r: 'b' }], 'r', 'b'], [{ r: 'b' }]],
    ['array_find', [[{ r: 'a' }], 'r', 'z'], null],
    ['array_find', [[{ r: { x: 1, y: [{ p: 1, q: 2 }] } }], 'r', { y: [{ q: 2, p: 1 }], x: 1 }], { r: { x: 1, y: [{ p: 1, q: 2 }] } }],
    ['array_filter_by', [[{ r: [{ t: 'a' }, { t: 'b' }] }, { r: [] }], 'r.*.t', 'b'], [{ r: [{ t: 'a' }, { t: 'b' }] }]],
    ['array_filter_by', [[{ r: null }, {}], 'r', null], [{ r: null }]],
    ['array_filter_by', [[{ r: 1 }, {}], 'r', undefined], [{}]],
    ['array_pluck', [[{ r: [{ t: 1 }, { t: 2 }] }, { r: 'x' }], 'r.*.t'], [1, 2]],
    ['array_pluck', [[{ r: [1] }, { r: null }], 'r'], [[1], null]],
    [
      'array_unique',
      [
        [
          { a: 1, b: 2 },
          { b: 2, a: 1 },
        ],
      ],
      [{ a: 1, b: 2 }],
    ],
    ['array_sum', [[{ r: [1, 2] }, { r: [3] }], 'r.*'], 6],
    ['array_pluck', [[{ r: 'a' }, {}, { r: 'b' }], 'r'], ['a', 'b']],
    ['array_sum', [[1, 2, 'x', 3.5]], 6.5],
    ['array_sum', [[{ n: 1 }, { n: 2 }], 'n'], 3],
    ['deep_clone', [{ a: [{ b: null }] }], { a: [{ b: null }] }],
    [
      'deep_merge',
      [
        { a: { b: 1, c: 2 }, l: [1] },
        { a: { c: 3 }, l: [2] },
      ],
      { a: { b: 1, c: 3 }, l: [2] },
    ],
    ['deep_merge', [{ a: 1 }, undefined], { a: 1 }],
    ['deep_merge', [{ a: { b: 1 } }, { a: null }], { a: null }],
    ['format_time', [-1, '%FT%T%z %R'], '1969-12-31T23:59:59+0000 23:59'],
    ['format_time', [0], '1970-01-01T00:00:00.000Z'],
    ['format_time', [1_700_000_000.5, '%Y-%m-%d %H:%M:%S.%L %a %j %p %%'], '2023-11-14 22:13:20.500 Tue 318 PM %'],
  ])('%s(%j)', (name, given, expected) => {
    expect(call[name]!(...given)).toEqual(expected);
  });

  test.each<[string, unknown[]]>([
    ['set_path', [{}, '__proto__.x', 1]],
    ['set_path', [{}, 'a.constructor.x', 1]],
    ['json_path', [{}, 'a[0].b']],
    ['json_path', [{}, 'a..b']],
    ['json_path', [{}, '']],
    ['str_len', [1]],
    ['array_sort', ['text']],
    ['base64_decode', ['?']],
    ['regex_match', ['a', '(?=a)']],
    ['regex_extract', ['a', 'a', 1]],
    ['json_parse', ['{']],
  ])('%s(%j) is refused', (name, given) => {
    expect(() => call[name]!(...given)).toThrow();
  });

  test('clones and merges are new, __proto__ is a key like any other', () => {
    const value = JSON.parse('{"__proto__":{"x":1},"a":{}}');
    const clone = call['deep_clone']!(value);
    expect([clone.a !== value.a, Object.keys(clone), clone.x]).toEqual([true, ['__proto__', 'a'], undefined]);
    expect(JSON.stringify(call['deep_merge']!({ a: 1 }, value))).toBe('{"a":{},"__proto__":{"x":1}}');
  });

  test('clock and chance', () => {
    setSeed('seed');
    const [one, two] = [call['uuid']!(), call['uuid']!()];
    expect(one).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(one).not.toBe(two);
    const [before, seconds, after] = [call['now_ms']!(), call['now']!(), call['now_ms']!()];
    expect([Number.isInteger(seconds), seconds >= Math.floor(before / 1000), seconds <= after / 1000]).toEqual([true, true, true]);
  });
});

describe('as Node has it', () => {
  const text = fc.string({ unit: 'binary', maxLength: 300 });
  test('hashes and base64 of any text', () => {
    fc.assert(
      fc.property(text, (given) => {
        const bytes = Buffer.from(given.toWellFormed(), 'utf8');
        expect(call['sha256']!(given)).toBe(createHash('sha256').update(bytes).digest('hex'));
        expect(call['base64_encode']!(given)).toBe(bytes.toString('base64'));
        expect(call['base64_decode']!(bytes.toString('base64url'))).toBe(given.toWellFormed());
      }),
      { numRuns: 300 },
    );
  });

  test('bytes that are no UTF-8 become U+FFFD', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 20 }), (bytes) => {
        expect(call['base64_decode']!(Buffer.from(bytes).toString('base64')).replace(/\ufffd+/g, '\ufffd')).toBe(
          Buffer.from(bytes)
            .toString('utf8')
            .replace(/\ufffd+/g, '\ufffd'),
        );
      }),
      { numRuns: 500 },
    );
  });
});
