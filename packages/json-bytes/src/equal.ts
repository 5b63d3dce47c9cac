/** Equality of parsed JSON: numbers by value, objects whatever the order of their keys. */

const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** The walk is bounded by `a`, so pass the trusted value there. */
export function jsonEqual(a: unknown, b: unknown): boolean {
  if (!isContainer(a) || !isContainer(b)) return a === b;
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((value, index) => jsonEqual(value, b[index]));
  if (Array.isArray(b)) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && jsonEqual((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]));
}
