/** Schemas of tools and answers: gamma's OpenAPI dialect to JSON Schema, and JSON Schema down to what gamma accepts. */
import { invalid } from '../../kit/fail.ts';
import type { Losses } from '../../kit/losses.ts';
import { asArray, asNumber, asObject, asString, type JsonObject } from '../../kit/read.ts';
import { camelName } from './fields.ts';

/** Deeper than any real schema, shallow enough for recursion. */
const deepest = 64;

const countWords = new Set(['minItems', 'maxItems', 'minLength', 'maxLength', 'minProperties', 'maxProperties']);

/** Keywords that `parameters` and `responseSchema` take; any other is a 400: https://ai.google.dev/api/caching#Schema */
const openApiWords = new Set([
  ...['type', 'format', 'title', 'description', 'nullable', 'enum', 'items', 'properties', 'required', 'pattern', 'example', 'anyOf', 'propertyOrdering'],
  ...['default', 'minimum', 'maximum'],
  ...countWords,
]);

/** What `parametersJsonSchema` and `responseJsonSchema` take beside those. */
const jsonWords = new Set([...openApiWords, '$ref', '$defs', 'definitions', '$id', '$anchor', 'prefixItems', 'additionalProperties']);

/** Words that describe and constrain nothing: they go without a loss. */
const notes = new Set(['$schema', '$comment', '$vocabulary', 'examples', 'readOnly', 'writeOnly', 'deprecated']);

const openApiFormats = new Set(['enum', 'date-time', 'float', 'double', 'int32', 'int64']);

/** Applies `change` to every schema of a `properties`-like map. `fromEntries` defines own keys, so a property called `__proto__` is one like any other. */
const mapValues = (map: JsonObject, change: (schema: unknown) => unknown): JsonObject =>
  Object.fromEntries(Object.entries(map).map(([name, schema]) => [name, change(schema)]));

// ---- reading -------------------------------------------------------------------------------------------------------

/** Gamma's dialect as JSON Schema: lower-case types, `nullable` as a type, counts as numbers, properties in their `propertyOrdering`. */
export function readSchema(schema: unknown, path: string, depth = 0): unknown {
  const object = asObject(schema);
  if (!object) return schema;
  if (depth > deepest) throw invalid(path, 'is nested too deeply');
  const deeper = (child: unknown): unknown => readSchema(child, path, depth + 1);
  const entries: [string, unknown][] = [];
  let ordering: unknown[] | undefined;
  let nullable = false;
  for (const [key, value] of Object.entries(object)) {
    const word = openApiWords.has(camelName(key)) ? camelName(key) : key;
    if (value === null && word !== 'default' && word !== 'example') continue;
    if (word === 'type') entries.push(...readType(value));
    else if (word === 'nullable') nullable = value === true;
    else if (word === 'propertyOrdering') ordering = asArray(value);
    else if (word === 'example') entries.push(['examples', [value]]);
    else if (countWords.has(word)) entries.push([word, typeof value === 'string' ? Number(value) : value]);
    else if (word === 'properties') entries.push([word, asObject(value) ? mapValues(value as JsonObject, deeper) : value]);
    else if (word === 'anyOf') entries.push([word, asArray(value)?.map(deeper) ?? value]);
    else if (word === 'items') entries.push([word, deeper(value)]);
    else entries.push([word, value]);
  }
  const result = Object.fromEntries(entries);
  if (nullable) makeNullable(result);
  const properties = asObject(result['properties']);
  if (ordering && properties) result['properties'] = order(properties, ordering);
  return result;
}

/** `null` must be among the values and the choices, too, or it is never valid. */
function makeNullable(schema: JsonObject): void {
  const { type } = schema;
  const values = asArray(schema['enum']);
  const choices = asArray(schema['anyOf']);
  if (typeof type === 'string' && type !== 'null') schema['type'] = [type, 'null'];
  if (values && !values.includes(null)) schema['enum'] = [...values, null];
  if (choices && !choices.some((choice) => asObject(choice)?.['type'] === 'null')) schema['anyOf'] = [...choices, { type: 'null' }];
}

function readType(value: unknown): [string, unknown][] {
  const words = asArray(value);
  if (words) return [['type', words.map((word) => (typeof word === 'string' ? word.toLowerCase() : word))]];
  const word = asString(value)?.toLowerCase();
  return word === undefined || word === 'type_unspecified' ? [] : [['type', word]];
}

