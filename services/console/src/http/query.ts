/** Refuses queries that hold a zero byte: no row does, and PostgreSQL takes such a text for an error instead of a question without answers. */
import type { NextFunction, Request, Response } from 'express';
import { type Detail, invalid } from '../problem.ts';

export function checkQuery(request: Request, _response: Response, next: NextFunction): void {
  const faults = Object.entries(request.query).flatMap(([field, value]): Detail[] =>
    [value].flat().some((one) => typeof one === 'string' && one.includes('\0')) ? [{ field: field.slice(0, 100), message: 'must not hold a zero byte' }] : [],
  );
  if (faults.length > 0) throw invalid(faults);
  next();
}
