/** The OpenAPI 3.1 document, printed from the route table and the very schemas that validate. */
import type { z } from 'zod';
import { type Components, createComponents } from './components.ts';
import { type JsonSchema, printInput } from './json-schema.ts';
import { isPublic, permissionsOf } from './permissions.ts';
import { base, type Route } from './route.ts';

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
  const { properties = {}, required = [] } = printInput(query) as { properties?: Record<string, JsonSchema>; required?: string[] };
  // Parameters that only older clients send are accepted, but not documented.
  return Object.entries(properties)
    .filter(([, schema]) => schema['undocumented'] !== true)
    .map(([name, schema]) => ({ name, in: 'query', required: required.includes(name), schema }));
}

/** One content type for each success, so that generated clients know what they get. Other types that `Accept` may select are listed beside it. */
function describeSuccess(route: Route, components: Components): JsonSchema {
  const { status, answer, answerTypes = [] } = route;
  const content = answer
    ? { 'application/json': { schema: components.ofAnswer({ ...route, answer }) } }
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
  // What belongs to a person is refused to the secret key, whatever its rights.
  const isPersonal = route.path.startsWith(`${base}/my/`);
  return { access: { 'x-roles': roles }, refusals: roles.includes('member') && !isPersonal ? [] : [403] };
}

function describeOperation(route: Route, components: Components): JsonSchema {
  const { access, refusals } = describeAccess(route);
  const conditional = route.conditional ? [{ name: 'If-Match', in: 'header', required: false, schema: { type: 'string' } }] : [];
  const failures = [...new Set([...always, ...refusals, ...(route.body ? ofBodies : []), ...(route.failures ?? [])])].sort();
  const body = route.body && components.ofBody({ ...route, body: route.body });
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
      [route.status]: describeSuccess(route, components),
      ...Object.fromEntries(failures.map((status) => [status, { $ref: '#/components/responses/Error' }])),
    },
  };
}

export function openApiDocument(routes: readonly Route[]): JsonSchema {
  const components = createComponents();
  const paths: Record<string, JsonSchema> = {};
  for (const route of routes) {
    const path = paths[route.path] ?? {};
    path[route.method] = describeOperation(route, components);
    paths[route.path] = path;
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Model gateway console', version: '1', description: 'Unknown query parameters and unknown fields are refused with a 422 that names them.' },
    security: [{ token: [] }],
    paths,
    components: {
      schemas: components.schemas(),
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      responses: { Error: { description: 'Failure', content: { 'application/json': { schema: errorSchema } } } },
    },
  };
}
