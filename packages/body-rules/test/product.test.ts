/** Every mode that takes a path × every form of a path × every edge, on the value and on the bytes, read whole and in parts. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { BodyRuleInput } from '@model-gateway/contracts';
import { switchesOf } from '../src/index.ts';
import { tryRules } from './try-rules.ts';

/** The place is not there at all. */
const absent = Symbol('absent');
type Leaf = unknown;

interface Form {
  path: string;
  /** The body in which the leaf stands at the path. */
  around(leaf: Leaf): unknown;
  /** What is left after the leaf is removed, where that is more than the body without it. */
  left?: unknown;
  /** Whether a rule may make what is missing there: keys, never elements. */
  makes: boolean;
}

const object = (leaf: Leaf, key = 't'): object => (leaf === absent ? {} : { [key]: leaf });
const list = (...leaves: Leaf[]): unknown[] => leaves.filter((leaf) => leaf !== absent);

const forms: Readonly<Record<string, Form>> = {
  'an object key': { path: 't', around: (leaf) => ({ other: 1, ...object(leaf) }), makes: true },
  'a nested key': { path: 'a.t', around: (leaf) => ({ a: { other: [1], ...object(leaf) } }), makes: true },
  'a key below missing ones': {
    path: 'a.b.t',
    around: (leaf) => (leaf === absent ? { x: 1 } : { x: 1, a: { b: { t: leaf } } }),
    makes: true,
    left: { x: 1, a: { b: {} } },
  },
  'a number that is a key': { path: 'a.0', around: (leaf) => ({ a: object(leaf, '0') }), makes: true },
  'an element': { path: 'a.1', around: (leaf) => ({ a: list(7, leaf) }), makes: false },
  'a key of an element': { path: 'a.1.t', around: (leaf) => ({ a: [7, object(leaf)] }), makes: true },
  'every element': { path: 'a.*', around: (leaf) => ({ a: list(leaf, leaf) }), makes: false },
  'every member of an object': { path: 'a.*', around: (leaf) => ({ a: { ...object(leaf, 'p'), ...object(leaf, 'q') } }), makes: false },
  'a key of every element': { path: 'a.*.t', around: (leaf) => ({ a: [object(leaf), 7, object(leaf), 's', null] }), makes: true },
  'elements of keys of elements': { path: 'a.*.b.*', around: (leaf) => ({ a: [{ b: list(leaf) }, { c: 1 }, { b: list(leaf, leaf) }] }), makes: false },
  'keys below two wildcards': { path: 'a.*.*.t', around: (leaf) => ({ a: { p: [object(leaf)], q: { r: object(leaf) } } }), makes: true },
};

const edges = ['there', 'missing', 'wrong type', 'empty', 'nested arrays', 'null'] as const;
type Edge = (typeof edges)[number];

interface Case {
  rule: Omit<BodyRuleInput, 'path'>;
  /** The value before and after; `made` only where a rule may create it. */
  leaves: Readonly<Record<Edge, readonly [before: Leaf, after: Leaf]>>;
}

