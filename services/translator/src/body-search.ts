/** Says whether a request's body holds some text: by what the edge's scan noted where it asked for it, else by a search. */
import type { Call } from './call.ts';

/** A search in a string costs a fraction of one in a buffer, but a string of this size and more costs its own page. */
const longestText = 64 * 1024;
const quote = 0x22;

export class BodySearch {
  readonly #call: Call;
  #text: string | undefined;

  constructor(call: Call) {
    this.#call = call;
  }

  /** ASCII alone. */
  contains(text: string): boolean {
    const { places, body } = this.#call;
    if (places && text.charCodeAt(0) === quote && text.charCodeAt(text.length - 1) === quote) {
      const word = text.slice(1, -1);
      if (places.asked.includes(word)) return places.words.includes(word);
    }
    if (body.length >= longestText) return body.includes(text, 0, 'latin1');
    this.#text ??= body.toString('latin1');
    return this.#text.includes(text);
  }

  /** A stream may go on for long: the text must not be kept with it. */
  forget(): void {
    this.#text = undefined;
  }
}
