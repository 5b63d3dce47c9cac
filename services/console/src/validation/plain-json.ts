/** Refuses parsed bodies that no honest client sends: too deep for recursion, or with keys that reach into prototypes. */
import { Problem } from '../problem.ts';

const maxDepth = 64;
const forbidden = new Set(['__proto__', 'constructor', 'prototype']);

/** Throws 400. Visits iteratively: the value is not trusted yet. */
export function assertPlainJson(value: unknown): void {
  const open: { value: unknown; depth: number }[] = [{ value, depth: 0 }];
  for (let next = open.pop(); next; next = open.pop()) {
    if (typeof next.value !== 'object' || next.value === null) continue;
    if (next.depth >= maxDepth) throw new Problem('invalid_request', `The body is nested more than ${maxDepth} levels deep.`);
    for (const [key, child] of Object.entries(next.value)) {
      if (forbidden.has(key)) throw new Problem('invalid_request', `The body holds a key that is not allowed: ${key}.`);
      if (typeof child === 'object' && child !== null) open.push({ value: child, depth: next.depth + 1 });
    }
  }
}
