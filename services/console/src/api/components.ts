/** The named schemas of the API's document: what routes are sent and answer, and the parts that several of them have. */
import { describeFields, type FieldShape, shapeSchemas } from '@model-gateway/contracts/fields';
import type { z } from 'zod';
import { nameOfAnswer, nameOfBody, pascalCase } from './component-names.ts';
import { printAnswer, printSent } from './json-schema.ts';
import type { Route } from './route.ts';

type JsonSchema = Record<string, unknown>;

const isSchema = (value: unknown): value is JsonSchema => typeof value === 'object' && value !== null;

const describeItems = (page: JsonSchema, shape: FieldShape): JsonSchema => {
  const { items, ...others } = page['properties'] as Record<string, JsonSchema>;
  return { ...page, properties: { items: { ...items, items: describeFields(items?.['items'] as JsonSchema, shape) }, ...others } };
};

/** Schemas by name; a schema that several routes have is there once, under the name of the first. */
export interface Components {
  /** For a route's body and its answer. */
  ofBody(route: Route & { body: z.ZodType }): JsonSchema;
  ofAnswer(route: Route & { answer: z.ZodType }): JsonSchema;
  /** All of them; equal parts refer to one another. */
  schemas(): Record<string, JsonSchema>;
}

export function createComponents(): Components {
  const byName = new Map<string, JsonSchema>();
  /** By the printed text. */
  const names = new Map<string, string>();

  const add = (wanted: string, schema: JsonSchema): string => {
    const text = JSON.stringify(schema);
    const known = names.get(text);
    if (known !== undefined) return known;
    let name = wanted;
    for (let number = 2; byName.has(name); number++) name = `${wanted}${number}`;
    byName.set(name, schema);
    names.set(text, name);
    return name;
  };
  const refer = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });
  /** `root`: a component is not replaced by a reference to itself. What names no fields is like many others, and no type worth a name. */
  const withReferences = (value: unknown, root = false): unknown => {
    if (Array.isArray(value)) return value.map((item) => withReferences(item));
    if (!isSchema(value)) return value;
    const name = root || !('properties' in value) ? undefined : names.get(JSON.stringify(value));
    if (name !== undefined) return refer(name);
    return Object.fromEntries(
      Object.entries(value).map(([key, child]) => [key, key === 'default' || key === 'x-default' || key === 'examples' ? child : withReferences(child)]),
    );
  };

  for (const [shape, schema] of Object.entries(shapeSchemas) as [FieldShape, z.ZodType][]) {
    if (isResource(shape)) continue;
    add(pascalCase(shape), describeFields(printAnswer(schema), shape) as JsonSchema);
    add(`${pascalCase(shape)}Input`, describeFields(printSent(schema), shape) as JsonSchema);
  }
  return {
    ofBody(route) {
      const { name, shape } = nameOfBody(route);
      const printed = printSent(route.body);
      return refer(add(name, shape === undefined ? printed : (describeFields(printed, shape) as JsonSchema)));
    },
    ofAnswer(route) {
      const { name, shape, list } = nameOfAnswer(route);
      const printed = printAnswer(route.answer);
      if (shape === undefined) return refer(add(name, printed));
      return refer(add(name, list ? describeItems(printed, shape) : (describeFields(printed, shape) as JsonSchema)));
    },
    schemas: () =>
      Object.fromEntries([...byName].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, schema]) => [name, withReferences(schema, true) as JsonSchema])),
  };
}

/** Resources have names of their own: what is answered of them is more than what is sent. */
const isResource = (shape: FieldShape): boolean =>
  ['upstream', 'model', 'price', 'load_balancer', 'mcp_server', 'search_provider', 'alert_channel', 'search_config', 'key_group', 'access_key'].includes(shape);
