/** Every text of the console exists in every language, with the same places for values. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';

const folder = join(import.meta.dirname, '../../services/console/web/src/i18n');
const languages = readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
const areas = readdirSync(join(folder, 'en'));

/** Languages differ in their plurals: one form stands for all. */
const withoutPlural = (key: string): string => key.replace(/_(?:zero|one|two|few|many|other)$/, '');

function texts(value: unknown, path: string[] = []): [string, string][] {
  if (typeof value === 'string') return [[withoutPlural(path.join('.')), value]];
  return Object.entries(value as Record<string, unknown>).flatMap(([name, child]) => texts(child, [...path, name]));
}

const places = (text: string): string[] => [...text.matchAll(/\{\{\s*(\w+)\s*\}\}/g)].map(([, name]) => name ?? '').filter((name) => name !== 'count');
const read = (language: string, area: string) => texts(JSON.parse(readFileSync(join(folder, language, area), 'utf8')));
const byKey = (all: [string, string][]): Record<string, string[]> => {
  const found: Record<string, string[]> = {};
  for (const [key, text] of all) found[key] = [...new Set([...(found[key] ?? []), ...places(text)])].sort();
  return found;
};

describe.each(languages.filter((language) => language !== 'en'))('texts in %s', (language) => {
  test('has the same areas', () => expect(readdirSync(join(folder, language)).sort()).toEqual([...areas].sort()));

  test.each(areas)('%s is complete and fills in the same values', (area) => {
    expect(byKey(read(language, area))).toEqual(byKey(read('en', area)));
    expect(read(language, area).filter(([, text]) => text.trim() === '')).toEqual([]);
  });
});
