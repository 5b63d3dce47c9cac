import { expect, test } from '@jest/globals';
import { conflictsOf, keepMine, regroup, ungroup } from './conflicts.ts';

const filled = { name: 'a', description: '', models: ['x'], enabled: true };
const now = { name: 'a', description: 'theirs', models: ['x', 'y'], enabled: true };
const here = { name: 'a', description: 'mine', models: ['x'], enabled: false };

test('fields that somebody else changed, those that both changed first', () => {
  expect(conflictsOf(filled, now, here)).toEqual([
    { field: 'description', now: 'theirs', here: 'mine', both: true },
    { field: 'models', now: ['x', 'y'], here: ['x'], both: false },
  ]);
  expect(conflictsOf(filled, filled, here)).toEqual([]);
  // Both came to the same.
  expect(conflictsOf(filled, now, now).every(({ both }) => !both)).toBe(true);
});

test('what was changed here is kept over what is there now', () =>
  expect(keepMine(filled, now, here)).toEqual({ name: 'a', description: 'mine', models: ['x', 'y'], enabled: false }));

test('fields of one group are changed one by one', () => {
  const apart = (settings: Record<string, string>) => ungroup({ name: 'a', settings }, ['settings']);
  const [before, theirs, mine] = [apart({ region: 'one', host: 'h' }), apart({ region: 'two', host: 'h', added: 'x' }), apart({ region: 'one' })] as const;
  expect(conflictsOf(before, theirs, mine).map(({ field }) => field)).toEqual(['settings.region', 'settings.added']);
  expect(regroup(keepMine(before, theirs, mine), ['settings'])).toEqual({ name: 'a', settings: { region: 'two', added: 'x' } });
});
