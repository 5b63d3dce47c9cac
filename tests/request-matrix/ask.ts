/** What one caller sends, as data. */
import type { Fact } from './facts.ts';

// biome-ignore lint/suspicious/noExplicitAny: bodies of four protocols are written freely.
export type Json = any;

export interface Ask {
  name: string;
  /** Without the model. */
  body: Json;
  /** Facts that are no marks, beside those that the body's marks tell. */
  also?: readonly Fact[];
  /** The history lacks results or calls on purpose: what stands for them may be invented. */
  incomplete?: true;
}

/** A fact that is told by a word of the body rather than by a mark. */
export const fact = (name: string, found: RegExp, lost: RegExp): Fact => ({ name, isIn: (body) => found.test(body), lost });

export const cached = fact('cache mark', /cache_?control|cachePoint|cache_breakpoint|"ttl"/i, /cache/);
export const citing = fact('citations', /"citations":\{"enabled":true\}/, /^citations$/);
export const single = fact('one call at most', /parallel/i, /parallel/);

/** Schemas of arguments as tool servers and SDKs write them. `name` gives each property a name of its own. */
export const oddSchemas = (name: () => string): Record<string, Json> => ({
  'no properties': { type: 'object' },
  'empty schema': {},
  'a list of anything': { type: 'object', properties: { [name()]: { type: 'array' } } },
  'nested lists': { type: 'object', properties: { [name()]: { type: 'array', items: { type: 'array' } } } },
  'words of newer drafts': {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: {
      [name()]: { type: 'integer', exclusiveMinimum: 0, multipleOf: 2 },
      [name()]: { const: 'fixed' },
      [name()]: { type: 'string', format: 'uri-reference', pattern: '^x', minLength: 1 },
      [name()]: { type: 'object', additionalProperties: { type: 'string' }, propertyNames: { pattern: '^a' } },
    },
    additionalProperties: false,
    unevaluatedProperties: false,
  },
  'definitions and references': {
    type: 'object',
    properties: { [name()]: { $ref: '#/$defs/node' } },
    required: [],
    $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' }, value: { type: ['string', 'null'] } } } },
  },
  'choices inside': {
    type: 'object',
    properties: { [name()]: { oneOf: [{ type: 'string' }, { type: 'integer' }] }, [name()]: { anyOf: [{ type: 'string' }, { type: 'null' }] } },
  },
  'numbers and nothing to choose from': {
    type: 'object',
    properties: { [name()]: { type: 'integer', enum: [1, 2] }, [name()]: { enum: ['a', null] }, [name()]: { type: 'string', enum: ['', 'b'] } },
  },
  'required but not described': { type: 'object', properties: { [name()]: { type: 'string' } }, required: ['missing'] },
});
/** Those whose root is a choice, which the vendors of chat completions and messages refuse of their own callers, too. */
export const rootChoices = (name: () => string): Record<string, Json> => ({
  'any of at the root': {
    anyOf: [
      { type: 'object', properties: { [name()]: { type: 'string' } } },
      { type: 'object', properties: { [name()]: { type: 'integer' } } },
    ],
  },
  'one of beside properties': {
    type: 'object',
    properties: { [name()]: { type: 'string' } },
    oneOf: [{ required: ['a'] }, { properties: { [name()]: { type: 'boolean' } } }],
  },
  'all of at the root': { type: 'object', allOf: [{ properties: { [name()]: { type: 'string' } } }, { required: ['b'] }] },
});
