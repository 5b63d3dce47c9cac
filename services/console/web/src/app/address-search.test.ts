import { expect, test } from '@jest/globals';
import { parseSearch, stringifySearch } from './address-search.ts';

test.each([
  [{ errors_only: 'true', stream: 'false', from: 1_700_000_000_000 }, '?errors_only=true&stream=false&from=1700000000000'],
  [{ access_key: '007', model: 'null', q: 'a b&c=d' }, '?access_key=007&model=null&q=a+b%26c%3Dd'],
  [{ tags: ['a,b', 'rare'], gone: undefined, none: null, model: '' }, '?tags=%5B%22a%2Cb%22%2C%22rare%22%5D&model='],
  [{}, ''],
])('%j is written as one would type it', (search, written) => expect(stringifySearch(search)).toBe(written));

test.each(['true', '12', '1e3', '"quoted"', '[1]', '{', '["half', '', ' x ', '–', 'a=b&c'])('the text %j comes back as it was', (text) =>
  expect(parseSearch(stringifySearch({ q: text }))).toEqual({ q: text }),
);

test('what was written in quotes before is read, and what is no JSON is a text', () =>
  expect(parseSearch('?errors_only=%22true%22&tags=%5B%22rare%22%5D&q=%5Bhalf&page=2&page=3')).toEqual({
    errors_only: 'true',
    tags: ['rare'],
    q: '[half',
    page: '3',
  }));