function order(properties: JsonObject, ordering: readonly unknown[]): JsonObject {
  const first = new Set(ordering.filter((name): name is string => typeof name === 'string' && Object.hasOwn(properties, name)));
  const names = [...first, ...Object.keys(properties).filter((name) => !first.has(name))];
  return Object.fromEntries(names.map((name) => [name, properties[name]]));
}

// ---- writing -------------------------------------------------------------------------------------------------------

/** A schema fitted to the vendor, and the request field it goes into. */
export interface WrittenSchema {
  /** Which of the pair of fields takes it: `parameters` / `responseSchema`, or their JSON Schema twins. */
  dialect: 'open-api' | 'json-schema';
  schema: JsonObject;
}

/**
 * The schema as gamma accepts it. Words that no field takes are widened rather than kept: what is valid stays valid, more becomes valid, and each
 * is a declared loss. What then fits the OpenAPI subset goes into the older field, which every model knows; the rest needs the JSON Schema one.
 */
export function writeSchema(schema: unknown, losses: Losses, path: string): WrittenSchema {
  const relaxed = widen(schema, losses, path, 0);
  return fitsOpenApi(relaxed) ? { dialect: 'open-api', schema: toOpenApi(relaxed) } : { dialect: 'json-schema', schema: relaxed };
}

function widen(schema: unknown, losses: Losses, path: string, depth: number): JsonObject {
  const object = asObject(schema);
  const loss = (word: string): void => losses.add(`${path}.${word}`, 'downgraded', 'This word of a schema is not accepted here: the schema was widened.');
  if (!object || depth > deepest) {
    if (schema !== true && schema !== undefined) loss(object ? 'nesting' : 'false');
    return {};
  }
  const deeper = (child: unknown): JsonObject => widen(child, losses, path, depth + 1);
  const entries: [string, unknown][] = [];
  for (const [word, value] of Object.entries(object)) {
    const rule = rules[word];
    if (rule) entries.push(...rule(value, object, deeper, loss));
    else if (jsonWords.has(word)) entries.push([word, value]);
    else if (!notes.has(word)) loss(/^[a-zA-Z]{1,40}$/.test(word) ? word : '(unnamed)');
  }
  const result = mergeAll(Object.fromEntries(entries), (asArray(object['allOf']) ?? []).map(deeper));
  if (result['type'] === 'array' && !('items' in result) && !('prefixItems' in result)) result['items'] = {};
  return trimRequired(result, loss);
}

type Rule = (value: unknown, schema: JsonObject, deeper: (child: unknown) => JsonObject, loss: (word: string) => void) => [string, unknown][];

const bound =
  (word: 'minimum' | 'maximum', exclusive: string): Rule =>
  (value, schema, _deeper, loss) => {
    loss(exclusive);
    return asNumber(value) === undefined || word in schema ? [] : [[word, value]];
  };

/** An empty text among the values is a 400: an enum with one is sent as a pattern. */
function choice(values: readonly unknown[], schema: JsonObject, loss: (word: string) => void): [string, unknown][] {
  if (!values.includes('')) return values.length === 0 ? [] : [['enum', values]];
  if (!('pattern' in schema) && schema['type'] === 'string' && values.every((value) => typeof value === 'string'))
    return [['pattern', `^(?:${values.map((text) => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')).join('|')})$`]];
  loss('enum');
  return [];
}

const childMap =
  (word: string): Rule =>
  (value, _schema, deeper) => {
    const map = asObject(value);
    return map ? [[word, mapValues(map, deeper)]] : [];
  };

const childList =
  (word: string): Rule =>
  (value, _schema, deeper) => {
    const list = asArray(value);
    return list ? [[word, list.map(deeper)]] : [];
  };

