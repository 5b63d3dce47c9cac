/** Schemas of arguments as the chat-completions family takes them. */
import type { Losses } from './losses.ts';
import { mapSchemas } from './map-schemas.ts';
import { asObject, type JsonObject } from './read.ts';
import { rootObject } from './root-object.ts';

/**
 * A plain object that names its properties, if only an empty list of them, and lists that say what they hold: the vendor answers anything else with a
 * 400, and tools without arguments (those of tool servers above all) are often declared so. Schemas that are so already are the same afterwards.
 */
export function objectParameters(parameters: unknown, losses: Pick<Losses, 'add'>): { schema: unknown; relaxed: boolean } {
  const schema = asObject(parameters);
  if (!schema) return { schema: parameters, relaxed: false };
  const root = rootObject(schema);
  if (root.relaxed) noteRelaxed(losses);
  return { schema: mapSchemas(root.schema, fillItems), relaxed: root.relaxed };
}

export const noteRelaxed = (losses: Pick<Losses, 'add'>): void =>
  losses.add(
    'tools.parameters',
    'downgraded',
    'A choice at the root of a tool’s schema is refused here: it became one object, and the choice was told in words.',
  );

/** Lists say what they hold. */
const fillItems = (schema: JsonObject): JsonObject => (isList(schema['type']) && schema['items'] === undefined ? { ...schema, items: {} } : schema);

const isList = (type: unknown): boolean => type === 'array' || (Array.isArray(type) && type.includes('array'));
