/** `add-if-absent`: adds the key with this value unless it exists; missing parent objects are created. */
import type { Mode } from '../mode.ts';
import { findWritable, pathOf } from '../path.ts';
import { readTarget } from '../targets.ts';
import { readValue } from '../value.ts';
import { writeAt } from '../write.ts';

export const addIfAbsent: Mode = {
  takes: ['path', 'value'],
  compile(rule) {
    const path = readTarget(rule);
    const value = readValue(rule.value);
    return (body, { facts }) => {
      const absent = findWritable(body, path).filter(({ missing }) => missing.length > 0);
      const next = absent.length === 0 ? undefined : value(facts);
      return next === undefined ? [] : absent.map(({ place, missing }) => writeAt(place, missing, next));
    };
  },
  needs: ({ path }) => [{ path: pathOf(path), depth: 'place' }],
};
