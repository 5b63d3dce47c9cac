import { expect, test } from '@jest/globals';
import { isStrictSchema } from './strict-schema.ts';

const closed = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false };
test.each<[string, unknown, boolean]>([
  ['closed, all required', closed, true],
  ['nested', { ...closed, properties: { a: { type: 'array', items: closed } } }, true],
  ['open', { ...closed, additionalProperties: true }, false],
  ['silent about more', { type: 'object', properties: {} }, false],
  ['an optional property', { ...closed, required: [] }, false],
  ['open inside', { ...closed, properties: { a: { anyOf: [{ type: 'object' }] } } }, false],
  ['a word it does not know', { ...closed, properties: { a: { oneOf: [] } } }, false],
  ['no object', { type: 'array', items: closed }, false],
  ['nothing', null, false],
  ['recursion by reference', { ...closed, properties: { a: { $ref: '#' } } }, true],
])('%s', (_name, schema, strict) => expect(isStrictSchema(schema)).toBe(strict));

test('a schema without end is not walked without end', () => {
  let deep: unknown = closed;
  for (let i = 0; i < 5000; i++) deep = { type: 'array', items: deep };
  expect(isStrictSchema({ ...closed, properties: { a: deep } })).toBe(false);
});
