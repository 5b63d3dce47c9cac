/**
 * Brings a JSON schema into the dialect of structured output, by the rules of the vendor's own SDK: objects are closed, unions are `anyOf`, few words
 * bound a value. What is taken away is said in words in the `description`, so that the model still sees it (widened, never lost).
 */
import { asArray, asObject, type JsonObject } from '../../kit/read.ts';

const formats: ReadonlySet<unknown> = new Set(['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid']);
/** Words that constrain nothing. */
const notes: ReadonlySet<string> = new Set(['$schema', '$comment', '$id']);
/** Kept as they are, or with the schemas that they hold brought into the dialect. */
const kept: ReadonlySet<string> = new Set(['type', 'title', 'description', 'enum', 'const', 'required', '$ref']);
const named: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions']);
/** Deeper schemas are sent as they are; the upstream decides. */
const deepest = 64;

/** `changed`: it no longer asks for the same. A schema that only lost notes, such as the `$schema` that zod writes, is another one and not changed. */
export function closeSchema(schema: unknown): { schema: unknown; changed: boolean } {
  const found: Found = { changed: false };
  return { schema: close(schema, 0, found), changed: found.changed };
}

interface Found {
  changed: boolean;
}

/** Whether closing its objects would leave no room for what is asked: a map, whose names are the answer's own, would always be empty. */
export function holdsMap(schema: unknown, depth = 0): boolean {
  const object = asObject(schema);
  if (!object || depth > deepest) return false;
  const { additionalProperties: more, properties } = object;
  if (asObject(more) || (isOfType(object, 'object') && asObject(object['patternProperties']) && !properties)) return true;
  const deeper = (child: unknown): boolean => holdsMap(child, depth + 1);
  return (
    [...named].some((word) => Object.values(asObject(object[word]) ?? {}).some(deeper)) ||
    ['anyOf', 'oneOf', 'allOf', 'prefixItems'].some((word) => (asArray(object[word]) ?? []).some(deeper)) ||
    deeper(object['items'])
  );
}

/** An object need not say that it is one. */
function isOfType(schema: JsonObject, type: string): boolean {
  const said = schema['type'];
  return (
    said === type || (Array.isArray(said) && said.includes(type)) || (said === undefined && type === 'object' && asObject(schema['properties']) !== undefined)
  );
}

/** A new schema where something is written in another way, else the same one. */
function close(schema: unknown, depth: number, found: Found): unknown {
  const object = asObject(schema);
  if (!object || depth > deepest) return schema;
  const copy: JsonObject = Object.create(null) as JsonObject;
  const described: string[] = [];
  const deeper: Deeper = (child) => close(child, depth + 1, found);
  let isNew = false;
  for (const [word, value] of Object.entries(object)) {
    const next = closeMember(word, value, object, deeper);
    isNew ||= next?.word !== word || next.value !== value;
    // What changed within a member was found there.
    if (next && (next.word !== word || (word === 'additionalProperties' && next.value !== value))) found.changed = true;
    if (next) copy[next.word] = next.value;
    else if (!notes.has(word)) described.push(`${word}: ${JSON.stringify(value)}`);
  }
  if (isOfType(object, 'object') && object['$ref'] === undefined && copy['additionalProperties'] !== false) {
    copy['additionalProperties'] = false;
    isNew = true;
    found.changed = true;
  }
  if (described.length > 0) {
    found.changed = true;
    const words = `{${described.join(', ')}}`;
    copy['description'] = typeof copy['description'] === 'string' ? `${copy['description']}\n\n${words}` : words;
  }
  return isNew ? copy : schema;
}

/** Brings a schema that stands within this one into the dialect. */
type Deeper = (child: unknown) => unknown;

/** What a word becomes; undefined for one that the dialect does not have, or not with this value. */
function closeMember(word: string, value: unknown, schema: JsonObject, deeper: Deeper): { word: string; value: unknown } | undefined {
  if (kept.has(word)) return { word, value };
  if (word === 'anyOf' || word === 'oneOf') {
    const list = asArray(value);
    // "Exactly one" becomes "any", which is wider. Beside an existing `anyOf` it can only be described.
    return list && (word === 'anyOf' || schema['anyOf'] === undefined) ? { word: 'anyOf', value: mapSame(list, deeper) } : undefined;
  }
  if (word === 'allOf') return asArray(value) ? { word, value: mapSame(value as unknown[], deeper) } : undefined;
  if (word === 'items') return asObject(value) ? { word, value: deeper(value) } : undefined;
  if (word === 'format') return formats.has(value) ? { word, value } : undefined;
  if (word === 'minItems') return value === 0 || value === 1 ? { word, value } : undefined;
  if (word === 'additionalProperties') return value === undefined || asObject(value) ? undefined : { word, value: false };
  const map = named.has(word) ? asObject(value) : undefined;
  if (!map) return undefined;
  const entries = Object.entries(map);
  const closed = mapSame(entries, (entry) => {
    const next = deeper(entry[1]);
    return next === entry[1] ? entry : ([entry[0], next] as [string, unknown]);
  });
  return { word, value: closed === entries ? value : Object.fromEntries(closed) };
}

/** Like map, but the same array when nothing changed. */
function mapSame<T>(list: readonly T[], change: (value: T) => T): readonly T[] {
  const mapped = list.map(change);
  return mapped.some((value, place) => value !== list[place]) ? mapped : list;
}
