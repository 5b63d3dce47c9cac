/** Every mode on every form of path and on what callers really send: both passages must give the same. */
import { describe, expect, test } from '@jest/globals';
import { type BodyRuleInput, bodyRulesSchema } from '@model-gateway/contracts';
import fc from 'fast-check';
import { checkRules } from '../src/index.ts';
import { layoutOf, tryRules } from './try-rules.ts';

type Case = [what: string, rule: BodyRuleInput, body: unknown, wanted: unknown];

const over = (path: string, value: unknown): BodyRuleInput => ({ mode: 'overwrite', path, value: value as never });
const where = (path: string, equal: unknown) => [{ path, equal: equal as never }];

const cases: Case[] = [
  // overwrite
  ['a key', over('a', 1), { a: 0 }, { a: 1 }],
  ['a missing key', over('a', 1), { b: 0 }, { b: 0, a: 1 }],
  ['a nested key', over('a.b', 1), { a: { b: 0, c: 2 } }, { a: { b: 1, c: 2 } }],
  ['missing objects on the way', over('a.b.c', 1), {}, { a: { b: { c: 1 } } }],
  ['null on the way stands for nothing', over('a.b', 1), { a: null }, { a: { b: 1 } }],
  ['null itself', over('a', 1), { a: null }, { a: 1 }],
  ['a text on the way', over('a.b', 1), { a: 'text' }, { a: 'text' }],
  ['an array on the way', over('a.b', 1), { a: [1] }, { a: [1] }],
  ['an element', over('a.1', 9), { a: [1, 2] }, { a: [1, 9] }],
  ['an element that is not there', over('a.2', 9), { a: [1, 2] }, { a: [1, 2] }],
  ['no elements are made', over('a.0.b', 9), {}, {}],
  ['a number as a key', over('bias.50256', -100), { bias: {} }, { bias: { 50256: -100 } }],
  ['every element', over('m.*.x', 1), { m: [{ x: 0 }, {}, 'text', null] }, { m: [{ x: 1 }, { x: 1 }, 'text', null] }],
  ['every member of an object', over('m.*.x', 1), { m: { a: {}, b: { x: 2 } } }, { m: { a: { x: 1 }, b: { x: 1 } } }],
  ['elements of elements', over('m.*.*', 0), { m: [[1, 2], [], [3]] }, { m: [[0, 0], [], [0]] }],
  ['wildcards at nothing', over('m.*.x', 1), { m: [] }, { m: [] }],
  ['an object', over('a', { b: [1] }), { a: 'x' }, { a: { b: [1] } }],
  ['null', over('a', null), { a: 'x' }, { a: null }],
  ['a variable', over('a', 'x-{{header:X-Tenant}}'), {}, { a: 'x-acme' }],
  ['the first that is not empty', over('a', '{{header:x-none|header:x-blank|request_id}}'), {}, { a: 'r-1' }],
  ['all empty: nothing is written', over('a', '{{header:x-none|access_key_hash}}'), { a: 1 }, { a: 1 }],
  ['braces in what is no text', over('a', ['{{request_id}}']), {}, { a: ['{{request_id}}'] }],
  // remove
  ['a key', { mode: 'remove', path: 'a' }, { a: 1, b: 2 }, { b: 2 }],
  ['the only key', { mode: 'remove', path: 'a' }, { a: 1 }, {}],
  ['a missing key', { mode: 'remove', path: 'a.b' }, { a: {} }, { a: {} }],
  ['an element', { mode: 'remove', path: 'a.0' }, { a: [1, 2] }, { a: [2] }],
  ['every element', { mode: 'remove', path: 'a.*' }, { a: [1, 2] }, { a: [] }],
  ['a key of every element', { mode: 'remove', path: 'a.*.c' }, { a: [{ c: 1 }, { c: 2, d: 3 }, 4] }, { a: [{}, { d: 3 }, 4] }],
  ['what is inherited is not there', { mode: 'remove', path: 'toString' }, { a: 1 }, { a: 1 }],
  // add-if-absent
  ['absent', { mode: 'add-if-absent', path: 'a.b', value: 1 }, { a: {} }, { a: { b: 1 } }],
  ['there', { mode: 'add-if-absent', path: 'a.b', value: 1 }, { a: { b: 0 } }, { a: { b: 0 } }],
  ['there as null', { mode: 'add-if-absent', path: 'a', value: 1 }, { a: null }, { a: null }],
  ['in every element', { mode: 'add-if-absent', path: 'm.*.x', value: 1 }, { m: [{ x: 0 }, {}] }, { m: [{ x: 0 }, { x: 1 }] }],
  ['in a text', { mode: 'add-if-absent', path: 'a.b', value: 1 }, { a: 'x' }, { a: 'x' }],
  // append
  ['to an array', { mode: 'append', path: 'a', value: 3 }, { a: [1] }, { a: [1, 3] }],
  ['to an empty one', { mode: 'append', path: 'a', value: 3 }, { a: [] }, { a: [3] }],
  ['to a missing one', { mode: 'append', path: 'a.b', value: 3 }, {}, { a: { b: [3] } }],
  ['to null', { mode: 'append', path: 'a', value: 3 }, { a: null }, { a: [3] }],
  ['to a text', { mode: 'append', path: 'a', value: 3 }, { a: 'x' }, { a: 'x' }],
  ['an array is one element', { mode: 'append', path: 'a', value: [3] }, { a: [1] }, { a: [1, [3]] }],
  ['to nested arrays', { mode: 'append', path: 'm.*.c', value: 1 }, { m: [{ c: [] }, { c: [0] }, { c: 'x' }] }, { m: [{ c: [1] }, { c: [0, 1] }, { c: 'x' }] }],
  // append-if-missing
  [
    'missing',
    { mode: 'append-if-missing', path: 'a', value: { n: 1 }, condition: { scope: 'a', where: where('n', 1) } },
    { a: [{ n: 2 }] },
    { a: [{ n: 2 }, { n: 1 }] },
  ],
  [
    'there',
    { mode: 'append-if-missing', path: 'a', value: { n: 1 }, condition: { scope: 'a', where: where('n', 1) } },
    { a: [{ n: 1, x: 0 }] },
    { a: [{ n: 1, x: 0 }] },
  ],
  [
    'the scope alone names the array',
    { mode: 'append-if-missing', value: 'E', condition: { scope: 'stop', where: where('', 'E') } },
    { stop: ['A'] },
    { stop: ['A', 'E'] },
  ],
  ['the path alone', { mode: 'append-if-missing', path: 'stop', value: 'E', condition: { where: where('', 'E') } }, { stop: ['E'] }, { stop: ['E'] }],
  [
    'another array is looked at',
    { mode: 'append-if-missing', path: 'b', value: 1, condition: { scope: 'a', where: where('x', true) } },
    { a: [{ x: true }], b: [] },
    { a: [{ x: true }], b: [] },
  ],
  [
    'all of where, in one element',
    { mode: 'append-if-missing', path: 'a', value: 0, condition: { where: [...where('x', 1), ...where('y', 2)] } },
    { a: [{ x: 1 }, { y: 2 }] },
    { a: [{ x: 1 }, { y: 2 }, 0] },
  ],
  [
    'each array by itself',
    { mode: 'append-if-missing', path: 'm.*.c', value: 1, condition: { where: where('', 1) } },
    { m: [{ c: [1] }, { c: [] }] },
    { m: [{ c: [1] }, { c: [1] }] },
  ],
  ['a missing array', { mode: 'append-if-missing', path: 'a', value: 1, condition: { where: where('', 1) } }, {}, { a: [1] }],
  // remove-matching
  ['some', { mode: 'remove-matching', path: 'a', condition: { where: where('t', 'x') } }, { a: [{ t: 'x' }, { t: 'y' }, { t: 'x' }] }, { a: [{ t: 'y' }] }],
  ['all', { mode: 'remove-matching', condition: { scope: 'a', where: where('t', 'x') } }, { a: [{ t: 'x' }] }, { a: [] }],
  [
    'by a nested array',
    { mode: 'remove-matching', path: 'a', condition: { where: where('c.*.k', { d: 1 }) } },
    { a: [{ c: [{ k: { d: 1 } }] }, { c: [] }] },
    { a: [{ c: [] }] },
  ],
  [
    'in every array',
    { mode: 'remove-matching', path: 'm.*.c', condition: { where: where('', 0) } },
    { m: [{ c: [0, 1] }, { c: 0 }, { c: [0] }] },
    { m: [{ c: [1] }, { c: 0 }, { c: [] }] },
  ],
  ['an object is no array', { mode: 'remove-matching', path: 'a', condition: { where: where('t', 1) } }, { a: { b: { t: 1 } } }, { a: { b: { t: 1 } } }],
  // strip-lines
  ['lines that hold it', { mode: 'strip-lines', path: 's', value: 'x' }, { s: 'a\nx1\r\nb\nmax' }, { s: 'a\nb' }],
  ['line ends stay', { mode: 'strip-lines', path: 's', value: 'x' }, { s: 'a\r\nx\r\nb\r\n' }, { s: 'a\r\nb\r\n' }],
  ['the only line', { mode: 'strip-lines', path: 's', value: 'x' }, { s: 'x' }, { s: '' }],
  ['a comparison', { mode: 'strip-lines', path: 's', value: { match: 'prefix', value: 'x' } }, { s: 'ax\nxa' }, { s: 'ax' }],
  ['equal', { mode: 'strip-lines', path: 's', value: [{ match: 'equals', value: 'x' }, 'drop'] }, { s: 'x\nxx\ndrop it' }, { s: 'xx' }],
  [
    'a regular expression',
    { mode: 'strip-lines', path: 'm.*.text', value: { match: 'regex', value: '^\\d+$' } },
    { m: [{ text: '12\nx12' }, { text: 5 }] },
    { m: [{ text: 'x12' }, { text: 5 }] },
  ],
  ['a variable', { mode: 'strip-lines', path: 's', value: '{{header:x-tenant}}' }, { s: 'for acme\nb' }, { s: 'b' }],
  ['an empty variable strips nothing', { mode: 'strip-lines', path: 's', value: '{{header:x-none}}' }, { s: 'a' }, { s: 'a' }],
  ['what is no text', { mode: 'strip-lines', path: 's', value: 'x' }, { s: ['x'] }, { s: ['x'] }],
  // switch-route
  ['changes nothing', { mode: 'switch-route', when: [{ path: 'a' }], use_model: 'm' }, { a: 1 }, { a: 1 }],
];

