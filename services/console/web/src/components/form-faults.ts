/** Faults of an answer as a form takes them. */
import { ApiProblem } from '../api/problem.ts';

/** By the first part of the field's path; `renamed` maps the API's field to the form's. */
export function faultsByField(error: Error, renamed: Readonly<Record<string, string>> = {}): Record<string, string> {
  if (!(error instanceof ApiProblem)) return {};
  return Object.fromEntries(
    error.details.map(({ field, message }) => {
      const [first = field] = field.split('.');
      return [renamed[first] ?? first, message];
    }),
  );
}
