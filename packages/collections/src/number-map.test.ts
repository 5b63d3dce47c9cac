import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { NumberMap } from './number-map.ts';

const key = fc.oneof(
  fc.integer({ min: 0, max: 40 }),
  fc.maxSafeNat(),
  fc.integer({ min: 0, max: 30 }).map((number) => number * 2 ** 21 + 5),
);
const step = fc.record({ verb: fc.constantFrom('set', 'delete', 'get'), key, value: fc.integer() });

describe('directory', () => {
  test('is a map, whatever is done in whatever order', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
        const directory = new NumberMap<number>();
        const model = new Map<number, number>();
        for (const { verb, key, value } of steps) {
          if (verb === 'set') {
            directory.set(key, value);
            model.set(key, value);
          } else if (verb === 'delete') expect(directory.delete(key)).toBe(model.delete(key));
          expect([directory.get(key), directory.has(key), directory.size]).toEqual([model.get(key), model.has(key), model.size]);
        }
        for (const [key, value] of model) expect(directory.get(key)).toBe(value);
        expect(directory.values().sort()).toEqual([...model.values()].sort());
        directory.clear();
        expect([directory.size, directory.values()]).toEqual([0, []]);
      }),
    );
  });

  test('keys minted one after another, and small ones, are found at once; it shrinks again', () => {
    for (const mint of [(at: number) => at, (at: number) => at * 2 ** 21 + ((at * 7919) % 2 ** 21)]) {
      const directory = new NumberMap<number>();
      const began = process.cpuUsage();
      for (let at = 0; at < 100_000; at++) directory.set(mint(at), at);
      let found = 0;
      for (let at = 0; at < 100_000; at++) if (directory.get(mint(at)) === at) found++;
      expect(found).toBe(100_000);
      for (let at = 0; at < 100_000; at++) directory.delete(mint(at));
      expect(directory.size).toBe(0);
      // Some 30 ms; a table of one long run would take minutes.
      expect(process.cpuUsage(began).user / 1000).toBeLessThan(20_000);
    }
  });
});
