/** What the query may hold: a filter or a switch that is misspelt would be ignored in silence, and answer or do something else than was asked for. */
import type { RequestHandler } from 'express';
import type { Route } from '../api/route.ts';
import { type Detail, invalid } from '../problem.ts';

const maxNamed = 20;

/** Refuses parameters that the route does not know, and values with a zero byte: no row holds one, and PostgreSQL takes such a text for an error instead of a question without answers. */
export function checkQuery({ query }: Pick<Route, 'query'>): RequestHandler {
  const known = new Set(Object.keys(query?.shape ?? {}));
  return (request, _response, next) => {
    const faults = Object.entries(request.query).flatMap(([name, value]): Detail[] => {
      const field = name.slice(0, 100);
      if (!known.has(name)) return [{ field, message: 'is not a known parameter' }];
      return [value].flat().some((one) => typeof one === 'string' && one.includes('\0')) ? [{ field, message: 'must not hold a zero byte' }] : [];
    });
    if (faults.length > 0) throw invalid(faults.slice(0, maxNamed));
    next();
  };
}
