/** A change made to a JSON schema and to every schema within it. */
import { asObject, type JsonObject } from './read.ts';

const deepest = 64;

const named: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions', 'patternProperties']);
const listed: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems']);
const direct: ReadonlySet<string> = new Set(['items', 'additionalProperties', 'not']);

/** The schema after `change` was made to each, the inner ones first; the very same one where nothing was. `change` returns what it was given where it changes nothing. */
export function mapSchemas(schema: unknown, change: (schema: JsonObject) => JsonObject, depth = 0): unknown {
  const object = asObject(schema);
  if (!object || depth > deepest) return schema;
  let isSame = true;
  const entries = Object.entries(object).map(([word, value]): [string, unknown] => {
    const next = mapMember(word, value, (inner) => mapSchemas(inner, change, depth + 1));
    isSame &&= next === value;
    return [word, next];
  });
  return change(isSame ? object : Object.fromEntries(entries));
}

function mapMember(word: string, value: unknown, map: (schema: unknown) => unknown): unknown {
  if (direct.has(word)) return map(value);
  if (listed.has(word) && Array.isArray(value)) {
    const mapped = value.map(map);
    return mapped.some((member, at) => member !== value[at]) ? mapped : value;
  }
  const members = named.has(word) ? asObject(value) : undefined;
  if (!members) return value;
  const entries = Object.entries(members).map(([name, member]): [string, unknown] => [name, map(member)]);
  return entries.some(([name, member]) => member !== members[name]) ? Object.fromEntries(entries) : value;
}
