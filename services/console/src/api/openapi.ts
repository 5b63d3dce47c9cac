/** The OpenAPI 3.1 document, printed from the route table and the very schemas that validate. */
import { z } from 'zod';
import { isPublic, permissionsOf } from './permissions.ts';
import type { Route } from './route.ts';

type JsonSchema = Record<string, unknown>;

/** By schema: several routes have the same, and so have all consoles of a process. */
const printed = { input: new WeakMap<z.ZodType, JsonSchema>(), output: new WeakMap<z.ZodType, JsonSchema>() };

/** Any JSON value needs no recursive definition in the document. What it gives is shared: nobody changes it. */
function toJsonSchema(schema: z.ZodType, io: 'input' | 'output' = 'input'): JsonSchema {
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

const errorSchema: JsonSchema = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message'],
      properties: {
        code: { type: 'string' },
        message: { type: 'string' },
        details: {
          type: 'array',
          items: { type: 'object', required: ['field', 'message'], properties: { field: { type: 'string' }, message: { type: 'string' } } },
        },
      },
    },
  },
};

const always = [400, 401, 422, 503];
/** Too large, and of another type. */
const ofBodies = [413, 415];

const pathParameters = (path: string) =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({ name, in: 'path', required: true, schema: { type: 'string', maxLength: 200 } }));

function queryParameters(query: z.ZodObject | undefined) {
  if (!query) return [];
  const { properties = {}, required = [] } = toJsonSchema(query) as { properties?: Record<string, JsonSchema>; required?: string[] };
  // Parameters that only older clients send are accepted, but not documented.
  return Object.entries(properties)
    .filter(([, schema]) => schema['undocumented'] !== true)
    .map(([name, schema]) => ({ name, in: 'query', required: required.includes(name), schema }));
}

/** One content type for each success, so that generated clients know what they get. Other types that `Accept` may select are listed beside it. */
function describeSuccess({ status, answer, answerTypes = [] }: Route): JsonSchema {
  const content = answer
    ? { 'application/json': { schema: withoutPatterns(toJsonSchema(answer, 'output')) } }
    : Object.fromEntries(answerTypes.map((type) => [type, { schema: { type: 'string' } }]));
  return {
    description: status === 303 ? 'Elsewhere' : 'Success',
    ...(Object.keys(content).length > 0 && { content }),
    ...(answer && answerTypes.length > 0 && { 'x-by-accept': answerTypes }),
  };
}

/** Who may use it: nobody needs a credential, everybody who has one, or some roles alone. */
function describeAccess(route: Route): { access: JsonSchema; refusals: number[] } {
  if (isPublic(route)) return { access: { security: [] }, refusals: [] };
  const roles = permissionsOf(route.path, route.method) ?? [];
  return { access: { 'x-roles': roles }, refusals: roles.includes('monitor') ? [] : [403] };
}

function describeOperation(route: Route): JsonSchema {
  const { access, refusals } = describeAccess(route);
  const conditional = route.conditional ? [{ name: 'If-Match', in: 'header', required: false, schema: { type: 'string' } }] : [];
  const failures = [...new Set([...always, ...refusals, ...(route.body ? ofBodies : []), ...(route.failures ?? [])])].sort();
  const body = route.body && toJsonSchema(route.body);
  return {
    operationId: route.operationId,
    summary: route.summary,
    tags: [route.tag],
    ...access,
    parameters: [...pathParameters(route.path), ...queryParameters(route.query), ...conditional],
    ...(body && {
      requestBody: { required: true, content: { 'application/json': { schema: body }, ...(route.yaml && { 'application/yaml': { schema: body } }) } },
    }),
    responses: {
      [route.status]: describeSuccess(route),
      ...Object.fromEntries(failures.map((status) => [status, { $ref: '#/components/responses/Error' }])),
    },
  };
}

export function openApiDocument(routes: readonly Route[]): JsonSchema {
  const paths: Record<string, JsonSchema> = {};
  for (const route of routes) {
    const path = paths[route.path] ?? {};
    path[route.method] = describeOperation(route);
    paths[route.path] = path;
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Model gateway console', version: '1', description: 'Unknown query parameters and unknown fields are refused with a 422 that names them.' },
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      responses: { Error: { description: 'Failure', content: { 'application/json': { schema: errorSchema } } } },
    },
  };
}