const same = (leaf: Leaf): readonly [Leaf, Leaf] => [leaf, leaf];
const modes: readonly Case[] = [
  {
    rule: { mode: 'overwrite', value: 'new' },
    leaves: {
      there: ['old', 'new'],
      missing: [absent, 'new'],
      'wrong type': [5, 'new'],
      empty: ['', 'new'],
      'nested arrays': [[[1], [2]], 'new'],
      null: [null, 'new'],
    },
  },
  {
    rule: { mode: 'remove' },
    leaves: {
      there: ['old', absent],
      missing: same(absent),
      'wrong type': [5, absent],
      empty: [{}, absent],
      'nested arrays': [[[1], [2]], absent],
      null: [null, absent],
    },
  },
  {
    rule: { mode: 'add-if-absent', value: { n: 1 } },
    leaves: {
      there: same('old'),
      missing: [absent, { n: 1 }],
      'wrong type': same(5),
      empty: same([]),
      'nested arrays': same([[1], [2]]),
      null: same(null),
    },
  },
  {
    rule: { mode: 'append', value: 'new' },
    leaves: {
      there: [[1], [1, 'new']],
      missing: [absent, ['new']],
      'wrong type': same('text'),
      empty: [[], ['new']],
      'nested arrays': [
        [[1], [2]],
        [[1], [2], 'new'],
      ],
      null: [null, ['new']],
    },
  },
  {
    rule: { mode: 'append-if-missing', value: 'new', condition: { where: [{ path: '', equal: 'new' }] } },
    leaves: {
      there: same([1, 'new']),
      missing: [absent, ['new']],
      'wrong type': same({ new: 'new' }),
      empty: [[], ['new']],
      'nested arrays': [[['new']], [['new'], 'new']],
      null: [null, ['new']],
    },
  },
  {
    rule: { mode: 'remove-matching', condition: { where: [{ path: 'k', equal: 1 }] } },
    leaves: {
      there: [[{ k: 1 }, { k: 2 }, { k: 1.0, x: 0 }], [{ k: 2 }]],
      missing: same(absent),
      'wrong type': same({ p: { k: 1 } }),
      empty: same([]),
      'nested arrays': same([[{ k: 1 }]]),
      null: same(null),
    },
  },
  {
    rule: { mode: 'strip-lines', value: 'drop' },
    leaves: {
      there: ['a\ndrop it\r\nb', 'a\nb'],
      missing: same(absent),
      'wrong type': same(5),
      empty: same(''),
      'nested arrays': same([['drop']]),
      null: same(null),
    },
  },
  {
    rule: { mode: 'filter-content-types', value: ['image', 'audio'] },
    leaves: {
      there: [
        [{ type: 'image' }, { type: 'text', text: 't' }, { type: 'audio' }],
        [
          { type: 'text', text: '[image removed]' },
          { type: 'text', text: 't' },
        ],
      ],
      missing: same(absent),
      'wrong type': same('image'),
      empty: same([]),
      'nested arrays': same([[{ type: 'image' }]]),
      null: same(null),
    },
  },
];

describe.each(modes)('$rule.mode', ({ rule, leaves }) => {
  describe.each(Object.entries(forms))('%s', (_name, { path, around, makes, left }) => {
    test.each(edges)('%s', (edge) => {
      const [before, after] = leaves[edge];
      const isRemoved = after === absent && before !== absent && left !== undefined;
      const wanted = isRemoved ? left : around(before === absent && !makes ? absent : after);
      for (const text of [JSON.stringify(around(before)), JSON.stringify(around(before), null, 3)]) {
        const result = tryRules([{ ...rule, path } as BodyRuleInput], text);
        expect(result.value).toEqual(wanted);
        expect(JSON.parse(result.text)).toEqual(wanted);
        if (JSON.stringify(wanted) === JSON.stringify(around(before))) expect(result.text).toBe(text);
      }
    });
  });
});

describe('switch-route', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/rewriting.md'), 'utf8');
  const example: BodyRuleInput = JSON.parse(/```json\n([\s\S]*?)```/.exec(page)![1]!);

  test.each([
    ['messages', { messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } }] }] }],
    ['chat completions', { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }] }] }],
    ['responses', { input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'data:image/png;base64,AA==' }] }] }],
    ['generate content', { contents: [{ role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data: 'AA==' } }] }] }],
  ])('the example of docs/rewriting.md finds an image of %s', (_shape, body) => {
    const switches = switchesOf({ name: 'up' }, { name: 'text-only', request_body_rules: [example] } as never)!;
    expect(switches.holding(Buffer.from(JSON.stringify(body)))).toMatchObject([{ useModel: 'sees-images' }]);
    expect(switches.holding(Buffer.from(JSON.stringify(body).replaceAll(/image_url|input_image|image|inlineData/g, 'text')))).toEqual([]);
  });

  const holds = (body: unknown, path: string, equal?: unknown): boolean => {
    const rule = { mode: 'switch-route' as const, when: [{ path, ...(equal !== undefined && { equal }) }], use_model: 'm' };
    const switches = switchesOf({ name: 'u', request_body_rules: [rule] } as never, { name: 'x' });
    return [JSON.stringify(body), JSON.stringify(body, null, 2)].every((text) => switches?.holding(Buffer.from(text)).length === 1);
  };
  describe.each(Object.entries(forms))('%s', (_name, { path, around }) => {
    test.each<[Edge, Leaf, boolean, boolean]>([
      ['there', 'wanted', true, true],
      ['missing', absent, false, false],
      ['wrong type', 5, true, false],
      ['empty', '', true, false],
      ['nested arrays', [['wanted']], true, false],
      ['null', null, true, false],
    ])('%s', (_edge, leaf, exists, equals) => {
      const body = around(leaf);
      expect(holds(body, path)).toBe(exists);
      expect(holds(body, path, 'wanted')).toBe(equals);
      // The same question of the same value, whatever it is.
      if (leaf !== absent && leaf !== null) expect(holds(body, path, leaf)).toBe(true);
    });
  });
});
