/** Multi-key selection as the specification rules it (rule 5): proportion, stickiness, fingerprints, idle time, standbys, rotation. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { fingerprintOf, fnv1a, KeyBindings, orderKeys, pickKey, unitHash } from './index.ts';

const keysOf = (weights: readonly number[]) => weights.map((weight) => ({ weight }));
const weights = fc.array(fc.nat(5), { maxLength: 8 });

test('FNV-1a has its published values, over bytes', () => {
  expect(fnv1a('')).toBe(0x811c9dc5);
  expect(fnv1a('a')).toBe(0xe40c292c);
  expect(fnv1a('foobar')).toBe(0xbf9cf968);
  const slow = (text: string) => Buffer.from(text).reduce((hash, byte) => Math.imul(hash ^ byte, 0x01000193) >>> 0, 0x811c9dc5);
  fc.assert(fc.property(fc.string({ unit: 'grapheme' }), (text) => fnv1a(text) === slow(text)));
});

test('the unit hash stays inside its interval and spreads evenly', () => {
  const values = Array.from({ length: 4000 }, (_, index) => unitHash(`key-${index}`));
  expect(values.every((value) => value > 0 && value < 1)).toBe(true);
  for (let tenth = 0; tenth < 10; tenth++) {
    const share = values.filter((value) => Math.floor(value * 10) === tenth).length / values.length;
    expect(Math.abs(share - 0.1)).toBeLessThan(0.03);
  }
});

describe('the first pick', () => {
  test('is where the hash lands in the cumulative weights', () => {
    fc.assert(
      fc.property(weights, fc.string(), fc.string(), (list, caller, upstream) => {
        const total = list.reduce((sum, weight) => sum + weight, 0);
        const picked = pickKey(keysOf(list), caller, upstream);
        if (total === 0) return expect(picked).toBe(-1);
        const point = fnv1a(`${caller}\u0000${upstream}`) % total;
        const before = list.slice(0, picked).reduce((sum, weight) => sum + weight, 0);
        expect(point).toBeGreaterThanOrEqual(before);
        expect(point).toBeLessThan(before + list[picked]!);
      }),
    );
  });
  test('is in proportion to weight over many callers', () => {
    const picks = Array.from({ length: 4000 }, (_, caller) => pickKey(keysOf([3, 1, 0]), `key-${caller}`, 'up'));
    const share = picks.filter((index) => index === 0).length / picks.length;
    expect(share).toBeGreaterThan(0.7);
    expect(share).toBeLessThan(0.8);
    expect(picks).not.toContain(2);
  });
});

describe('the order', () => {
  test('each key once, the pick first, the next ones after it, standbys last', () => {
    fc.assert(
      fc.property(weights, fc.string(), (list, caller) => {
        const first = pickKey(keysOf(list), caller, 'up');
        const order = orderKeys(keysOf(list), first);
        expect([...order].sort((a, b) => a - b)).toEqual(list.map((_, index) => index));
        if (first >= 0) expect(order[0]).toBe(first);
        const firstStandby = order.findIndex((index) => list[index] === 0);
        if (firstStandby >= 0) expect(order.slice(firstStandby).every((index) => list[index] === 0)).toBe(true);
      }),
    );
    expect(orderKeys(keysOf([1, 1, 0, 1]), 1)).toEqual([1, 3, 0, 2]);
  });
  test('keys that are known to fail come after those that are not, and still before the standbys', () => {
    expect(orderKeys(keysOf([1, 1, 0, 1]), 1, (index) => index === 1)).toEqual([3, 0, 1, 2]);
    expect(orderKeys(keysOf([1, 1, 0, 1]), 1, () => true)).toEqual([1, 3, 0, 2]);
  });
});

describe('bindings', () => {
  const keys = keysOf([1, 1, 1]);
  const bind = (bindings: KeyBindings, list: readonly { weight: number }[], caller: string, now: number) => bindings.bind(list, caller, 'up', now);

  test('hold while they are used, and are forgotten after the idle time', () => {
    const bindings = new KeyBindings({ ttlMs: 1000 });
    const index = bind(bindings, keys, 'ada', 0);
    expect(bindings.find('ada', 'up', 900)).toMatchObject({ index });
    bind(bindings, keys, 'ada', 900);
    expect(bindings.find('ada', 'up', 1800)).toMatchObject({ index, usedAt: 900 });
    expect(bindings.find('ada', 'up', 1901)).toBeNull();
    expect(bindings.peek(keys, 'ada', 'up', 1901)).toEqual({ index, source: 'prediction', stale: false });
    bindings.sweep(1901, () => true);
    expect(bindings.size).toBe(0);
  });
  test('0 is permanent', () => {
    const bindings = new KeyBindings({ ttlMs: 0 });
    bind(bindings, keys, 'ada', 0);
    expect(bindings.find('ada', 'up', 1e15)).not.toBeNull();
  });
  test('a changed set of keys makes them stale and selects anew; a value rotated in place does not', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 6 }), weights, fc.string(), (before, after, caller) => {
        const bindings = new KeyBindings({ ttlMs: 1000 });
        const old = keysOf(before);
        const index = bind(bindings, old, caller, 0);
        const present = keysOf(after);
        const same = fingerprintOf(old) === fingerprintOf(present);
        expect(same).toBe(before.join() === after.join());
        const seen = bindings.peek(present, caller, 'up', 1);
        expect(seen).toMatchObject({ source: same ? 'binding' : 'prediction', stale: !same });
        expect(bind(bindings, present, caller, 1)).toBe(same ? index : pickKey(present, caller, 'up'));
        expect(bindings.peek(present, caller, 'up', 2).stale).toBe(false);
      }),
    );
  });
  test('standbys are never bound', () => {
    const bindings = new KeyBindings({ ttlMs: 1000 });
    expect(bind(bindings, keysOf([0, 0]), 'ada', 0)).toBe(-1);
    expect(bindings.size).toBe(0);
    fc.assert(
      fc.property(weights, fc.string(), (list, caller) => {
        const index = bind(bindings, keysOf(list), caller, 0);
        if (index >= 0) expect(list[index]).toBeGreaterThan(0);
        else expect(bindings.find(caller, 'up', 0)).toBeNull();
      }),
    );
  });
  test('the table is bounded: the oldest binding is evicted first', () => {
    const bindings = new KeyBindings({ ttlMs: 0, max: 10 });
    for (let caller = 0; caller < 25; caller++) bind(bindings, keys, `caller-${caller}`, caller);
    expect(bindings.size).toBe(10);
    expect(bindings.find('caller-14', 'up', 0)).toBeNull();
    expect(bindings.find('caller-15', 'up', 0)).not.toBeNull();
    for (let other = 0; other < 25; other++) bindings.bind(keys, 'ada', `up-${other}`, 0);
    expect(bindings.size).toBe(10);
    bindings.sweep(0, (upstream) => upstream === 'up');
    expect(bindings.of('ada', 0)).toEqual([]);
  });
  test('names that are words of the language are names like others', () => {
    const bindings = new KeyBindings({ ttlMs: 0 });
    expect(bindings.find('__proto__', 'constructor', 0)).toBeNull();
    bindings.bind(keys, '__proto__', 'constructor', 0);
    expect(bindings.of('__proto__', 0)).toMatchObject([{ upstream: 'constructor' }]);
  });
});
