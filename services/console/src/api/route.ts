/** A route of the API: mounted from this value and described from this value, so that neither can drift. */
import type { Request, Response } from 'express';
import type { z } from 'zod';
import { Problem } from '../problem.ts';

/** One route of the API: how it is mounted, validated and described in the OpenAPI document. */
export interface Route {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** Whole path, parameters as `{name}`. */
  path: string;
  operationId: string;
  summary: string;
  /** Resource or area, for the document. */
  tag: string;
  query?: z.ZodObject;
  /** What the body must be; described, and read by the handler. */
  body?: z.ZodType;
  /** Also takes YAML. */
  yaml?: boolean;
  /** The body holds lists of resources, and may be as long as they are. */
  sections?: boolean;
  /** Reads `If-Match`. */
  conditional?: boolean;
  /** Status of success. */
  status: number;
  /** What a success is as JSON; described here, and held against live answers by the tests. Absent where there is none. */
  answer?: z.ZodType;
  /** Content types of a success that is not JSON; beside `answer`, what the caller's Accept may ask for instead. */
  answerTypes?: readonly string[];
  /** Its answer comes as text too, by `format` (and by a path of its own with this ending): each path has one type of answer, as generated clients need. */
  textForm?: keyof typeof textForms;
  /** Statuses of failure beside those that every route has. */
  failures?: readonly number[];
  handle(request: Request, response: Response): Promise<void> | void;
}

/** Forms of an answer for other programs than clients of the API. */
export const textForms = { csv: 'text/csv', yaml: 'application/yaml' } as const;

/** The route, and where its answer comes as text too the same under its own path: `stats/top` gives JSON, `stats/top.csv` a table. */
export function withTextForm(route: Route): Route[] {
  const { textForm: form, query, answer: _answer, ...rest } = route;
  if (form === undefined) return [route];
  const text: Route = {
    ...rest,
    path: `${route.path}.${form}`,
    operationId: `${route.operationId}_${form}`,
    summary: `${route.summary}; as ${form === 'csv' ? 'a table (CSV)' : 'YAML'}`,
    ...(query && { query: query.omit({ format: true }) }),
    answerTypes: [textForms[form]],
    handle(request, response) {
      Object.defineProperty(request, 'query', { value: { ...request.query, format: form } });
      return route.handle(request, response);
    },
  };
  return [route, text];
}

/** Whose permissions hold for a path: the same data is the same secret in another form. */
export const withoutTextForm = (path: string): string => path.replace(/\.(?:csv|yaml)$/, '');

export const base = '/console/api';

/** `{name}` → `:name`. */
export const toExpressPath = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ':$1');

/** A path parameter, decoded by the router. Throws 404 for what nothing is named: PostgreSQL does not even take it for a question. */
export function parameter(request: Request, name: string): string {
  const value = request.params[name];
  if (typeof value !== 'string' || value.includes('\0')) throw new Problem('not_found');
  return value;
}
