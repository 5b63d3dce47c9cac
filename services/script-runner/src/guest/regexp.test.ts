/** The sandbox's regular expressions do what the language's do, for all patterns that both take. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { LinearRegExp } from './regexp.ts';

const patterns: [pattern: string, flags: string][] = [
  ['a', ''],
  ['a', 'g'],
  ['A', 'gi'],
  ['(a)(b)?', 'g'],
  ['a*', 'g'],
  ['', 'g'],
  ['x*', ''],
  ['(?<first>a)|(?<second>b)', 'g'],
  ['^b', 'gm'],
  ['a.b', 's'],
  ['[ab]+?', 'g'],
  ['\\b', 'g'],
  ['a|ab|b', 'y'],
  ['[^a]', 'g'],
  ['(b)|(a)', ''],
];
const text = fc.array(fc.constantFrom('a', 'b', 'ab', 'A', '\n', '-', 'é', ''), { maxLength: 8 }).map((parts) => parts.join(''));
const replacement = fc.constantFrom('-', '$&$&', '[$1]', '$$', "$`$'", '$2$1', '$9', '$<first>', '');

const plain = (match: RegExpExecArray | RegExpMatchArray | null) =>
  match && { all: [...match], index: match.index, groups: match.groups && { ...match.groups } };

describe.each(patterns)('/%s/%s', (pattern, flags) => {
  const both = () => ({ ours: new LinearRegExp(pattern, flags) as unknown as RegExp, native: new RegExp(pattern, flags) });

  test('matches, replaces, splits and searches as the native one', () => {
    fc.assert(
      fc.property(text, replacement, (given, by) => {
        const { ours, native } = both();
        expect(given.replace(ours, by)).toBe(given.replace(native, by));
        expect(given.replace(ours, (...all) => `<${all[0]}>`)).toBe(given.replace(native, (...all) => `<${all[0]}>`));
        if (!flags.includes('y')) {
          expect(given.split(ours)).toEqual(given.split(native));
          expect(given.split(ours, 2)).toEqual(given.split(native, 2));
          expect(given.search(ours)).toBe(given.search(native));
        }
        const [found, expected] = [given.match(ours), given.match(native)];
        if (flags.includes('g')) expect(found && [...found]).toEqual(expected && [...expected]);
        else expect(plain(found)).toEqual(plain(expected));
      }),
      { numRuns: 200 },
    );
  });

  test('remembers where it was, as the native one', () => {
    fc.assert(
      fc.property(text, (given) => {
        const { ours, native } = both();
        for (let turn = 0; turn < 4; turn++) {
          expect(plain(ours.exec(given))).toEqual(plain(native.exec(given)));
          expect(ours.lastIndex).toBe(native.lastIndex);
        }
      }),
      { numRuns: 100 },
    );
  });
});

test.each(['(?=a)', '(?!a)', '(?<=a)b', '(a)\\1', '('])('%s is refused when it is made', (pattern) => {
  expect(() => new LinearRegExp(pattern)).toThrow(SyntaxError);
});
