/** Edits the records of one stream: most records begin with the same bytes, which contain the value to replace. */

import { applyEdits } from './apply-edits.ts';
import type { Edit } from './edit.ts';
import { matchesAt } from './matches-at.ts';
import { isBlank } from './syntax.ts';

/** Spelled in one way alone, but for `\u`. */
const plainKey = /^\w{1,64}$/;

/**
 * Returns what `applyEdits` returns. A top-level text is replaced by a search for its key or, where a record begins like the last one, together with
 * everything before it.
 */
export class RecordEditor {
  #key = '';
  #value = '';
  /** What the last such record began with, up to the end of the replaced value, and what it became. */
  #before = '';
  #after = '';

  /** `json` is `text`, parsed; at least the values that are replaced are those of `text`. */
  apply(text: string, json: unknown, edits: readonly Edit[]): string {
    const [edit] = edits;
    if (edits.length !== 1 || !edit || edit.insert || edit.path.length !== 1 || typeof edit.path[0] !== 'string' || typeof edit.value !== 'string')
      return applyEdits(text, edits);
    const [key] = edit.path;
    if (this.#fits(text, key, edit.value) || this.#learn(text, key, edit.value, json)) return this.#after + text.slice(this.#before.length);
    return applyEdits(text, edits);
  }

  #fits(text: string, key: string, value: string): boolean {
    const { length } = this.#before;
    if (length === 0 || key !== this.#key || value !== this.#value || !matchesAt(this.#before, text, 0)) return false;
    return isLast(text, key, length);
  }

  /** A key that is there, and is written once in all of the text, is the top-level one. */
  #learn(text: string, key: string, value: string, json: unknown): boolean {
    const old = (json as Record<string, unknown> | null)?.[key];
    if (typeof old !== 'string' || !plainKey.test(key)) return false;
    const spelled = `"${key}"`;
    const at = text.indexOf(spelled);
    if (at < 0) return false;
    let start = at + spelled.length;
    while (isBlank(text.charCodeAt(start))) start++;
    if (text[start] !== ':') return false;
    do start++;
    while (isBlank(text.charCodeAt(start)));
    const theirs = JSON.stringify(old);
    if (!matchesAt(theirs, text, start) || text.lastIndexOf('\\u', start) >= 0 || !isLast(text, key, start)) return false;
    this.#key = key;
    this.#value = value;
    this.#before = text.slice(0, start + theirs.length);
    this.#after = text.slice(0, start) + JSON.stringify(value);
    return true;
  }
}

/** Whether the key does not come again from `from` on, however it is spelled. */
const isLast = (text: string, key: string, from: number): boolean => !text.includes(JSON.stringify(key), from) && !text.includes('\\u', from);
