/** Edits made on a JSON value instead of its text: for bodies that are not printed yet. */
import type { Edit } from '@model-gateway/json-bytes';

type Holder = Record<string | number, unknown>;

/** The value with the edits; it is changed in place, so it must be ours. A path that leads nowhere changes nothing. */
export function asEdited(value: unknown, edits: readonly Edit[]): unknown {
  for (const edit of edits) apply(value, edit);
  return value;
}

function apply(value: unknown, { path, value: next, add }: Edit): void {
  let holder: unknown = value;
  for (const step of path.slice(0, -1)) holder = child(holder, step);
  const last = path.at(-1);
  if (last === undefined || typeof holder !== 'object' || holder === null) return;
  if (next === undefined && Array.isArray(holder)) holder.splice(Number(last), 1);
  else if (next === undefined) delete (holder as Holder)[last];
  else if (add || Object.hasOwn(holder, last)) (holder as Holder)[last] = next;
}

const child = (holder: unknown, step: string | number): unknown =>
  typeof holder === 'object' && holder !== null && Object.hasOwn(holder, step) ? (holder as Holder)[step] : undefined;
