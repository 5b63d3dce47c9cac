/** Puts a value at a place whose last keys may be missing. */
import type { Edit } from '@model-gateway/json-bytes';
import type { Place } from './path.ts';

/** `missing` are the keys that do not exist below `place`: objects are made for all but the last. */
export function writeAt(place: Place, missing: readonly string[], value: unknown): Edit {
  const [first, ...rest] = missing;
  if (first === undefined) return { path: place, value };
  return { path: [...place, first], value: rest.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value), add: true };
}

/** Takes a key out of its object, or an element out of its array. */
export const removeAt = (place: Place): Edit => ({ path: place, value: undefined });
