/**
 * Brings a JSON schema into the dialect of structured output: objects must be closed, and bounds are not enforced. What is taken away is said
 * in words in the `description`, so that the model still sees it (widened, never lost).
 */
import { asObject, type JsonObject } from '../kit/read.ts';

/** Words that the schema compiler refuses. */
const unenforced = [
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
] as const;
/** Where schemas hold further schemas: by name, in a list, or directly. */
const namedHolders: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions']);
const listHolders: ReadonlySet<string> = new Set(['anyOf', 'allOf', 'oneOf', 'prefixItems']);
const directHolders: ReadonlySet<string> = new Set(['items', 'not']);
/** Deeper schemas are sent as they are; the upstream decides. */
const deepest = 64;

/** A new schema where something had to change, else the same one. */
export function closeSchema(schema: unknown): { schema: unknown; changed: boolean } {
  const closed = close(schema, 0);
  return { schema: closed, changed: closed !== schema };
}

function close(schema: unknown, depth: number): unknown {
  const object = asObject(schema);
  if (!object || depth > deepest) return schema;
  const copy: JsonObject = Object.create(null) as JsonObject;
  let changed = false;
  for (const [key, value] of Object.entries(object)) {
    const next = closeMember(key, value, depth + 1);
    changed ||= next !== value;
    copy[key] = next;
  }
  changed = closeObject(copy) || changed;
  changed = describeBounds(copy) || changed;
  return changed ? copy : schema;
}

function closeMember(key: string, value: unknown, depth: number): unknown {
  if (directHolders.has(key)) return close(value, depth);
  if (listHolders.has(key) && Array.isArray(value)) return mapSame(value, (member) => close(member, depth));
  const named = namedHolders.has(key) ? asObject(value) : undefined;
  if (!named) return value;
  const entries = Object.entries(named);
  const closed = mapSame(entries, (entry) => {
    const next = close(entry[1], depth);
    return next === entry[1] ? entry : ([entry[0], next] as [string, unknown]);
  });
  return closed === entries ? value : Object.fromEntries(closed);
}

function closeObject(schema: JsonObject): boolean {
  if (schema['type'] !== 'object' || schema['additionalProperties'] === false) return false;
  schema['additionalProperties'] = false;
  return true;
}

function describeBounds(schema: JsonObject): boolean {
  const bounds: string[] = unenforced.filter((word) => typeof schema[word] === 'number' || typeof schema[word] === 'boolean');
  // A large `minItems` is refused, 0 and 1 are not.
  if (typeof schema['minItems'] === 'number' && schema['minItems'] > 1) bounds.push('minItems');
  if (bounds.length === 0) return false;
  const words = bounds.map((word) => `${word}: ${String(schema[word])}`).join(', ');
  for (const word of bounds) delete schema[word];
  schema['description'] = typeof schema['description'] === 'string' ? `${schema['description']} (${words})` : words;
  return true;
}

/** Like map, but the same array when nothing changed. */
function mapSame<T>(list: readonly T[], change: (value: T) => T): readonly T[] {
  const mapped = list.map(change);
  return mapped.some((value, place) => value !== list[place]) ? mapped : list;
}
