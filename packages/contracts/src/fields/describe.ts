/** Adds to a printed JSON schema what is to be said of its fields. */
import { exampleOf, type FieldShape, shapeInside, textOf, unitOf } from './facts.ts';

type JsonSchema = Readonly<Record<string, unknown>>;

const isSchema = (value: unknown): value is JsonSchema => typeof value === 'object' && value !== null && !Array.isArray(value);

/** What a field may be beside nothing or a word: behind `null`, `inherit`, and lists. */
function mapInside(schema: JsonSchema, change: (inner: JsonSchema) => JsonSchema): JsonSchema {
  if (isSchema(schema['properties'])) return change(schema);
  if (isSchema(schema['items'])) return { ...schema, items: mapInside(schema['items'], change) };
  for (const keyword of ['anyOf', 'allOf'] as const) {
    const parts = schema[keyword];
    if (Array.isArray(parts)) return { ...schema, [keyword]: parts.map((part: unknown) => (isSchema(part) ? mapInside(part, change) : part)) };
  }
  return schema;
}

const sentence = (text: string, unit: string | undefined): string => (unit === undefined ? text : `${text} In ${unit}.`);

/** The schema with a description and an example at every field that `data/field-texts` knows, all the way down. Other fields stay as they are. */
export function describeFields(schema: JsonSchema, shape: FieldShape): JsonSchema {
  return mapInside(schema, (object) => {
    const properties = Object.entries(object['properties'] as Record<string, JsonSchema>).map(([name, field]): [string, JsonSchema] => {
      const inside = shapeInside(shape, name);
      const text = textOf(shape, name);
      const example = exampleOf(shape, name);
      return [
        name,
        {
          ...(inside === undefined ? field : mapInside(field, (inner) => describeFields(inner, inside))),
          ...(text !== undefined && { description: sentence(text, unitOf(name)) }),
          ...(example !== undefined && { examples: [example] }),
        },
      ];
    });
    return { ...object, properties: Object.fromEntries(properties) };
  });
}
