/** Schemas of arguments as the chat-completions family takes them. */
import { asObject, type JsonObject } from './read.ts';

/**
 * The same schema where it names its properties, else with an empty list of them: the vendor answers an object schema without one with a 400, and
 * tools without arguments (those of tool servers above all) are often declared so.
 */
export function objectParameters(parameters: unknown): unknown {
  const schema = asObject(parameters);
  if (!schema || schema['properties'] !== undefined || schema['$ref'] !== undefined) return parameters;
  const type = schema['type'] ?? (Object.keys(schema).length === 0 ? 'object' : undefined);
  return type === 'object' ? ({ ...schema, type, properties: {} } satisfies JsonObject) : parameters;
}
