/** Finds out whether a JSON array holds objects that say next to nothing, without parsing the others. */
import { asBuffer, skipBlanks, skipValue, walkArray, walkObject } from './cursor.ts';
import { keyMatcher } from './scan-keys.ts';
import { braceOpen, bracketOpen } from './syntax.ts';

/**
 * Whether an element of the array is an object of these keys alone, and of one of them at least. Example: with `['id', 'type']` `[{"id":"a"}]` has one,
 * `[{"id":"a","role":"user"}]` has none. The bytes are known to be JSON; false for anything but an array.
 */
export function hasElementOfKeys(source: Uint8Array, keys: readonly string[]): boolean {
  const bytes = asBuffer(source);
  const start = skipBlanks(bytes, 0);
  if (bytes[start] !== bracketOpen) return false;
  const matches = keyMatcher(keys);
  let found = false;
  walkArray(bytes, start, (_index, at) => {
    if (bytes[at] === braceOpen) {
      let members = 0;
      const end = walkObject(bytes, at, (keyStart, keyEnd, valueStart) => {
        members += 1;
        return matches(bytes, keyStart, keyEnd) === null ? -1 : skipValue(bytes, valueStart);
      });
      found = end >= 0 && members > 0;
    }
    return found ? -1 : skipValue(bytes, at);
  });
  return found;
}
