import { expect, test } from '@jest/globals';
import { deepFreeze } from './deep-freeze.ts';

test('freezes objects and lists at every depth and returns the same value', () => {
  const value = { name: 'a', list: [{ inner: { n: 1 } }, null], nothing: undefined };
  expect(deepFreeze(value)).toBe(value);
  expect([value, value.list, value.list[0], value.list[0]?.inner].every((part) => Object.isFrozen(part))).toBe(true);
});

test('returns primitive values unchanged', () => {
  expect([deepFreeze(null), deepFreeze(undefined), deepFreeze('text'), deepFreeze(1)]).toEqual([null, undefined, 'text', 1]);
});

test('skips parts that are already frozen', () => {
  const unfrozen = { n: 1 };
  deepFreeze({ shared: Object.freeze({ unfrozen }) });
  expect(Object.isFrozen(unfrozen)).toBe(false);
});

test('freezes lists that are too long to be passed as arguments', () => {
  const rows = Array.from({ length: 300_000 }, (_, id) => ({ id }));
  deepFreeze(rows);
  expect(Object.isFrozen(rows.at(-1))).toBe(true);
});
