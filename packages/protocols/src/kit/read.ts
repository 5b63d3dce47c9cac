/** Lenient reading of untrusted JSON: null and wrong types count as absent, and nothing is ever read from a prototype. */

export type JsonObject = Record<string, unknown>;

/** A plain object, or undefined for anything else (arrays included). */
export const asObject = (value: unknown): JsonObject | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;

/** An array, or undefined for anything else. */
export const asArray = (value: unknown): unknown[] | undefined => (Array.isArray(value) ? (value as unknown[]) : undefined);

/** A string ('' included), or undefined. */
export const asString = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** A finite number, or undefined. */
export const asNumber = (value: unknown): number | undefined => (typeof value === 'number' && Number.isFinite(value) ? value : undefined);

/** More tokens than any reply has, and few enough that sums and prices of them stay exact. */
const maxCounted = 1e12;

/** A token count: whole, 0 to 1e12; what is not a finite number is 0. */
export const asCount = (value: unknown): number => Math.min(maxCounted, Math.max(0, Math.trunc(asNumber(value) ?? 0)));

/** A boolean, or undefined. */
export const asBoolean = (value: unknown): boolean | undefined => (typeof value === 'boolean' ? value : undefined);

/** The object's own property; undefined when it is inherited, absent or null, or when `value` is not an object. */
export function own(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  // Looked at first: what is absent, the common case, needs no second look.
  const found = (value as JsonObject)[key] ?? undefined;
  return found !== undefined && Object.hasOwn(value, key) ? found : undefined;
}
