/** Edits of the records of one stream: most begin with the same bytes, and the same value among these is replaced. */
import { applyEdits } from './apply-edits.ts';
import type { Edit } from './edit.ts';
import { stands } from './stands.ts';

/** A stream whose records begin differently is not looked at any longer. */
const mostMisses = 3;
const quoteText = '"';

/** Gives what `applyEdits` gives. Where one top-level text is replaced again by the same one, and all before and including it is as it was, only that is exchanged. */
export class RecordEditor {
  #key = '';
  #value = '';
  /** What the last such record began with, up to the end of the replaced value, and what it became. */
  #before = '';
  #after = '';
  #misses = 0;

  /** `json` is `text`, parsed. */
  apply(text: string, json: unknown, edits: readonly Edit[]): string {
    const [edit] = edits;
    if (edits.length !== 1 || !edit || edit.insert || edit.path.length !== 1 || typeof edit.path[0] !== 'string' || typeof edit.value !== 'string')
      return applyEdits(text, edits);
    if (this.#fits(text, edit.path[0], edit.value)) return this.#after + text.slice(this.#before.length);
    const edited = applyEdits(text, edits);
    if (this.#misses < mostMisses) this.#learn(text, edited, edit.path[0], edit.value, json);
    return edited;
  }

  #fits(text: string, key: string, value: string): boolean {
    const { length } = this.#before;
    if (length === 0 || key !== this.#key || value !== this.#value || !stands(this.#before, text, 0)) return false;
    // The key must not come again, however it is spelled.
    return !text.includes(JSON.stringify(key), length) && !text.includes('\\u', length);
  }

  #learn(text: string, edited: string, key: string, value: string, json: unknown): void {
    this.#misses++;
    const compact = `${JSON.stringify(key)}:`;
    const member = text.includes(compact + quoteText) ? compact : `${compact} `;
    const old = `${member}${JSON.stringify((json as Record<string, unknown> | null)?.[key])}`;
    const at = text.indexOf(old);
    if (at < 0) return;
    const before = text.slice(0, at + old.length);
    const after = `${text.slice(0, at)}${member}${JSON.stringify(value)}`;
    // Only if this place, and no other, is what the edit changed.
    if (edited !== after + text.slice(before.length)) return;
    if (before === this.#before) this.#misses = 0;
    this.#key = key;
    this.#value = value;
    this.#before = before;
    this.#after = after;
  }
}