const rules: Readonly<Record<string, Rule | undefined>> = Object.assign(Object.create(null) as Record<string, Rule>, {
  properties: childMap('properties'),
  $defs: childMap('$defs'),
  definitions: childMap('definitions'),
  anyOf: childList('anyOf'),
  prefixItems: childList('prefixItems'),
  // "Exactly one" becomes "any": wider, and what the vendor itself makes of it.
  oneOf: (value, schema, deeper) => ('anyOf' in schema ? [] : childList('anyOf')(value, schema, deeper, () => undefined)),
  items: (value, _schema, deeper) => (asArray(value) ? [['prefixItems', (value as unknown[]).map(deeper)]] : [['items', deeper(value)]]),
  additionalProperties: (value, _schema, deeper) => [['additionalProperties', typeof value === 'boolean' ? value : deeper(value)]],
  const: (value, schema, _deeper, loss) =>
    'enum' in schema
      ? []
      : [...choice([value], schema, loss), ...(typeof value === 'string' && !('type' in schema) ? ([['type', 'string']] as [string, unknown][]) : [])],
  enum: (value, schema, _deeper, loss) => choice(asArray(value) ?? [], schema, loss),
  exclusiveMinimum: bound('minimum', 'exclusiveMinimum'),
  exclusiveMaximum: bound('maximum', 'exclusiveMaximum'),
  allOf: (_value, _schema, _deeper, loss) => {
    loss('allOf');
    return [];
  },
} satisfies Record<string, Rule>);

/** `allOf` by hand: properties and required are united, any other word keeps its first value. */
function mergeAll(first: JsonObject, parts: readonly JsonObject[]): JsonObject {
  if (parts.length === 0) return first;
  const words = new Map<string, unknown>();
  const properties = new Map<string, unknown>();
  const required = new Set<unknown>();
  for (const part of [first, ...parts]) {
    for (const [word, value] of Object.entries(part)) if (!words.has(word)) words.set(word, value);
    for (const [name, schema] of Object.entries(asObject(part['properties']) ?? {})) if (!properties.has(name)) properties.set(name, schema);
    for (const name of asArray(part['required']) ?? []) required.add(name);
  }
  if (properties.size > 0) words.set('properties', Object.fromEntries(properties));
  if (required.size > 0) words.set('required', [...required]);
  return Object.fromEntries(words);
}

/** A required name without its property is a 400 here and nothing elsewhere. */
function trimRequired(schema: JsonObject, loss: (word: string) => void): JsonObject {
  const required = asArray(schema['required']);
  const properties = asObject(schema['properties']) ?? {};
  if (!required || '$ref' in schema) return schema;
  const kept = required.filter((name) => typeof name === 'string' && Object.hasOwn(properties, name));
  if (kept.length === required.length) return schema;
  loss('required');
  return { ...schema, required: kept };
}

function fitsOpenApi(schema: JsonObject): boolean {
  return Object.entries(schema).every(([word, value]) => {
    if (!openApiWords.has(word)) return false;
    if (word === 'type') return typeof value === 'string' || plainType(value) !== undefined;
    if (word === 'format') return openApiFormats.has(String(value));
    if (word === 'enum')
      return (
        asArray(value)?.every((item) => typeof item === 'string' || (item === null && plainType(schema['type']) !== undefined)) === true &&
        (plainType(schema['type']) ?? schema['type']) === 'string'
      );
    if (word === 'properties') return Object.values(asObject(value) ?? {}).every((child) => fitsOpenApi(child as JsonObject));
    if (word === 'anyOf') return (asArray(value) ?? []).every((child) => fitsOpenApi(child as JsonObject));
    if (word === 'items') return fitsOpenApi(value as JsonObject) && Object.keys(value as JsonObject).length > 0;
    return true;
  });
}

/** The one real type of `[type, 'null']`. */
function plainType(type: unknown): string | undefined {
  const words = asArray(type);
  if (words?.length !== 2 || !words.includes('null')) return undefined;
  return asString(words.find((word) => word !== 'null'));
}

function toOpenApi(schema: JsonObject): JsonObject {
  const entries = Object.entries(schema).flatMap(([word, value]): [string, unknown][] => {
    const type = word === 'type' ? plainType(value) : undefined;
    if (type !== undefined)
      return [
        ['type', type],
        ['nullable', true],
      ];
    // `nullable` says it.
    if (word === 'enum') return [[word, (value as unknown[]).filter((item) => item !== null)]];
    if (word === 'properties') return [[word, mapValues(value as JsonObject, (child) => toOpenApi(child as JsonObject))]];
    if (word === 'anyOf') return [[word, (value as JsonObject[]).map(toOpenApi)]];
    if (word === 'items') return [[word, toOpenApi(value as JsonObject)]];
    return [[word, value]];
  });
  return Object.fromEntries(entries);
}
