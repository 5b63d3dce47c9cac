import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { DenseSet } from './dense-set.ts';

const make = (name: number) => ({ name, index: -1 });
const namesOf = (set: DenseSet<{ name: number; index: number }>): number[] => {
  const names: number[] = [];
  set.forEach(({ name }) => names.push(name));
  return names.sort((a, b) => a - b);
};

describe('roster', () => {
  test('is a set, whatever is added and removed in whatever order', () => {
    const step = fc.record({ adds: fc.boolean(), who: fc.integer({ min: 0, max: 12 }) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const members = Array.from({ length: 13 }, (_, name) => make(name));
        const set = new DenseSet<{ name: number; index: number }>();
        const model = new Set<number>();
        for (const { adds, who } of steps) {
          if (adds) set.add(members[who]!);
          else set.remove(members[who]!);
          if (adds) model.add(who);
          else model.delete(who);
          expect(set.size).toBe(model.size);
        }
        expect(namesOf(set)).toEqual([...model].sort((a, b) => a - b));
        for (const member of members) expect(member.index >= 0).toBe(model.has(member.name));
      }),
    );
  });

  test('a visit may remove its own member, or all', () => {
    const set = new DenseSet<{ name: number; index: number }>();
    const members = [0, 1, 2, 3].map(make);
    for (const member of members) set.add(member);
    const seen: number[] = [];
    set.forEach((member) => {
      seen.push(member.name);
      if (member.name % 2 === 1) set.remove(member);
    });
    expect(new Set(seen)).toEqual(new Set([0, 1, 2, 3]));
    expect(namesOf(set)).toEqual([0, 2]);
    set.forEach(() => members.forEach((member) => set.remove(member)));
    expect(set.size).toBe(0);
  });
});
