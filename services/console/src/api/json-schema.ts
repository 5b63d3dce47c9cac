/** Zod schemas as JSON schemas. What is given is shared: nobody changes it. */
import { z } from 'zod';

export type JsonSchema = Record<string, unknown>;

/** By schema: several routes have the same, and so have all consoles of a process. */
const printed = { input: new WeakMap<z.ZodType, JsonSchema>(), output: new WeakMap<z.ZodType, JsonSchema>() };

/** Any JSON value needs no recursive definition in the document. What it gives is shared: nobody changes it. */
function toJsonSchema(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const known = printed[io].get(schema);
  if (known) return known;
  const { $schema: _dialect, $defs: _definitions, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as JsonSchema;
  const made = withoutReferences(rest) as JsonSchema;
  printed[io].set(schema, made);
  return made;
}

/** What was saved was checked by the rules of its time: answers promise shapes, not how texts are spelled. */
function withoutPatterns(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutPatterns);
  if (typeof value !== 'object' || value === null) return value;
  // A property of this name holds a schema, the keyword holds a text.
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, child]) => (key === 'pattern' && typeof child === 'string' ? [] : [[key, withoutPatterns(child)]])),
  );
}

/** The only references are those of the recursive JSON value, which may be anything. */
function withoutReferences(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutReferences);
  if (typeof value !== 'object' || value === null) return value;
  if ('$ref' in value) return {};
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, withoutReferences(child)]));
}

/** Type generators make a property with a `default` one that must be there, also of what is sent: so the default of what is sent has a keyword of its own. */
function withoutDefaults(value: unknown, isProperties = false): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutDefaults(item));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) =>
      key === 'default' && !isProperties ? ['x-default', child] : [key, withoutDefaults(child, key === 'properties' && !isProperties)],
    ),
  );
}

/** The same for a named schema of what is sent. */
export const printSent = (schema: z.ZodType): JsonSchema => withoutDefaults(printInput(schema)) as JsonSchema;

/** As a schema takes it. */
export const printInput = (schema: z.ZodType): JsonSchema => toJsonSchema(schema, 'input');
/** As a schema gives it. */
export const printAnswer = (schema: z.ZodType): JsonSchema => withoutPatterns(toJsonSchema(schema, 'output')) as JsonSchema;
