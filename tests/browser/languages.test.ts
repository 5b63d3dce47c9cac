/** Every text of the console exists in every language, with the same places for values. */
import { describe, expect, test } from '@jest/globals';
import { errorCodes } from '@model-gateway/contracts/errors';
import { areasOf, languages, readTexts } from './texts.ts';

/** Languages differ in their plurals: one form stands for all. */
const withoutPlural = (key: string): string => key.replace(/_(?:zero|one|two|few|many|other)$/, '');

const places = (text: string): string[] => [...text.matchAll(/\{\{\s*(\w+)\s*\}\}/g)].map(([, name]) => name ?? '').filter((name) => name !== 'count');
const areas = areasOf('en');
const read = (language: string, area: string) => readTexts(language, area).map(([key, text]): [string, string] => [withoutPlural(key), text]);
const byKey = (all: [string, string][]): Record<string, string[]> => {
  const found: Record<string, string[]> = {};
  for (const [key, text] of all) found[key] = [...new Set([...(found[key] ?? []), ...places(text)])].sort();
  return found;
};

describe.each(languages.filter((language) => language !== 'en'))('texts in %s', (language) => {
  test('has the same areas', () => expect(areasOf(language)).toEqual(areas));

  test.each(areas)('%s is complete and fills in the same values', (area) => {
    expect(byKey(read(language, area))).toEqual(byKey(read('en', area)));
    expect(read(language, area).filter(([, text]) => text.trim() === '')).toEqual([]);
  });
});

/** Of the console's own API: no request of the log ends with them. */
const consoleOnly = [
  'login_failed',
  'login_banned',
  'login_slowed',
  'sign_in_refused',
  'forbidden',
  'conflict',
  'precondition_failed',
  'validation_failed',
  'in_use',
];

test.each(languages)('each error is explained, and what to do about it, in %s', (language) => {
  const keys = new Set(readTexts(language, 'failures.json').map(([key]) => key));
  const codes = Object.keys(errorCodes).filter((code) => !consoleOnly.includes(code));
  expect(codes.flatMap((code) => [`why.${code}`, `advice.${code}`]).filter((key) => !keys.has(key))).toEqual([]);
});
