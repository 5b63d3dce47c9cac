/** Faults of a schema that says no sentence of its own, as people read them beside a field. */
import type { z } from 'zod';

type Issue = z.core.$ZodRawIssue;

const types: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
};

/** What a length is counted in. */
const units: Readonly<Record<string, string>> = { string: 'characters', array: 'entries', set: 'entries', object: 'fields', map: 'fields' };

const formats: Readonly<Record<string, string>> = {
  datetime: 'must be a time such as 2026-01-31T12:00:00Z',
  date: 'must be a day such as 2026-01-31',
  email: 'must be an e-mail address',
  url: 'must be an address such as https://example.com',
};

const bound = (word: string, value: unknown, origin: string): string =>
  origin in units ? `must have ${word} ${value} ${units[origin]}` : `must be ${word} ${value}`;

/** Where an empty text is allowed as well, for a filter that is not set, it is not a word to choose. */
function choice(values: readonly unknown[]): string {
  const words = values.filter((value) => value !== '');
  return `must be ${words.length > 1 ? 'one of ' : ''}${words.map(String).join(', ')}`;
}

/** For a schema's parse; undefined: the library's own words are kept. */
export function plainWords(issue: Issue): string | undefined {
  if (issue.code === 'invalid_type' && issue.input === undefined) return 'is required';
  switch (issue.code) {
    case 'invalid_type':
      return issue.expected in types ? `must be ${types[issue.expected]}` : undefined;
    case 'too_big':
      return bound(issue.inclusive === false ? 'less than' : 'at most', issue.maximum, issue.origin);
    case 'too_small':
      return bound(issue.inclusive === false ? 'more than' : 'at least', issue.minimum, issue.origin);
    case 'invalid_value':
      return choice(issue.values);
    case 'invalid_union':
      // Of objects that a field tells apart: the field names none of them.
      return Array.isArray(issue.options) && issue.options.length > 0 ? `must be one of ${issue.options.join(', ')}` : undefined;
    case 'invalid_format':
      return formats[issue.format];
    default:
      return undefined;
  }
}
