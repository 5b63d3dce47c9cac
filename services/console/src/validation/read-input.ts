/** Runs a schema and tells every fault by field, never by value: a value may be a secret. */
import type { z } from 'zod';
import { type Detail, invalid } from '../problem.ts';
import { plainWords } from './plain-words.ts';

type Issue = z.core.$ZodIssue;

/** Throws a 422 that names the fields; `prefix` is put before each path. */
export function readInput<T>(schema: z.ZodType<T>, value: unknown, prefix = ''): T {
  const result = schema.safeParse(value, { error: plainWords });
  if (result.success) return result.data;
  throw invalid(faultsOf(result.error, prefix));
}

/** Nobody reads more of them. */
export const maxFaults = 50;

/** The first faults by field. */
export function faultsOf({ issues }: Pick<z.ZodError, 'issues'>, prefix: string): Detail[] {
  const faults = new Map<string, Detail>();
  for (const issue of issues) {
    // One text may break several rules: what it breaks first says most.
    for (const fault of describe(issue, prefix)) if (!faults.has(fault.field)) faults.set(fault.field, fault);
    if (faults.size >= maxFaults) break;
  }
  return [...faults.values()].slice(0, maxFaults);
}

export const joinPath = (prefix: string, ...path: readonly (string | number)[]): string => [...(prefix === '' ? [] : [prefix]), ...path].join('.');

function describe(issue: Issue, prefix: string): Detail[] {
  const field = joinPath(prefix, ...issue.path.map(String));
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.slice(0, 20).map((key) => ({ field: joinPath(field, key.slice(0, 100)), message: 'is not a known field' }));
  }
  // What was sent is the object among the choices when that one found its faults further in.
  const inner =
    issue.code === 'invalid_union'
      ? issue.errors.find((issues) => issues.every(({ path, code }) => path.length > 0 || code === 'unrecognized_keys'))
      : undefined;
  if (inner) return inner.flatMap((one) => describe(one as Issue, field));
  if (issue.code === 'invalid_key') return [{ field, message: issue.issues[0]?.message ?? issue.message }];
  if (issue.code === 'too_small' && issue.origin === 'string' && issue.minimum === 1) return [{ field, message: 'must not be empty' }];
  return [{ field: field || 'body', message: issue.message }];
}
