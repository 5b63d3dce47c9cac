/** What holds the console's answers against its document notices what the document does not say. */
import { expect, test } from '@jest/globals';
import { createAnswerChecker, type OpenApiDocument } from './document.ts';

const json = (name: string) => ({ content: { 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } } });
const closed = (properties: object) => ({ type: 'object', properties, required: Object.keys(properties), additionalProperties: false });
const document = {
  openapi: '3.1.0',
  paths: { '/keys/{name}': { get: { operationId: 'getKey', responses: { 200: json('Key') } } } },
  components: {
    schemas: { Key: closed({ name: { type: 'string' }, owner: { $ref: '#/components/schemas/Owner' } }), Owner: closed({ id: { type: 'integer' } }) },
    responses: { Error: { content: { 'application/json': { schema: closed({ error: { type: 'string' } }) } } } },
  },
} as unknown as OpenApiDocument;

test('an answer is held against the schema of its route, with what that refers to', () => {
  const { check } = createAnswerChecker(document);
  const answered = (body: unknown, status = 200) => check({ method: 'GET', path: '/keys/one?full=1', status, type: 'application/json; charset=utf-8', body });
  expect(answered({ name: 'one', owner: { id: 1 } })).toBe('getKey');
  expect(() => answered({ name: 'one', owner: { id: 'x' } })).toThrow('data/owner/id must be integer');
  expect(() => answered({ name: 'one', owner: { id: 1 }, more: 1 })).toThrow('must NOT have additional properties');
  expect(answered({ error: 'gone' }, 404)).toBe('getKey');
  expect(() => answered({ fault: 'gone' }, 404)).toThrow("must have required property 'error'");
  expect(() => answered({}, 201)).toThrow('is not described');
});
