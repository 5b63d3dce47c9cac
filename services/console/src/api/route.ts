/** A route of the API: mounted from this value and described from this value, so that neither can drift. */
import type { Request, Response } from 'express';
import type { z } from 'zod';
import { Problem } from '../problem.ts';

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
  /** Reads `If-Match`. */
  conditional?: boolean;
  /** Status of success. */
  status: number;
  /** What a success is as JSON; described here, and held against live answers by the tests. Absent where there is none. */
  answer?: z.ZodType;
  /** Content types that a success may have beside JSON, or instead of it. */
  answerTypes?: readonly string[];
  /** Statuses of failure beside those that every route has. */
  failures?: readonly number[];
  handle(request: Request, response: Response): Promise<void> | void;
}

export const base = '/console/api';

/** `{name}` → `:name`. */
export const toExpressPath = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ':$1');

/** A path parameter, decoded by the router. Throws 404 for what nothing is named: PostgreSQL does not even take it for a question. */
export function parameter(request: Request, name: string): string {
  const value = request.params[name];
  if (typeof value !== 'string' || value.includes('\0')) throw new Problem('not_found');
  return value;
}
