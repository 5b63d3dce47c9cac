/**
 * Whether a JSON value fits a caller's JSON schema: the words that decide the shape of an answer. Untrusted on both sides, so depth and work are
 * bounded, references stay inside the schema, and `pattern` and `format` are not judged (no expression is made of a caller's text).
 */
import { asArray, asNumber, asObject, asString, type JsonObject } from './read.ts';

const deepest = 64;
const maxSteps = 200_000;

interface Judge {
  root: unknown;
  /** What is left of the work; at 0 everything fits, since nothing was found wrong. */
  steps: number;
}

/** true for a schema that says nothing, and for values too large to be judged. */
export const fitsSchema = (value: unknown, schema: unknown): boolean => fits(value, schema, { root: schema, steps: maxSteps }, 0);

function fits(value: unknown, schema: unknown, judge: Judge, depth: number): boolean {
  if (schema === false) return false;
  const words = asObject(schema);
  if (judge.steps-- <= 0 || !words || depth > deepest) return true;
  return checkedWords.every((word) => !Object.hasOwn(words, word) || checks[word](value, words, judge, depth + 1));
}

type Check = (value: unknown, schema: JsonObject, judge: Judge, depth: number) => boolean;

const types: Readonly<Record<string, (value: unknown) => boolean>> = {
  null: (value) => value === null,
  boolean: (value) => typeof value === 'boolean',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  string: (value) => typeof value === 'string',
  array: (value) => Array.isArray(value),
  object: (value) => asObject(value) !== undefined,
};
const isType = (value: unknown, name: unknown): boolean => (typeof name === 'string' && Object.hasOwn(types, name) ? types[name]!(value) : true);

/** A bound that holds for values of one kind, measured by `measure`. */
const bounded =
  (word: string, measure: (value: unknown) => number | undefined, holds: (measured: number, bound: number) => boolean): Check =>
  (value, schema) => {
    const measured = measure(value);
    const bound = asNumber(schema[word]);
    return measured === undefined || bound === undefined || holds(measured, bound);
  };
const atLeast = (measured: number, bound: number): boolean => measured >= bound;
const atMost = (measured: number, bound: number): boolean => measured <= bound;
const listLength = (value: unknown): number | undefined => asArray(value)?.length;
const textLength = (value: unknown): number | undefined => (typeof value === 'string' ? [...value].length : undefined);

const nameCount = (value: unknown): number | undefined => asObject(value) && Object.keys(value as object).length;

const checks = {
  $ref: (value, schema, judge, depth) => fits(value, resolve(schema['$ref'], judge.root), judge, depth),
  type: (value, { type }) => (Array.isArray(type) ? type.some((name) => isType(value, name)) : isType(value, type)),
  enum: (value, schema) => asArray(schema['enum'])?.some((one) => same(one, value)) ?? true,
  const: (value, schema) => same(schema['const'], value),
  required: (value, schema) => {
    const object = asObject(value);
    return !object || (asArray(schema['required']) ?? []).every((name) => typeof name !== 'string' || Object.hasOwn(object, name));
  },
  properties: (value, schema, judge, depth) => {
    const object = asObject(value);
    return (
      !object ||
      Object.entries(asObject(schema['properties']) ?? {}).every(([name, child]) => !Object.hasOwn(object, name) || fits(object[name], child, judge, depth))
    );
  },
  additionalProperties: (value, schema, judge, depth) => {
    const known = asObject(schema['properties']) ?? {};
    // Names that a pattern may allow are not judged.
    if (schema['patternProperties'] !== undefined) return true;
    return Object.entries(asObject(value) ?? {}).every(([name, one]) => Object.hasOwn(known, name) || fits(one, schema['additionalProperties'], judge, depth));
  },
  items: (value, schema, judge, depth) => {
    const from = asArray(schema['prefixItems'])?.length ?? 0;
    return (asArray(value) ?? []).slice(from).every((one) => fits(one, schema['items'], judge, depth));
  },
  prefixItems: (value, schema, judge, depth) =>
    (asArray(schema['prefixItems']) ?? []).every((child, at) => at >= (listLength(value) ?? 0) || fits(asArray(value)?.[at], child, judge, depth)),
  anyOf: (value, schema, judge, depth) => (asArray(schema['anyOf']) ?? [true]).some((one) => fits(value, one, judge, depth)),
  // Exactly one is the caller's business: none is what breaks it.
  oneOf: (value, schema, judge, depth) => (asArray(schema['oneOf']) ?? [true]).some((one) => fits(value, one, judge, depth)),
  allOf: (value, schema, judge, depth) => (asArray(schema['allOf']) ?? []).every((one) => fits(value, one, judge, depth)),
  minimum: bounded('minimum', asNumber, atLeast),
  maximum: bounded('maximum', asNumber, atMost),
  exclusiveMinimum: bounded('exclusiveMinimum', asNumber, (measured, bound) => measured > bound),
  exclusiveMaximum: bounded('exclusiveMaximum', asNumber, (measured, bound) => measured < bound),
  minProperties: bounded('minProperties', nameCount, atLeast),
  maxProperties: bounded('maxProperties', nameCount, atMost),
  propertyNames: (value, schema, judge, depth) => Object.keys(asObject(value) ?? {}).every((name) => fits(name, schema['propertyNames'], judge, depth)),
  minItems: bounded('minItems', listLength, atLeast),
  maxItems: bounded('maxItems', listLength, atMost),
  minLength: bounded('minLength', textLength, atLeast),
  maxLength: bounded('maxLength', textLength, atMost),
} satisfies Record<string, Check>;
const checkedWords = Object.keys(checks) as (keyof typeof checks)[];

/** `#/$defs/name`; true (anything fits) for what is elsewhere or nowhere. */
function resolve(reference: unknown, root: unknown): unknown {
  const path = asString(reference);
  if (path === undefined || !path.startsWith('#')) return true;
  let at: unknown = root;
  for (const step of path.slice(1).split('/').filter(Boolean)) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    const holder = asObject(at);
    if (!holder || !Object.hasOwn(holder, name)) return true;
    at = holder[name];
  }
  return at;
}

const same = (one: unknown, other: unknown): boolean =>
  one === other || (typeof one === 'object' && typeof other === 'object' && JSON.stringify(one) === JSON.stringify(other));
