/** Schemas in both directions; widening never makes a valid value invalid. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Losses } from '../../kit/losses.ts';

import { readSchema, type WrittenSchema, writeSchema } from './schema.ts';

const write = (schema: unknown): WrittenSchema & { losses: string[] } => {
  const losses = new Losses();
  return { ...writeSchema(schema, losses, 's'), losses: losses.list.map(({ field }) => field.replace(/^s\./, '')) };
};

describe('to gamma', () => {
  test('the subset stays, null in a type becomes nullable', () => {
    const schema = {
      type: 'object',
      title: 'T',
      properties: {
        a: { type: ['string', 'null'], enum: ['x'], description: 'd' },
        b: { type: 'array', items: { type: 'number', minimum: 1 }, maxItems: 2 },
        c: { anyOf: [{ type: 'string', format: 'date-time' }] },
      },
      required: ['a'],
    };
    expect(write(schema)).toEqual({
      dialect: 'open-api',
      schema: { ...schema, properties: { ...schema.properties, a: { type: 'string', nullable: true, enum: ['x'], description: 'd' } } },
      losses: [],
    });
  });

  test.each<[string, unknown]>([
    ['closed objects', { type: 'object', properties: {}, additionalProperties: false }],
    ['references', { $ref: '#/$defs/a', $defs: { a: { type: 'string' } } }],
    ['numeric enums', { type: 'integer', enum: [1, 2] }],
    ['other formats', { type: 'string', format: 'uri' }],
    ['unions of types', { type: ['string', 'number'] }],
    ['tuples', { type: 'array', prefixItems: [{ type: 'string' }] }],
    ['nested ones', { type: 'object', properties: { a: { type: 'array', items: { type: 'object', properties: {}, additionalProperties: true } } } }],
  ])('%s need the JSON Schema field and stay as they are', (_name, schema) => {
    expect(write(schema)).toEqual({ dialect: 'json-schema', schema, losses: [] });
  });

  test('an empty text among the values of an enum, which is refused, becomes a pattern', () => {
    expect(write({ type: 'string', enum: ['a.b', '', 'c'] })).toEqual({
      dialect: 'open-api',
      schema: { type: 'string', pattern: '^(?:a\\.b||c)$' },
      losses: [],
    });
    expect(write({ enum: ['', 1] })).toMatchObject({ schema: {}, losses: ['enum'] });
  });

  test('words that no field takes are widened, each a loss', () => {
    expect(write({ type: 'integer', exclusiveMinimum: 0, exclusiveMaximum: 9, maximum: 8, multipleOf: 2 })).toEqual({
      ...{ dialect: 'open-api', schema: { type: 'integer', minimum: 0, maximum: 8 }, losses: ['exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'] },
    });
    expect(write({ type: 'object', propertyNames: {}, not: {}, properties: { a: true } })).toMatchObject({ losses: ['propertyNames', 'not'] });
    expect(write({ oneOf: [{ const: 'a' }, { const: 1 }] })).toEqual({
      dialect: 'json-schema',
      schema: { anyOf: [{ enum: ['a'], type: 'string' }, { enum: [1] }] },
      losses: [],
    });
    expect(write({ type: 'object', properties: { a: { type: 'string' } }, required: ['a', 'b'] })).toMatchObject({
      schema: { required: ['a'] },
      losses: ['required'],
    });
    expect(write({ allOf: [{ type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }, { properties: { b: { type: 'string' } } }] })).toEqual({
      ...{ dialect: 'open-api', schema: { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } }, required: ['a'] }, losses: ['allOf'] },
    });
  });

  test('notes go without a word', () => {
    expect(write({ $schema: 'x', $comment: 'y', examples: [], type: 'string' })).toEqual({ dialect: 'open-api', schema: { type: 'string' }, losses: [] });
  });

  test('a property may be called anything', () => {
    const schema = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"},"not":{"type":"string"},"const":{"const":"x"}}}') as unknown;
    const written = write(schema).schema;
    expect(JSON.stringify(written)).toBe(
      '{"type":"object","properties":{"__proto__":{"type":"string"},"not":{"type":"string"},"const":{"enum":["x"],"type":"string"}}}',
    );
    expect(({} as Record<string, unknown>)['type']).toBeUndefined();
  });

  test('any JSON is taken, and depth does not exhaust the stack', () => {
    fc.assert(fc.property(fc.jsonValue(), (schema) => typeof write(schema).schema === 'object'));
    const deep = JSON.parse(`${'{"items":'.repeat(5000)}{}${'}'.repeat(5000)}`) as unknown;
    expect(write(deep).losses).toEqual(['nesting']);
  });
});

describe('from gamma', () => {
  test('and back, a schema of the subset is the same', () => {
    const schema = {
      type: 'object',
      properties: { a: { type: 'string', nullable: true }, b: { type: 'array', items: { anyOf: [{ type: 'integer', format: 'int32' }] } } },
      required: ['a'],
    };
    expect(write(readSchema(schema, 's')).schema).toEqual(schema);
  });

  test('its own words are translated', () => {
    expect(readSchema({ type: 'TYPE_UNSPECIFIED', anyOf: [{ type: 'STRING', max_length: '3', example: 'x' }], any_of: null }, 's')).toEqual({
      anyOf: [{ type: 'string', maxLength: 3, examples: ['x'] }],
    });
  });
});
