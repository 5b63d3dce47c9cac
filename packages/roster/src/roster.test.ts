import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Roster } from './roster.ts';

const make = (name: number) => ({ name, place: -1 });
const namesOf = (roster: Roster<{ name: number; place: number }>): number[] => {
  const names: number[] = [];
  roster.forEach(({ name }) => names.push(name));
  return names.sort((a, b) => a - b);
};

describe('roster', () => {
  test('is a set, whatever is added and removed in whatever order', () => {
    const step = fc.record({ adds: fc.boolean(), who: fc.integer({ min: 0, max: 12 }) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const members = Array.from({ length: 13 }, (_, name) => make(name));
        const roster = new Roster<{ name: number; place: number }>();
        const model = new Set<number>();
        for (const { adds, who } of steps) {
          if (adds) roster.add(members[who]!);
          else roster.remove(members[who]!);
          if (adds) model.add(who);
          else model.delete(who);
          expect(roster.size).toBe(model.size);
        }
        expect(namesOf(roster)).toEqual([...model].sort((a, b) => a - b));
        for (const member of members) expect(member.place >= 0).toBe(model.has(member.name));
      }),
    );
  });

  test('a visit may remove its own member, or all', () => {
    const roster = new Roster<{ name: number; place: number }>();
    const members = [0, 1, 2, 3].map(make);
    for (const member of members) roster.add(member);
    const seen: number[] = [];
    roster.forEach((member) => {
      seen.push(member.name);
      if (member.name % 2 === 1) roster.remove(member);
    });
    expect(new Set(seen)).toEqual(new Set([0, 1, 2, 3]));
    expect(namesOf(roster)).toEqual([0, 2]);
    roster.forEach(() => members.forEach((member) => roster.remove(member)));
    expect(roster.size).toBe(0);
  });
});
