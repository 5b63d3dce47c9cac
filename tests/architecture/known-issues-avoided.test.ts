/** `docs/known-issues-avoided.md` names a test for every known issue that concerns translation, thinking, ids, schemas and agents; each of them is there. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

const root = join(import.meta.dirname, '../..');
/** The issues up to this number concern streams, thinking, ids, schemas and agents: each must have tests. */
const lastOfThese = 27;

const rows = readFileSync(join(root, 'docs/known-issues-avoided.md'), 'utf8')
  .split('\n')
  .flatMap((line) => {
    const [, number, , tests] = line.split('|').map((cell) => cell.trim());
    return /^\d+$/.test(number ?? '') ? [{ number: Number(number), tests: (tests ?? '').split('; ') }] : [];
  });

/** Titles of a suite's tests and of what they stand in, as they are written. */
const titlesOf = (text: string): string[] =>
  [...text.matchAll(/\b(?:test|describe)(?:\.\w+)*(?:\([\s\S]{0,400}?\)|\[[^\]]*\])?\(\s*(['`"])((?:(?!\1).)+)\1/g)].map((found) => found[2]!);

test('every known issue has its tests', () => {
  expect(rows.map(({ number }) => number)).toEqual(expect.arrayContaining(Array.from({ length: lastOfThese }, (_, at) => at + 1)));
});

test.each(rows)('$number: what the page names is there', ({ tests }) => {
  for (const named of tests) {
    const [, file = '', title = ''] = /^`([^`]+)` › (.+)$/.exec(named) ?? [];
    expect({ named, exists: file !== '' && existsSync(join(root, file)) }).toEqual({ named, exists: true });
    expect({ named, titles: titlesOf(readFileSync(join(root, file), 'utf8')) }).toEqual({
      named,
      titles: expect.arrayContaining([expect.stringContaining(title.trim())]),
    });
  }
});
