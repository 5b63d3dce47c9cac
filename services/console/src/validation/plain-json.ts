/** Refuses parsed bodies that no honest client sends: too deep for recursion, too long for the schemas, or with keys that reach into prototypes. */
import { Problem } from '../problem.ts';

const maxDepth = 64;
const forbidden = new Set(['__proto__', 'constructor', 'prototype']);

/** Bounds on the size of a JSON value that is not trusted yet. */
export interface PlainLimits {
  /** Entries of one list. */
  listLength: number;
  /** Values in all. */
  values: number;
  /** Of each entry of the lists of the outermost object. Absent: as everything else. */
  sectionEntry?: PlainLimits;
}

/** Throws 400. Visits iteratively: the value is not trusted yet. */
export function assertPlainJson(value: unknown, limits: PlainLimits, depth = 0): void {
  const open: { value: unknown; depth: number }[] = [{ value, depth }];
  const { listLength, sectionEntry } = limits;
  let left = limits.values;
  for (let next = open.pop(); next; next = open.pop()) {
    if (typeof next.value !== 'object' || next.value === null) continue;
    if (next.depth >= maxDepth) throw new Problem('invalid_request', `The body is nested more than ${maxDepth} levels deep.`);
    const list = Array.isArray(next.value) ? next.value : null;
    if (list && list.length > listLength) throw new Problem('invalid_request', `The body holds a list of more than ${listLength} entries.`);
    const isSection = sectionEntry !== undefined && list !== null && next.depth === 1;
    for (const key of Object.keys(next.value)) {
      if (--left < 0) throw new Problem('invalid_request', `The body holds more than ${limits.values} values.`);
      if (forbidden.has(key)) throw new Problem('invalid_request', `The body holds a key that is not allowed: ${key}.`);
      const child = (next.value as Record<string, unknown>)[key];
      if (typeof child !== 'object' || child === null) continue;
      if (isSection) assertPlainJson(child, sectionEntry, next.depth + 1);
      else open.push({ value: child, depth: next.depth + 1 });
    }
  }
}
