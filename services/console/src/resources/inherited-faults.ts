/** Faults that a stored resource had before it was changed: checks grow stricter, and rows of earlier versions must stay editable. */
import { isDeepStrictEqual } from 'node:util';
import type { ConsoleContext } from '../context.ts';
import type { Detail } from '../problem.ts';
import type { Resource } from './resource.ts';

type Checked<D extends { name: string }, I extends { name: string }> = Pick<Resource<D, I>, 'schema' | 'toInput' | 'check'>;

/**
 * Tells whether a fault of `input` is inherited: its field is as it is stored, and what is stored has the very same fault. The second counts
 * too, since a check may read several fields: one that another field's change brought about is new.
 */
export function inheritedFaults<D extends { name: string }, I extends { name: string }>(
  resource: Checked<D, I>,
  { existing, input }: { existing: D; input: I },
  context: ConsoleContext,
): (fault: Detail) => boolean {
  const { success, data: before } = resource.schema.safeParse(withoutNulls(resource.toInput(existing)));
  if (!success) return () => false;
  const known = new Set(resource.check(before, context).map(identify));
  const isUnchanged = (field: string): boolean => isDeepStrictEqual(Reflect.get(before, field), Reflect.get(input, field));
  return (fault) => known.has(identify(fault)) && isUnchanged(fault.field.split('.', 1)[0] ?? '');
}

const identify = ({ field, message }: Detail): string => `${field}\n${message}`;

/** null means the default, which is what a field has that is not there. */
export const withoutNulls = (fields: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
