/** `append`: appends an element to the array at the path; a missing array is created. */
import type { Edit } from '@model-gateway/json-bytes';
import type { Mode } from '../mode.ts';
import { findWritable, type Path, pathOf } from '../path.ts';
import { readTarget } from '../targets.ts';
import { readValue } from '../value.ts';
import { writeAt } from '../write.ts';

/** `takes` selects the existing arrays to append to; a value of another type is left unchanged. */
export function appendTo(body: unknown, path: Path, value: unknown, takes: (array: readonly unknown[]) => boolean = () => true): Edit[] {
  return findWritable(body, path).flatMap(({ place, missing, value: there }): Edit[] => {
    if (missing.length > 0) return takes([]) ? [writeAt(place, missing, [value])] : [];
    if (there === null) return takes([]) ? [{ path: place, value: [value] }] : [];
    return Array.isArray(there) && takes(there) ? [{ path: [...place, there.length], value, insert: true }] : [];
  });
}

export const append: Mode = {
  takes: ['path', 'value'],
  compile(rule) {
    const path = readTarget(rule);
    const value = readValue(rule.value);
    return (body, { facts }) => {
      const next = value(facts);
      return next === undefined ? [] : appendTo(body, path, next);
    };
  },
  needs: ({ path }) => [{ path: pathOf(path), depth: 'length' }],
};
