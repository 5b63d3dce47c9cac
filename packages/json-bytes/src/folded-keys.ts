/**
 * Top-level keys that some JSON parsers treat as the same. Go's `encoding/json`, in which many OpenAI-compatible servers are written, matches keys
 * case-insensitively in ASCII and folds U+017F to `s` and U+212A to `k`: for such a server `"MODEL"` beside `"model"` is the model's name.
 */

import { backslash } from './syntax.ts';

/** No field of any protocol is spelled longer, even with every character escaped. */
const maxSpelling = 512;
const needsDecoding = /[\\\x80-\xff]/;
const foldable = /[A-Z\u017f\u212a]/g;

const foldCharacter = (character: string): string => (character === '\u017f' ? 's' : character.toLowerCase());

/** Whether these bytes are ASCII without capitals and escapes, as nearly all keys are. */
function isLowerCase(bytes: Buffer, start: number, end: number): boolean {
  for (let position = start; position < end; position++) {
    const byte = bytes[position]!;
    if (byte > 0x7f || byte === backslash || (byte >= 0x41 && byte <= 0x5a)) return false;
  }
  return true;
}

/** The key as a reader that folds case compares it. */
export const foldKey = (key: string): string => key.replace(foldable, foldCharacter);

/** The folded text of the key between the quotes at `start` and `end`; null when it is too long to be a field's name, or malformed. */
export function foldKeyBytes(bytes: Buffer, start: number, end: number): string | null {
  if (end - start > maxSpelling) return null;
  const plain = bytes.toString('latin1', start + 1, end - 1);
  if (isLowerCase(bytes, start + 1, end - 1)) return plain;
  if (!needsDecoding.test(plain)) return plain.toLowerCase();
  try {
    return foldKey(JSON.parse(bytes.toString('utf8', start, end)) as string);
  } catch {
    return null;
  }
}

/** Finds the first key of an object that repeats an earlier one, or is written like a known one but for case. */
export class FoldedKeys {
  /** By folded text, how a known key is written. */
  readonly #known: ReadonlyMap<string, string>;
  readonly #seen = new Map<string, string>();

  constructor(keys: readonly string[]) {
    this.#known = knownKeys(keys);
  }

  /** The error message for a refused key, or null. */
  add(bytes: Buffer, start: number, end: number): { message: string; param: string } | null {
    const folded = foldKeyBytes(bytes, start, end);
    if (folded === null) return null;
    // Of a key in lower case without escapes the folded text is the key: the text is made once.
    const key = isLowerCase(bytes, start + 1, end - 1) ? folded : bytes.toString('utf8', start + 1, end - 1);
    const earlier = this.#seen.get(folded);
    if (earlier !== undefined) return { message: repeats(earlier, key), param: key };
    this.#seen.set(folded, key);
    const known = this.#known.get(folded);
    return known === undefined || known === key || decoded(key) === known ? null : { message: `The key "${key}" must be written "${known}".`, param: key };
  }
}

function repeats(earlier: string, key: string): string {
  if (earlier === key) return `The key "${key}" is given twice.`;
  if (decoded(earlier) === decoded(key)) return `The key "${earlier}" is given twice, the second time written "${key}".`;
  return `The keys "${earlier}" and "${key}" differ in case alone: which one counts depends on who reads them.`;
}

/** The text of a key that may hold escapes; `add` has parsed it before. */
const decoded = (key: string): string => (key.includes('\\') ? (JSON.parse(`"${key}"`) as string) : key);

const ofLists = new WeakMap<readonly string[], ReadonlyMap<string, string>>();

function knownKeys(keys: readonly string[]): ReadonlyMap<string, string> {
  let known = ofLists.get(keys);
  if (!known) {
    known = new Map(keys.map((key) => [foldKey(key), key]));
    ofLists.set(keys, known);
  }
  return known;
}
