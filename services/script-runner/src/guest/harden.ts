/**
 * Makes a new realm safe to lend to scripts, one after the other: what makes code from text, what waits (promises) and what reaches outside is taken away,
 * what can make something huge is bounded, and everything that is left is frozen, so that nothing of one run is there for the next.
 */
import { builtins } from './builtins/index.ts';
import { maxElements, maxTextLength } from './limits.ts';
import { currentMeter } from './meter.ts';
import { LinearRegExp } from './regexp.ts';

type Any = Record<PropertyKey, unknown>;

const removed = [
  'eval',
  'console',
  'WebAssembly',
  'SharedArrayBuffer',
  'Atomics',
  'ArrayBuffer',
  'DataView',
  'Promise',
  'FinalizationRegistry',
  'WeakRef',
  'Intl',
  'SuppressedError',
  'DisposableStack',
  'AsyncDisposableStack',
  'ShadowRealm',
  ...['Int8', 'Uint8', 'Uint8Clamped', 'Int16', 'Uint16', 'Int32', 'Uint32', 'BigInt64', 'BigUint64', 'Float16', 'Float32', 'Float64'].map(
    (kind) => `${kind}Array`,
  ),
];

export function harden(realm: Any): void {
  for (const name of removed) delete realm[name];
  forbidCodeFromText(realm);
  boundTexts();
  boundLists(realm);
  boundKeys();
  realm['RegExp'] = LinearRegExp;
  for (const [name, builtin] of Object.entries(builtins)) realm[name] = builtin;
  delete (Array as unknown as Any)['fromAsync'];
  Error.stackTraceLimit = 40;
  delete (Error as unknown as Any)['captureStackTrace'];
  freezeAll(realm);
}

/** All four kinds of functions have a constructor that compiles text. */
function forbidCodeFromText(realm: Any): void {
  const kinds = [() => {}, function* () {}, async () => {}, async function* () {}];
  for (const [at, kind] of kinds.entries()) {
    const prototype = Object.getPrototypeOf(kind) as object;
    const refuse = function refuse(): never {
      throw new EvalError('code from text is not allowed in a script');
    };
    Object.defineProperty(refuse, 'name', { value: 'Function' });
    Object.defineProperty(refuse, 'prototype', { value: prototype, writable: false });
    Object.defineProperty(prototype, 'constructor', { value: refuse, writable: false, configurable: false });
    if (at === 0) realm['Function'] = refuse;
  }
}

function replace(holder: object, name: PropertyKey, make: (native: (...given: unknown[]) => unknown) => (this: unknown, ...given: unknown[]) => unknown): void {
  const descriptor = Object.getOwnPropertyDescriptor(holder, name);
  if (!descriptor) return;
  const native = descriptor.value as (...given: unknown[]) => unknown;
  const wrapped = make(native);
  // No prototype and no construct behaviour, as natives have none.
  const { method } = {
    method(this: unknown, ...given: unknown[]): unknown {
      return Reflect.apply(wrapped, this, given);
    },
  };
  Object.defineProperty(method, 'name', { value: native.name });
  Object.defineProperty(method, 'length', { value: native.length });
  Object.defineProperty(holder, name, { ...descriptor, value: method });
}

const tooLong = (length: number): void => {
  if (length > maxTextLength) currentMeter()?.failLongText();
};
const tooMany = (length: number): void => {
  if (length > maxElements) currentMeter()?.failManyElements();
};

const boundText = (value: unknown): unknown => currentMeter()?.text(value) ?? value;
const boundList = (value: unknown): unknown => currentMeter()?.spread(value) ?? value;

function boundTexts(): void {
  replace(
    String.prototype,
    'repeat',
    (native) =>
      function (count) {
        tooLong(String(this).length * Math.max(0, Number(count)));
        return Reflect.apply(native, this, [count]);
      },
  );
  for (const name of ['padStart', 'padEnd'])
    replace(
      String.prototype,
      name,
      (native) =>
        function (length, ...filler) {
          tooLong(Number(length));
          return Reflect.apply(native, this, [length, ...filler]);
        },
    );
  for (const name of ['concat', 'replace', 'replaceAll', 'normalize', 'toUpperCase', 'toLowerCase'])
    replace(
      String.prototype,
      name,
      (native) =>
        function (...given) {
          return boundText(Reflect.apply(native, this, given));
        },
    );
  replace(
    String.prototype,
    'split',
    (native) =>
      function (separator, limit) {
        // A list of all characters is too long before it is made.
        if (separator === '') tooMany(Math.min(String(this).length, limit === undefined ? Number.POSITIVE_INFINITY : Number(limit)));
        return boundList(Reflect.apply(native, this, [separator, limit]));
      },
  );
  // Without this a text would be made into an expression of the engine's own.
  for (const [name, symbol] of [
    ['match', Symbol.match],
    ['matchAll', Symbol.matchAll],
    ['search', Symbol.search],
  ] as const)
    replace(
      String.prototype,
      name,
      () =>
        function (pattern) {
          const expression = pattern instanceof LinearRegExp ? pattern : new LinearRegExp(pattern === undefined ? '' : pattern, name === 'matchAll' ? 'g' : '');
          return Reflect.apply(expression[symbol] as (text: unknown) => unknown, expression, [this]);
        },
    );
  replace(
    JSON,
    'stringify',
    (native) =>
      function (...given) {
        return boundText(Reflect.apply(native, this, given));
      },
  );
  replace(
    JSON,
    'parse',
    (native) =>
      function (text, ...reviver) {
        tooLong(String(text).length);
        return Reflect.apply(native, this, [text, ...reviver]);
      },
  );
}

