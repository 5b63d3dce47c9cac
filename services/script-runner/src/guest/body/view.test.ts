/** The view behaves as the plain value does, and what it prints is what the plain value would be; every byte that was not changed stays. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { LazyNode } from './node.ts';
import { Printer } from './print.ts';
import { viewOf } from './view.ts';

// biome-ignore lint/suspicious/noExplicitAny: a script's view of a body has no type.
type Any = any;

function open(text: string): { view: Any; print(): string } {
  const node = new LazyNode(text, text.search(/\S/), text.trimEnd().length);
  return {
    view: viewOf(node),
    print() {
      let out = '';
      let from = 0;
      for (const { start, end, text: made } of new Printer().changes(node)) {
        expect(start).toBeGreaterThanOrEqual(from);
        expect(end).toBeGreaterThanOrEqual(start);
        out += text.slice(from, start) + made;
        from = end;
      }
      return out + text.slice(from);
    },
  };
}

const key = fc.oneof(fc.constantFrom('a', 'b', 'messages', 'content', '0', '__proto__', 'constructor', 'é"\\'), fc.string({ maxLength: 4 }));
const { json } = fc.letrec<{ json: unknown; container: unknown }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(null, true, false, 0, -1.5, 1e21, '', 'x'),
    fc.string({ unit: 'grapheme', maxLength: 8 }),
    fc.constant('long '.repeat(100)),
    tie('container'),
  ),
  container: fc.oneof(fc.array(tie('json'), { maxLength: 5 }), fc.dictionary(key, tie('json'), { maxKeys: 5 })),
}));
const container = fc.oneof(fc.array(json, { maxLength: 6 }), fc.dictionary(key, json, { maxKeys: 6 }));
/** The body as text, with blanks where JSON allows them. */
const spelled = fc
  .tuple(container, fc.constantFrom(0, 1, '\t'), fc.constantFrom('', ' ', '\n'))
  .map(([value, indent, blank]) => blank + JSON.stringify(value, null, indent) + blank);

/** One thing a script may do to a container; the plain value and the view get the same. */
type Action = (root: Any) => void;
const steps = fc.array(fc.nat({ max: 5 }), { maxLength: 3 });
/** Walks into containers by position, as long as there are some. */
function reach(root: Any, path: readonly number[]): Any {
  let at = root;
  for (const step of path) {
    const inner = Object.keys(at).filter((name) => typeof at[name] === 'object' && at[name] !== null);
    if (inner.length === 0) return at;
    at = at[inner[step % inner.length]!];
  }
  return at;
}
const put = (target: Any, name: string, value: unknown): void => {
  Object.defineProperty(target, name, { value, writable: true, enumerable: true, configurable: true });
};
const action: fc.Arbitrary<Action> = fc.oneof(
  fc.tuple(steps, key, json).map(([path, name, value]) => (root: Any) => {
    const target = reach(root, path);
    if (Array.isArray(target)) target.push(structuredClone(value));
    else put(target, name, structuredClone(value));
  }),
  fc.tuple(steps, fc.nat({ max: 6 })).map(([path, at]) => (root: Any) => {
    const target = reach(root, path);
    const names = Object.keys(target);
    if (Array.isArray(target)) target.splice(at % (target.length + 1), 1);
    else if (names.length > 0) delete target[names[at % names.length]!];
  }),
  fc.tuple(steps, fc.nat({ max: 6 }), json).map(([path, at, value]) => (root: Any) => {
    const target = reach(root, path);
    const names = Object.keys(target);
    if (names.length > 0) put(target, names[at % names.length]!, structuredClone(value));
  }),
  steps.map((path) => (root: Any) => {
    const target = reach(root, path);
    if (Array.isArray(target)) target.reverse();
  }),
  fc.tuple(steps, json).map(([path, value]) => (root: Any) => {
    const target = reach(root, path);
    if (Array.isArray(target)) target.unshift(structuredClone(value));
  }),
  steps.map((path) => (root: Any) => {
    const target = reach(root, path);
    if (Array.isArray(target)) target.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  }),
  // A part moves, and is changed where it is now.
  fc.tuple(steps, key).map(([path, name]) => (root: Any) => {
    const target = reach(root, path);
    const inner = Object.keys(target).find((one) => typeof target[one] === 'object' && target[one] !== null);
    if (Array.isArray(target) || inner === undefined || inner === name) return;
    put(target, name, target[inner]);
    delete target[inner];
    const moved = target[name];
    if (Array.isArray(moved)) moved.push('moved');
    else put(moved, 'moved', true);
  }),
  steps.map((path) => (root: Any) => {
    const target = reach(root, path);
    if (Array.isArray(target)) target.length = Math.min(target.length, 1);
  }),
);

