/** Schemas of arguments as the chat-completions family takes them. */
import type { Losses } from './losses.ts';
import { asObject, type JsonObject } from './read.ts';
import { rootObject } from './root-object.ts';

const deepest = 64;

/**
 * A plain object that names its properties, if only an empty list of them, and lists that say what they hold: the vendor answers anything else with a
 * 400, and tools without arguments (those of tool servers above all) are often declared so. Schemas that are so already are the same afterwards.
 */
export function objectParameters(parameters: unknown, losses: Pick<Losses, 'add'>): { schema: unknown; relaxed: boolean } {
  const schema = asObject(parameters);
  if (!schema) return { schema: parameters, relaxed: false };
  const root = rootObject(schema);
  if (root.relaxed) noteRelaxed(losses);
  return { schema: fillItems(root.schema, 0), relaxed: root.relaxed };
}

export const noteRelaxed = (losses: Pick<Losses, 'add'>): void =>
  losses.add(
    'tools.parameters',
    'downgraded',
    'A choice at the root of a tool’s schema is refused here: it became one object, and the choice was told in words.',
  );

const named: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions', 'patternProperties']);
const listed: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems']);
const direct: ReadonlySet<string> = new Set(['items', 'additionalProperties', 'not']);

/** Every list with `items`; the same schema when all have them. */
function fillItems(schema: unknown, depth: number): unknown {
  const object = asObject(schema);
  if (!object || depth > deepest) return schema;
  let changed = false;
  const entries = Object.entries(object).map(([word, value]): [string, unknown] => {
    const next = fillMember(word, value, depth + 1);
    changed ||= next !== value;
    return [word, next];
  });
  if (isList(object['type']) && object['items'] === undefined) {
    changed = true;
    entries.push(['items', {}]);
  }
  return changed ? (Object.fromEntries(entries) satisfies JsonObject) : schema;
}

const isList = (type: unknown): boolean => type === 'array' || (Array.isArray(type) && type.includes('array'));

function fillMember(word: string, value: unknown, depth: number): unknown {
  if (direct.has(word)) return fillItems(value, depth);
  if (listed.has(word) && Array.isArray(value)) {
    const filled = value.map((member) => fillItems(member, depth));
    return filled.some((member, at) => member !== value[at]) ? filled : value;
  }
  const map = named.has(word) ? asObject(value) : undefined;
  if (!map) return value;
  const entries = Object.entries(map).map(([name, member]): [string, unknown] => [name, fillItems(member, depth)]);
  return entries.some(([name, member]) => member !== map[name]) ? Object.fromEntries(entries) : value;
}
