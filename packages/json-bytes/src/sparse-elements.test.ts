import { expect, test } from '@jest/globals';
import { hasElementOfKeys } from './sparse-elements.ts';

const has = (text: string): boolean => hasElementOfKeys(Buffer.from(text), ['id', 'type']);

test.each([
  '[{"id":"a"}]',
  ' [ { "id" : "a" } ] ',
  '[{"type":null,"id":"a"}]',
  '[{"role":"user","content":[{"id":"x"}]},"text",{"id":"a"}]',
  String.raw`[{"\u0069d":"a"}]`,
  `[{"id":"a"${' '.repeat(5000)}}]`,
])('%s holds one', (text) => {
  expect(has(text)).toBe(true);
});

test.each([
  '[]',
  '[{}]',
  '{"id":"a"}',
  '"id"',
  'null',
  '[{"id":"a","role":"user"}]',
  '[{"role":"user","id":"a"}]',
  '[[{"id":"a"}]]',
  '[{"content":[{"id":"a"}]}]',
])('%s holds none', (text) => {
  expect(has(text)).toBe(false);
});