function boundLists(realm: Any): void {
  for (const name of ['push', 'unshift'])
    replace(
      Array.prototype,
      name,
      (native) =>
        function (...given) {
          tooMany((this as unknown[]).length + given.length);
          return Reflect.apply(native, this, given);
        },
    );
  for (const name of [
    'fill',
    'join',
    'indexOf',
    'lastIndexOf',
    'includes',
    'reverse',
    'sort',
    'slice',
    'map',
    'filter',
    'forEach',
    'copyWithin',
    'toSorted',
    'toReversed',
    'with',
    'keys',
    'entries',
    'values',
    'find',
    'findIndex',
    'findLast',
    'findLastIndex',
    'some',
    'every',
    'reduce',
    'reduceRight',
    'splice',
    'toSpliced',
    'shift',
    'at',
    'flat',
    'flatMap',
    'concat',
    'toString',
    'toLocaleString',
  ])
    replace(
      Array.prototype,
      name,
      (native) =>
        function (...given) {
          // Only a length that was set, or a list of the body, is so large: neither is worth the engine's time.
          if (isHuge(this)) currentMeter()?.failManyElements();
          const made = Reflect.apply(native, this, given);
          return typeof made === 'string' ? boundText(made) : Array.isArray(made) ? boundList(made) : made;
        },
    );
  Object.defineProperty(Array.prototype, Symbol.iterator, { value: Array.prototype.values, writable: true, enumerable: false, configurable: true });
  const List = Array;
  replace(
    List,
    'from',
    (native) =>
      function (source, ...rest) {
        tooMany(lengthOf(source));
        return boundList(Reflect.apply(native, this, [source, ...rest]));
      },
  );
  const bounded = new Proxy(List, {
    construct(target, given: unknown[], asked) {
      if (given.length === 1 && typeof given[0] === 'number') tooMany(given[0]);
      return Reflect.construct(target, given, asked) as object;
    },
    apply(target, _self, given: unknown[]) {
      if (given.length === 1 && typeof given[0] === 'number') tooMany(given[0]);
      return Reflect.apply(target, undefined, given);
    },
  });
  Object.defineProperty(List.prototype, 'constructor', { value: bounded, writable: true, enumerable: false, configurable: true });
  realm['Array'] = bounded;
}

/** A text has a key for each character: natives that list keys make as many texts of it. */
function boundKeys(): void {
  const readers: readonly [object, readonly string[]][] = [
    [Object, ['keys', 'values', 'entries', 'getOwnPropertyNames', 'getOwnPropertyDescriptors', 'assign']],
    [Reflect, ['ownKeys']],
  ];
  for (const [holder, names] of readers)
    for (const name of names)
      replace(
        holder,
        name,
        (native) =>
          function (...given) {
            for (const value of given) if (typeof value === 'string' || value instanceof String) tooMany(value.length);
            return Reflect.apply(native, this, given);
          },
      );
  const iterators = Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]())) as object;
  replace(
    iterators,
    'toArray',
    (native) =>
      function () {
        return boundList(Reflect.apply(native, this, []));
      },
  );
}

/** Lists of the body may be longer than what a script may make: reading them is fine. */
const hugeFactor = 100;
const isHuge = (value: unknown): boolean => lengthOf(value) > maxElements * hugeFactor;
const lengthOf = (value: unknown): number => {
  if (typeof value === 'string') return value.length;
  const length = (value as { length?: unknown } | null | undefined)?.length;
  return typeof length === 'number' ? length : 0;
};

/** Properties that scripts set on objects of their own although a prototype has one of that name: frozen, the prototype would forbid it. */
const overridden: readonly object[] = [
  Object.prototype,
  Error.prototype,
  TypeError.prototype,
  RangeError.prototype,
  SyntaxError.prototype,
  ReferenceError.prototype,
  EvalError.prototype,
  URIError.prototype,
];

function allowOverriding(prototype: object): void {
  for (const key of Reflect.ownKeys(prototype)) {
    const descriptor = Reflect.getOwnPropertyDescriptor(prototype, key);
    if (!descriptor || !('value' in descriptor) || !descriptor.configurable) continue;
    const { value, enumerable } = descriptor;
    Object.defineProperty(prototype, key, {
      get: () => value,
      set(this: object, next: unknown) {
        if (this === prototype) throw new TypeError(`Cannot assign to read only property '${String(key)}' of object`);
        Object.defineProperty(this, key, { value: next, writable: true, enumerable: true, configurable: true });
      },
      enumerable: enumerable ?? false,
      configurable: false,
    });
  }
}

/** Freezes every object that can be reached from the realm. */
function freezeAll(realm: Any): void {
  for (const prototype of overridden) allowOverriding(prototype);
  const hidden = [
    function* () {},
    async () => {},
    async function* () {},
    [][Symbol.iterator](),
    ''[Symbol.iterator](),
    new Map().entries(),
    new Set().values(),
  ];
  const open: unknown[] = [realm, ...hidden, LinearRegExp];
  const seen = new Set<unknown>();
  for (let next = open.pop(); open.length > 0 || next !== undefined; next = open.pop()) {
    if ((typeof next !== 'object' && typeof next !== 'function') || next === null || seen.has(next)) continue;
    seen.add(next);
    open.push(Object.getPrototypeOf(next));
    for (const key of Reflect.ownKeys(next)) {
      const descriptor = Reflect.getOwnPropertyDescriptor(next, key);
      open.push(descriptor?.value, descriptor?.get, descriptor?.set);
    }
  }
  for (const one of seen) Object.freeze(one);
}