describe('modes', () => {
  test.each(cases.map(([what, rule, body, wanted]) => ({ name: `${rule.mode}: ${what}`, rule, body, wanted })))('$name', ({ rule, body, wanted }) => {
    for (const text of [JSON.stringify(body), JSON.stringify(body, null, 2)]) {
      const result = tryRules([rule], text);
      expect(result.value).toEqual(wanted);
      expect(JSON.parse(result.text)).toEqual(wanted);
      if (JSON.stringify(body) === JSON.stringify(wanted)) expect(result.text).toBe(text);
    }
  });

  test('rules see what those before them did', () => {
    const rules: BodyRuleInput[] = [
      { mode: 'remove', path: 'm.0' },
      over('m.0.x', 1),
      { mode: 'append', path: 'm', value: { y: 1 } },
      over('m.2.y', 2),
      { mode: 'append', path: 'm.2.z', value: 3 },
      { mode: 'remove', path: 'm.1' },
    ];
    const result = tryRules(rules, '{ "m": [ {"a":1.0}, {"b":2.0}, {"c":3.0} ] , "n":1e2}');
    expect(result.value).toEqual({
      m: [
        { b: 2, x: 1 },
        { y: 2, z: [3] },
      ],
      n: 100,
    });
    expect(result.text).toBe('{ "m": [ {"b":2.0,"x":1},{"y":2,"z":[3]} ] , "n":1e2}');
  });
});