describe('laws of the view', () => {
  test('it looks as the plain value does, wherever one looks', () => {
    fc.assert(
      fc.property(spelled, steps, (text, path) => {
        const plain = reach(JSON.parse(text), path);
        const view = reach(open(text).view, path);
        expect(Array.isArray(view)).toBe(Array.isArray(plain));
        expect(Array.isArray(view)).toBe(Array.isArray(plain));
        expect(view instanceof Object).toBe(true);
        expect(typeof view).toBe('object');
        expect(Object.keys(view)).toEqual(Object.keys(plain));
        expect(Reflect.ownKeys(view)).toEqual(Reflect.ownKeys(plain));
        expect(JSON.stringify(view)).toBe(JSON.stringify(plain));
        expect(JSON.stringify({ ...view })).toBe(JSON.stringify({ ...plain }));
        expect(Object.prototype.toString.call(view)).toBe(Object.prototype.toString.call(plain));
        for (const name of Object.keys(plain)) {
          expect(name in view).toBe(true);
          expect(Object.hasOwn(view, name)).toBe(true);
          expect(Object.getOwnPropertyDescriptor(view, name)).toMatchObject({ writable: true, enumerable: true, configurable: true });
        }
      }),
      { numRuns: 500 },
    );
  });

  test('whatever is done to it, what it prints is the plain value after the same', () => {
    fc.assert(
      fc.property(spelled, fc.array(action, { minLength: 1, maxLength: 6 }), (text, actions) => {
        const plain = JSON.parse(text);
        const { view, print } = open(text);
        for (const one of actions) {
          one(plain);
          one(view);
        }
        expect(JSON.stringify(view)).toBe(JSON.stringify(plain));
        // Keys that moved may stand elsewhere in the text: an object's order means nothing.
        expect(JSON.parse(print())).toEqual(JSON.parse(JSON.stringify(plain)));
      }),
      { numRuns: 3000 },
    );
  });

  test('what was looked at and not changed stays to the byte', () => {
    fc.assert(
      fc.property(spelled, (text) => {
        const { view, print } = open(text);
        JSON.stringify(view);
        expect(print()).toBe(text);
      }),
      { numRuns: 500 },
    );
  });
});

describe('by example', () => {
  const text = '{ "model" : "m" , "n": 1.50, "messages":[ {"role":"user","content":"a"}, {"role":"user","content":"b"} ],\n "last": 1e2 }';
  const edited = (change: (body: Any) => void): string => {
    const { view, print } = open(text);
    change(view);
    return print();
  };

  test.each<[string, (body: Any) => void, string]>([
    ['a value', (b) => (b.model = 'x'), text.replace('"m"', '"x"')],
    ['the same value', (b) => (b.n = 1.5), text],
    ['a nested value', (b) => (b.messages[1].content = 'é'), text.replace('"b"', '"é"')],
    ['a new key', (b) => (b.top = 1), text.replace('1e2 }', '1e2,"top":1 }')],
    ['the first key removed', (b) => delete b.model, text.replace('"model" : "m" , ', '')],
    ['a middle key removed', (b) => delete b.n, text.replace(' , "n": 1.50', ' ')],
    ['the last key removed', (b) => delete b.last, text.replace(',\n "last": 1e2', '')],
    ['undefined is left out', (b) => (b.last = undefined), text.replace(',\n "last": 1e2', '')],
    ['an element pushed', (b) => b.messages.push(1), text.replace('"b"} ]', '"b"},1 ]')],
    ['an element before all', (b) => b.messages.unshift(1), text.replace('[ {"role"', '[ 1,{"role"')],
    ['the first element removed', (b) => b.messages.shift(), text.replace('{"role":"user","content":"a"}, ', '')],
    ['the last element removed', (b) => b.messages.pop(), text.replace(', {"role":"user","content":"b"}', '')],
    ['elements swapped', (b) => b.messages.reverse(), text.replace('"a"', '"c"').replace('"b"', '"a"').replace('"c"', '"b"').replace('}, {', '},{')],
    ['all elements removed', (b) => (b.messages.length = 0), text.replace(/\[ .* \]/, '[  ]')],
  ])('%s', (_name, change, expected) => {
    expect(edited(change).replaceAll(' ', '')).toBe(expected.replaceAll(' ', ''));
    expect(JSON.parse(edited(change))).toEqual(JSON.parse(expected));
  });

  test('every look at a container gives a new view of the same', () => {
    const { view } = open(text);
    const look = () => view.messages;
    expect(Object.is(look(), look())).toBe(false);
    expect(look()).toEqual(look());
    const name = () => view.model;
    expect(Object.is(name(), name())).toBe(true);
    const { messages } = view;
    messages[0].content = 'changed';
    expect(view.messages[0].content).toBe('changed');
    const [first, ...rest] = view.messages;
    expect([first.content, rest.length]).toEqual(['changed', 1]);
  });

  test('repeated keys read as the last one, and print as the script saw them once it looked', () => {
    const text = '{"c":{"a":1,"b":2,"a":3}}';
    const { view, print } = open(text);
    expect([view.c !== undefined, print()]).toEqual([true, text]);
    expect(view.c.a).toBe(3);
    expect(print()).toBe('{"c":{"a":3,"b":2}}');
    view.c.b = 4;
    expect(print()).toBe('{"c":{"a":3,"b":4}}');
  });

  test('a frozen view stays as it is and still prints', () => {
    const { view, print } = open('{"a":{"b":[1]}}');
    Object.freeze(view);
    expect(Object.isFrozen(view)).toBe(true);
    expect(() => {
      view.c = 1;
    }).toThrow(TypeError);
    view.a.b.push(2);
    expect(print()).toBe('{"a":{"b":[1,2]}}');
  });
});
