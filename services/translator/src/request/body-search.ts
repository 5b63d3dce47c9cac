/** Says whether a request's body holds some text: by what the edge's scan noted where it asked for it, else by a search. */
import type { RequestBody } from './body.ts';

/** A search in a string costs a fraction of one in a buffer, but a string of this size and more costs its own page. */
const maxTextLength = 64 * 1024;
/** The words of quoted texts, which are few constants; null: no quoted text. */
const words = new Map<string, string | null>();

function wordOf(text: string): string | null {
  let word = words.get(text);
  if (word === undefined) {
    word = text.length > 2 && text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : null;
    words.set(text, word);
  }
  return word;
}

export class BodySearch {
  readonly #body: RequestBody;
  #text: string | undefined;

  constructor(body: RequestBody) {
    this.#body = body;
  }

  /** ASCII alone, and one of the protocols' own texts, never a caller's. */
  contains(text: string): boolean {
    const { places, bytes } = this.#body;
    const word = places ? wordOf(text) : null;
    if (places && word !== null && places.asked.includes(word)) return places.words.includes(word);
    if (bytes.length >= maxTextLength) return bytes.includes(text, 0, 'latin1');
    this.#text ??= bytes.toString('latin1');
    return this.#text.includes(text);
  }

  /** A stream may go on for long: the text must not be kept with it. */
  forget(): void {
    this.#text = undefined;
  }
}