describe('what is refused on save', () => {
  const faults = (rule: unknown) => checkRules(bodyRulesSchema.parse([rule])).map(({ field }) => field);
  test.each([
    'messages[].content',
    'messages[*].content',
    'messages[0]',
    'a..b',
    '.a',
    'a.',
    '.',
    '',
    '__proto__',
    'a.__proto__.b',
    'constructor.prototype.x',
    'a.prototype',
    'a.constructor',
    'a*.b',
    'a.**',
    '$.messages',
    'stream',
    'stream.x',
    '*',
    Array(70).fill('a').join('.'),
  ])('the path %j', (path) => {
    expect(faults({ mode: 'overwrite', path, value: 1 })).toEqual(['0.path']);
  });
  test.each<[unknown, string]>([
    [{ mode: 'overwrite', path: 'a' }, '0.value'],
    [{ mode: 'overwrite', path: 'a', value: '{{nonsense}}' }, '0.value'],
    [{ mode: 'overwrite', path: 'a', value: '{{request_id' }, '0.value'],
    [{ mode: 'overwrite', path: 'a', value: 1, use_model: 'm' }, '0.use_model'],
    [{ mode: 'overwrite', path: 'a', value: 1, condition: { scope: 'a', where: [] } }, '0.condition'],
    [{ mode: 'remove', path: 'a', value: 1 }, '0.value'],
    [{ mode: 'remove' }, '0.path'],
    [{ mode: 'append-if-missing', path: 'a', value: 1 }, '0.condition'],
    [{ mode: 'append-if-missing', path: 'a', value: 1, condition: { where: [] } }, '0.condition.where'],
    [{ mode: 'remove-matching', condition: { where: [{ path: 'a', equal: 1 }] } }, '0.condition.scope'],
    [{ mode: 'remove-matching', path: 'a', condition: { scope: 'b', where: [{ path: 'a', equal: 1 }] } }, '0.condition.scope'],
    [{ mode: 'remove-matching', path: 'a', condition: { where: [{ path: 'b[0]', equal: 1 }] } }, '0.condition.where.0.path'],
    [{ mode: 'strip-lines', path: 'a', value: { match: 'regex', value: '(?=x)' } }, '0.value'],
    [{ mode: 'strip-lines', path: 'a', value: 7 }, '0.value'],
    [{ mode: 'strip-lines', path: 'a', value: [] }, '0.value'],
    [{ mode: 'filter-content-types', value: 3 }, '0.value'],
    [{ mode: 'filter-content-types' }, '0.value'],
    [{ mode: 'filter-tools', value: { drop: 'a' } }, '0.value'],
    [{ mode: 'filter-tools', value: 'a', path: 'tools[]' }, '0.path'],
    [{ mode: 'inject-system-prompt', value: 'a', path: 'system' }, '0.path'],
    [{ mode: 'inject-system-prompt', value: '' }, '0.value'],
    [{ mode: 'switch-route', use_model: 'm' }, '0.when'],
    [{ mode: 'switch-route', when: [], use_model: 'm' }, '0.when'],
    [{ mode: 'switch-route', when: [{ path: 'a[]' }], use_model: 'm' }, '0.when.0.path'],
    [{ mode: 'switch-route', when: [{ path: 'a' }] }, '0.use_model'],
    [{ mode: 'switch-route', when: [{ path: 'a' }], use_model: 'm', path: 'b' }, '0.path'],
  ])('%j', (rule, field) => {
    expect(faults(rule)).toEqual([field]);
  });
});

