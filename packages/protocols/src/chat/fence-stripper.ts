/** Takes a Markdown code fence off a text that comes in pieces; a text that does not begin with one passes unchanged. */

const dropBefore = '```';
/** Longest opening line (```json) and closing tail that is waited for. */
const maxOpeningLength = 40;
const maxTailLength = 64;

export class FenceStripper {
  #state: 'start' | 'plain' | 'fenced' = 'start';
  #held = '';

  /** What can be passed on now. */
  push(text: string): string {
    if (this.#state === 'plain') return text;
    this.#held += text;
    return this.#state === 'start' ? this.#open() : this.#body();
  }

  /** The rest at the end of the text. */
  end(): string {
    const rest = this.#held;
    this.#held = '';
    if (this.#state !== 'fenced') return rest;
    const tail = rest.trimEnd();
    return tail.endsWith(dropBefore) ? tail.slice(0, -dropBefore.length).trimEnd() : rest;
  }

  #open(): string {
    const text = this.#held.trimStart();
    const undecided = text.length < dropBefore.length ? dropBefore.startsWith(text) : text.startsWith(dropBefore) && !text.includes('\n');
    if (undecided && this.#held.length <= maxOpeningLength) return '';
    if (text.startsWith(dropBefore) && text.includes('\n')) {
      this.#state = 'fenced';
      this.#held = text.slice(text.indexOf('\n') + 1);
      return this.#body();
    }
    this.#state = 'plain';
    const out = this.#held;
    this.#held = '';
    return out;
  }

  /** All but a tail of blanks and backticks, which may turn out to be the end of the fence. */
  #body(): string {
    let end = this.#held.length;
    while (end > 0 && this.#held.length - end < maxTailLength && ' \t\r\n`'.includes(this.#held[end - 1] ?? 'x')) end--;
    const out = this.#held.slice(0, end);
    this.#held = this.#held.slice(end);
    return out;
  }
}
