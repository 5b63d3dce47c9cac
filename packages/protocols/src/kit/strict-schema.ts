/**
 * Whether a schema is within the narrower dialect that `strict: true` asks for on the chat-completions family: every object closed, and every
 * property required. Others answer a strict schema outside it with a 400, where a loose one works.
 */
import type { Losses } from './losses.ts';
import { asArray, asObject, type JsonObject } from './read.ts';

const deepest = 64;
const maxSchemas = 20_000;

/** Where schemas hold further schemas. */
const named = ['properties', '$defs', 'definitions'] as const;
const listed = ['anyOf', 'prefixItems'] as const;
/** Words that the dialect does not know. */
const refused = [
  'allOf',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
  'dependentRequired',
  'dependentSchemas',
  'patternProperties',
  'propertyNames',
  'unevaluatedProperties',
] as const;

export function isStrictSchema(schema: unknown): boolean {
  const root = asObject(schema);
  return root !== undefined && root['type'] === 'object' && !Object.hasOwn(root, 'anyOf') && isStrict(root, { left: maxSchemas }, 0);
}

function isStrict(schema: unknown, budget: { left: number }, depth: number): boolean {
  const object = asObject(schema);
  if (!object || depth > deepest || budget.left-- <= 0) return false;
  if (refused.some((word) => Object.hasOwn(object, word)) || !isClosed(object)) return false;
  const deeper = (child: unknown): boolean => isStrict(child, budget, depth + 1);
  return (
    named.every((word) => Object.values(asObject(object[word]) ?? {}).every(deeper)) &&
    listed.every((word) => (asArray(object[word]) ?? []).every(deeper)) &&
    (object['items'] === undefined || deeper(object['items']))
  );
}

function isClosed(schema: JsonObject): boolean {
  const properties = asObject(schema['properties']);
  if (schema['type'] !== 'object' && !properties) return true;
  const required = new Set(asArray(schema['required']) ?? []);
  return schema['additionalProperties'] === false && Object.keys(properties ?? {}).every((name) => required.has(name));
}

/** `strict` as it may be sent with this schema; a strictness that the schema does not allow is given up, and declared. */
export function keepStrict(strict: boolean | undefined, schema: unknown, field: string, losses: Pick<Losses, 'add'>): boolean | undefined {
  if (strict !== true || isStrictSchema(schema)) return strict;
  losses.add(field, 'downgraded', 'The schema is not within the dialect that strict asks for: the model is shown it, and not held to it.');
  return false;
}
