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

export function createAnswerChecker({ paths, components }: OpenApiDocument): AnswerChecker {
  const ajv: Ajv2020 = new ajvModule.Ajv2020({ allErrors: true, strictTypes: false, strictSchema: true });
  formatsModule.default.default(ajv);
  // References point below `components`, so each schema is compiled with them beside it.
  ajv.addVocabulary(['components']);
  const compiled = new Map<object, ValidateFunction>();
  const validate = (schema: object, body: unknown, what: string): void => {
    const known = compiled.get(schema) ?? ajv.compile({ ...schema, components });
    compiled.set(schema, known);
    if (!known(body)) throw new Error(`${what}: ${ajv.errorsText(known.errors)} in ${JSON.stringify(body)?.slice(0, 2_000)}`);
  };
  // What has no parameters is found before what has.
  const routes = Object.entries(paths)
    .sort(([a], [b]) => a.split('{').length - b.split('{').length)
    .map(([path, operations]) => ({ pattern: new RegExp(`^${path.replaceAll(/[.]/g, '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`), operations }));
  const succeeded = new Set<string>();
  return {
    succeeded,
    operations: Object.values(paths).flatMap((operations) => Object.values(operations).map(({ operationId }) => operationId)),
    check({ method, path, status, type, body }) {
      const media = type?.split(';')[0] ?? null;
      const [plain = ''] = path.split('?');
      const operationOf = (where: string) => routes.find(({ pattern }) => pattern.test(where))?.operations[method.toLowerCase()];
      // `format=csv` on the path of the JSON is what the path of the table gives.
      const operation = (status < 400 && media !== null && endings[media] ? operationOf(`${plain}${endings[media]}`) : undefined) ?? operationOf(plain);
      const what = `${method} ${path} → ${status}`;
      if (status >= 400) {
        if (media !== 'application/json') throw new Error(`${what} is ${media}, not JSON`);
        validate(components.responses.Error.content['application/json']!.schema, body, what);
        return operation?.operationId ?? null;
      }
      if (!operation) return null;
      const answer = operation.responses[status];
      if (!answer) throw new Error(`${what} is not described`);
      if (!answer.content) {
        if (body !== undefined && body !== '') throw new Error(`${what} has a body that is not described`);
      } else {
        if (media !== null && answer['x-by-accept']?.includes(media)) return operation.operationId;
        const described = media === null ? undefined : answer.content[media];
        if (!described) throw new Error(`${what}: ${media} is not described`);
        validate(described.schema, body, what);
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
