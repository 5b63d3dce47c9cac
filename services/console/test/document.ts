/** Holds answers against the API's own document, as a client that was generated from it would. */
import type { Ajv2020, ValidateFunction } from 'ajv/dist/2020.js';
import * as ajvModule from 'ajv/dist/2020.js';
import * as formatsModule from 'ajv-formats';

interface Operation {
  operationId: string;
  responses: Record<string, { $ref?: string; content?: Record<string, { schema: object }>; 'x-by-accept'?: string[] }>;
}

export interface OpenApiDocument {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, object>; responses: { Error: { content: Record<string, { schema: object }> } } };
}

const endings: Record<string, string> = { 'text/csv': '.csv', 'application/yaml': '.yaml' };

export interface AnswerChecker {
  /** Throws when the answer is not what the document says of this route. Gives the operation; null: no route of the document. */
  check(answer: { method: string; path: string; status: number; type: string | null; body: unknown }): string | null;
  /** Operations that answered with a success so far. */
  succeeded: Set<string>;
  operations: string[];
}

/** A part of the document, as references name it. */
const pointerTo = (...keys: (string | number)[]): string =>
  `#/${keys.map((key) => encodeURIComponent(`${key}`.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`;

export function createAnswerChecker(document: OpenApiDocument): AnswerChecker {
  const { paths } = document;
  const ajv: Ajv2020 = new ajvModule.Ajv2020({ allErrors: true, strictTypes: false, strictSchema: true });
  formatsModule.default.default(ajv);
  // Added whole, so that what many answers refer to is compiled once.
  ajv.addVocabulary(Object.keys(document));
  ajv.addSchema(document, 'document');
  const compiled = new Map<string, ValidateFunction>();
  const validate = (pointer: string, body: unknown, what: string): void => {
    const known = compiled.get(pointer) ?? ajv.compile({ $ref: `document${pointer}` });
    compiled.set(pointer, known);
    if (!known(body)) throw new Error(`${what}: ${ajv.errorsText(known.errors)} in ${JSON.stringify(body)?.slice(0, 2_000)}`);
  };
  // What has no parameters is found before what has.
  const routes = Object.entries(paths)
    .sort(([a], [b]) => a.split('{').length - b.split('{').length)
    .map(([path, operations]) => ({ path, pattern: new RegExp(`^${path.replaceAll(/[.]/g, '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`), operations }));
  const succeeded = new Set<string>();
  return {
    succeeded,
    operations: Object.values(paths).flatMap((operations) => Object.values(operations).map(({ operationId }) => operationId)),
    check({ method, path, status, type, body }) {
      const media = type?.split(';')[0] ?? null;
      const [plain = ''] = path.split('?');
      const operationOf = (where: string) => {
        const route = routes.find(({ pattern }) => pattern.test(where));
        const operation = route?.operations[method.toLowerCase()];
        return operation && { ...operation, pointer: ['paths', route.path, method.toLowerCase()] };
      };
      // `format=csv` on the path of the JSON is what the path of the table gives.
      const operation = (status < 400 && media !== null && endings[media] ? operationOf(`${plain}${endings[media]}`) : undefined) ?? operationOf(plain);
      const what = `${method} ${path} → ${status}`;
      if (status >= 400) {
        if (media !== 'application/json') throw new Error(`${what} is ${media}, not JSON`);
        validate(pointerTo('components', 'responses', 'Error', 'content', media, 'schema'), body, what);
        return operation?.operationId ?? null;
      }
      if (!operation) return null;
      const answer = operation.responses[status];
      if (!answer) throw new Error(`${what} is not described`);
      if (!answer.content) {
        if (body !== undefined && body !== '') throw new Error(`${what} has a body that is not described`);
      } else {
        if (media !== null && answer['x-by-accept']?.includes(media)) return operation.operationId;
        if (media === null || !answer.content[media]) throw new Error(`${what}: ${media} is not described`);
        validate(pointerTo(...operation.pointer, 'responses', status, 'content', media, 'schema'), body, what);
      }
      succeeded.add(operation.operationId);
      return operation.operationId;
    },
  };
}

type Schema = Record<string, unknown>;

/** The schema with everything that it refers to in place of the references. */
export function resolveReferences(value: unknown, document: OpenApiDocument): unknown {
  if (Array.isArray(value)) return value.map((item) => resolveReferences(item, document));
  if (typeof value !== 'object' || value === null) return value;
  const { $ref: reference } = value as Schema;
  if (typeof reference !== 'string' || !reference.startsWith('#/components/schemas/'))
    return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, resolveReferences(child, document)]));
  const found = document.components.schemas[reference.replace('#/components/schemas/', '')];
  if (!found) throw new Error(`${reference} refers to nothing`);
  return resolveReferences(found, document);
}
