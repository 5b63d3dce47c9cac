/** `overwrite`: sets the value at the path; missing parent objects are created. */
import type { Mode } from '../mode.ts';
import { findWritable, pathOf } from '../path.ts';
import { readTarget } from '../targets.ts';
import { readValue } from '../value.ts';
import { writeAt } from '../write.ts';

export const overwrite: Mode = {
  takes: ['path', 'value'],
  compile(rule) {
    const path = readTarget(rule);
    const value = readValue(rule.value);
    return (body, { facts }) => {
      const next = value(facts);
      return next === undefined ? [] : findWritable(body, path).map(({ place, missing }) => writeAt(place, missing, next));
    };
  },
  needs: ({ path }) => [{ path: pathOf(path), depth: 'place' }],
};
