/**
 * Takes free text out of the JSON in which a model without free-text tools must write it, `{"input":"…"}`, fragment by fragment: what has been
 * written is shown at once. Arguments of any other form are kept until the end and read as a whole.
 */
import { asObject, asString, own } from './read.ts';

/** The one argument of a free-text tool that became a function. */
export const freeTextArgument = 'input';

/** How the expected JSON begins, up to the first character of the text. Blanks are bounded: a model's arguments have none, and a hostile upstream's may. */
const opening = /^\s{0,64}\{\s{0,64}"input"\s{0,64}:\s{0,64}"/;
/** No text that is longer than this and does not match `opening` ever will. */
const maxOpeningLength = 64 * 4 + 10;

const escapes: Readonly<Record<string, string>> = { '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

export class InputUnwrapper {
  #mode: 'opening' | 'text' | 'after' | 'whole' = 'opening';
  /** Before the text: everything so far. In it: an escape that is cut. */
  #held = '';
  #pieces: string[] = [];

  /** The text that this fragment adds; '' when nothing is sure yet. */
  push(fragment: string): string {
    if (this.#mode === 'after') return '';
    if (this.#mode === 'whole') {
      this.#pieces.push(fragment);
      return '';
    }
    const json = this.#held + fragment;
    this.#held = '';
    return this.#mode === 'text' ? this.#decode(json, 0) : this.#open(json);
  }

  /** What is left when the arguments have ended. */
  finish(): string {
    if (this.#mode === 'whole') return unwrapInput(this.#pieces.join(''));
    return this.#mode === 'opening' ? unwrapInput(this.#held) : '';
  }

  #open(json: string): string {
    const match = opening.exec(json);
    if (match) {
      this.#mode = 'text';
      return this.#decode(json, match[0].length);
    }
    if (json.length < maxOpeningLength) this.#held = json;
    else {
      this.#mode = 'whole';
      this.#pieces = [json];
    }
    return '';
  }

  /** Decodes from `at` to the closing quote or the end of what is there. */
  #decode(json: string, at: number): string {
    let text = '';
    for (let from = at; ; ) {
      const quote = json.indexOf('"', from);
      const slash = json.indexOf('\\', from);
      const end = quote < 0 ? json.length : quote;
      if (slash < 0 || slash > end) {
        if (quote >= 0) this.#mode = 'after';
        return text + json.slice(from, end);
      }
      text += json.slice(from, slash);
      const length = json[slash + 1] === 'u' ? 6 : 2;
      if (slash + length > json.length) {
        this.#held = json.slice(slash);
        return text;
      }
      text += decodeEscape(json.slice(slash + 1, slash + length));
      from = slash + length;
    }
  }
}

/** An escape that is none stays as it was written: a model's slip must not lose text. */
function decodeEscape(written: string): string {
  if (/^u[0-9a-fA-F]{4}$/.test(written)) return String.fromCharCode(Number.parseInt(written.slice(1), 16));
  return escapes[written] ?? `\\${written}`;
}

/** The free text inside whole arguments: `input`, or the one text there is. Anything else stays as it is. */
export function unwrapInput(argumentsText: string): string {
  let parsed: unknown;
  try {
    parsed = JSON.parse(argumentsText);
  } catch {
    // The model answered in plain text after all.
    return argumentsText;
  }
  const input = asString(own(parsed, freeTextArgument));
  if (input !== undefined) return input;
  const values = Object.values(asObject(parsed) ?? {});
  return values.length === 1 && typeof values[0] === 'string' ? values[0] : argumentsText;
}
