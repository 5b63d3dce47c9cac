/** `remove`: removes the key or array element at the path. */
import type { Mode } from '../mode.ts';
import { findAll, pathOf } from '../path.ts';
import { readTarget } from '../targets.ts';
import { removeAt } from '../write.ts';

export const remove: Mode = {
  takes: ['path'],
  compile(rule) {
    const path = readTarget(rule);
    return (body) => findAll(body, path).map(({ place }) => removeAt(place));
  },
  needs: ({ path }) => [{ path: pathOf(path), depth: 'place' }],
  moves: ({ path }) => /(?:^|\.)(?:\*|\d+)$/.test(path ?? ''),
};