describe('bytes that no rule means', () => {
  /** JSON as no printer of ours would write it: odd numbers, blanks, escapes, repeated keys. */
  const odd = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom('1.0', '1e2', '-0', '"\\u0061\\/"', 'true', 'null', '"é 👋"', '123456789012345678901234567890'),
      fc.array(tie('value') as fc.Arbitrary<string>, { maxLength: 3 }).map((items) => `[ ${items.join(' ,')}\n]`),
      fc
        .array(fc.tuple(fc.constantFrom('"k"', '"k"', '"\\u006b2"', '"z"'), tie('value') as fc.Arbitrary<string>), { maxLength: 3 })
        .map((items) => `{${items.map(([key, value]) => ` ${key} :${value}`).join(',')} }`),
    ),
  })).value as fc.Arbitrary<string>;

  test('stay as they were, around everything that a rule edits', () => {
    fc.assert(
      fc.property(odd, odd, odd, (a, b, c) => {
        const text = `{\n "first":${a},"target" : {"x":1, "keep":${b}}, "list":[${b}, {"t":"go"},${c}] ,"last":${c}\n}`;
        const result = tryRules(
          [
            over('target.x', 2),
            { mode: 'remove-matching', path: 'list', condition: { where: where('t', 'go') } },
            { mode: 'append', path: 'list', value: 'end' },
          ],
          text,
        );
        expect(result.text).toBe(`{\n "first":${a},"target" : {"x":2, "keep":${b}}, "list":[${b},${c},"end"] ,"last":${c}\n}`);
      }),
      { numRuns: 300 },
    );
  });
});

