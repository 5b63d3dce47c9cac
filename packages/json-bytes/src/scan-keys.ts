/** Recognises a few wanted keys at a position in JSON bytes, whatever escapes they are written with. */
import { backslash } from './syntax.ts';

/** `start` and `end` include the quotes; null when the key is none of the wanted. */
export type KeyMatcher<Key extends string> = (bytes: Buffer, start: number, end: number) => Key | null;

function equalsAscii(bytes: Buffer, start: number, text: string): boolean {
  for (let index = 0; index < text.length; index += 1) if (bytes[start + index] !== text.charCodeAt(index)) return false;
  return true;
}

function hasBackslash(bytes: Buffer, start: number, end: number): boolean {
  for (let position = start; position < end; position += 1) if (bytes[position] === backslash) return true;
  return false;
}

function decode(bytes: Buffer, start: number, end: number): string | null {
  try {
    return JSON.parse(bytes.toString('utf8', start, end)) as string;
  } catch {
    // A malformed escape spells no key that any JSON parser would read.
    return null;
  }
}

/**
 * Compiled matchers. Code that scans body after body passes the same list object, while a single key (for example the model's name in each reply)
 * comes in a new list each time and is looked up by its text.
 */
const ofLists = new WeakMap<readonly string[], KeyMatcher<string>>();
const ofKeys = new Map<string, KeyMatcher<string>>();
/** Keys are constants of the code, so that this bound is never reached in practice, and a look-up for each scan stays that of a plain Map. */
const maxKeys = 256;

export function keyMatcher<Key extends string>(keys: readonly Key[]): KeyMatcher<Key> {
  const lone = keys.length === 1 ? keys[0] : undefined;
  const known = lone === undefined ? ofLists.get(keys) : ofKeys.get(lone);
  if (known) return known as KeyMatcher<Key>;
  const made = createMatcher(keys);
  if (lone === undefined) ofLists.set(keys, made as KeyMatcher<string>);
  else if (ofKeys.size < maxKeys) ofKeys.set(lone, made as KeyMatcher<string>);
  return made;
}

function createMatcher<Key extends string>(keys: readonly Key[]): KeyMatcher<Key> {
  const byLength: Key[][] = [];
  for (const key of keys) {
    byLength[key.length] ??= [];
    byLength[key.length]?.push(key);
  }
  // No character of a wanted key takes more than the six bytes of `\u0000`: longer spellings need no decoding.
  const maxSpellingLength = 2 + 6 * keys.reduce((maxLength, key) => Math.max(maxLength, key.length), 0);
  return (bytes, start, end) => {
    if (end - start > maxSpellingLength) return null;
    const candidates = byLength[end - start - 2];
    if (candidates) for (const key of candidates) if (equalsAscii(bytes, start + 1, key)) return key;
    if (!hasBackslash(bytes, start + 1, end - 1)) return null;
    const decoded = decode(bytes, start, end);
    return keys.find((key) => key === decoded) ?? null;
  };
}
