/**
 * Unions in schemas for a vendor that refuses `type` beside `anyOf`: each member gets the type, which means the same. Tool servers declare unions either way.
 */
import { mapSchemas } from './map-schemas.ts';
import { asArray, asObject, asString, type JsonObject } from './read.ts';

/** The schema with types inside its unions; the very same one when there is nothing to move. */
export const typeUnions = (schema: unknown): unknown => mapSchemas(schema, moveType);

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