describe('hostile bodies', () => {
  const rules: BodyRuleInput[] = [
    over('metadata.user', 'x'),
    { mode: 'remove', path: 'messages.*.content.*.cache_control' },
    { mode: 'filter-content-types', value: ['image', 'document'] },
    { mode: 'filter-tools', value: '*x*y*z*' },
    { mode: 'remove-matching', path: 'messages', condition: { where: where('role', 'nobody') } },
    { mode: 'strip-lines', path: 'messages.*.content', value: { match: 'regex', value: '(a+)+$' } },
    { mode: 'inject-system-prompt', value: 'House rules.' },
  ];
  const many = (count: number, item: string) => `[${Array(count).fill(item).join(',')}]`;
  test.each([
    ['100,000 blocks, all removed', `{"messages":[{"role":"user","content":${many(100_000, '{"type":"image"}')}}]}`],
    ['30,000 messages', `{"messages":${many(30_000, '{"role":"user","content":[{"type":"image","cache_control":{}},{"type":"text"}]}')}}`],
    ['100,000 tools', `{"tools":${many(100_000, '{"name":"xxyyzz"}')},"messages":[]}`],
    ['100,000 keys', `{${Array.from({ length: 100_000 }, (_, index) => `"k${index}":1`).join(',')}}`],
    ['60 levels', `{"messages":${'['.repeat(60)}${']'.repeat(60)}}`],
    ['a long line against a regular expression', `{"messages":[{"role":"user","content":"${'a'.repeat(500_000)}!"}]}`],
    ['own keys of prototypes', '{"__proto__":{"x":1},"metadata":{"__proto__":{"user":1}},"constructor":{"prototype":{}},"messages":[{"__proto__":[]}]}'],
  ])(
    '%s',
    (_name, text) => {
      // Of this process alone: others may be at work beside it.
      const began = process.cpuUsage();
      const result = tryRules(rules, text, layoutOf('beta'));
      expect(JSON.parse(result.text)).toEqual(result.value);
      expect(({} as Record<string, unknown>)['x']).toBeUndefined();
      expect(process.cpuUsage(began).user / 1000).toBeLessThan(60_000);
    },
    180_000,
  );
});
