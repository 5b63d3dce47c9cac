/**
 * Unions in schemas for a vendor that refuses `type` beside `anyOf`: each member gets the type, which means the same. Tool servers declare unions either way.
 */
import { asArray, asObject, asString, type JsonObject } from './read.ts';

const deepest = 64;

const named: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions', 'patternProperties']);
const listed: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems']);
const direct: ReadonlySet<string> = new Set(['items', 'additionalProperties', 'not']);

/** The schema with types inside its unions; the very same one when there is nothing to move. */
export function typeUnions(schema: unknown, depth = 0): unknown {
  const object = asObject(schema);
  if (!object || depth > deepest) return schema;
  let changed = false;
  const inner = Object.fromEntries(
    Object.entries(object).map(([word, value]): [string, unknown] => {
      const next = typeMember(word, value, depth + 1);
      changed ||= next !== value;
      return [word, next];
    }),
  );
  const moved = moveType(inner);
  return changed || moved !== inner ? moved : schema;
}

function moveType(schema: JsonObject): JsonObject {
  const members = asArray(schema['anyOf']);
  const type = asString(schema['type']) ?? asArray(schema['type']);
  if (!members || type === undefined) return schema;
  const { type: _type, ...rest } = schema;
  // A member that says what it is needs no word of the union; one that refers elsewhere is typed there.
  const isBare = (member: unknown): boolean =>
    asObject(member) !== undefined && !['type', '$ref', 'anyOf'].some((word) => Object.hasOwn(member as object, word));
  return { ...rest, anyOf: members.map((member) => (isBare(member) ? { type, ...asObject(member) } : member)) };
}

function typeMember(word: string, value: unknown, depth: number): unknown {
  if (direct.has(word)) return typeUnions(value, depth);
  if (listed.has(word) && Array.isArray(value)) {
    const typed = value.map((member) => typeUnions(member, depth));
    return typed.some((member, at) => member !== value[at]) ? typed : value;
  }
  const map = named.has(word) ? asObject(value) : undefined;
  if (!map) return value;
  const entries = Object.entries(map).map(([name, member]): [string, unknown] => [name, typeUnions(member, depth)]);
  return entries.some(([name, member]) => member !== map[name]) ? Object.fromEntries(entries) : value;
}
