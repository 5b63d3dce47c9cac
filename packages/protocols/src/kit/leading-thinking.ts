/** Some models put their reasoning in front of the answer, between tags. Only the very beginning of a text is looked at. */

export interface SplitText {
  kind: 'text' | 'thinking';
  text: string;
}

export class LeadingThinking {
  readonly #open: string;
  readonly #close: string;
  #place: 'before' | 'inside' | 'between' | 'after' = 'before';
  #thought = false;
  /** What may be the beginning of a tag. */
  #held = '';

  /** `tag`: its name. */
  constructor(tag: string) {
    this.#open = `<${tag}>`;
    this.#close = `</${tag}>`;
  }

  /** The answer itself has begun: whatever comes is text. */
  get over(): boolean {
    return this.#place === 'after';
  }

  /** Something is held that may be text or the beginning of a tag. */
  get undecided(): boolean {
    return this.#place === 'before' && this.#held !== '';
  }

  push(piece: string): SplitText[] {
    if (this.#place === 'after') return said('text', piece);
    if (this.#place === 'between') return this.#goOn(piece);
    this.#held += piece;
    return this.#place === 'before' ? this.#begin() : this.#inside();
  }

  /** The text ended: what was held is what it looks like. */
  finish(): SplitText[] {
    const rest = this.#held;
    this.#held = '';
    const kind = this.#place === 'inside' ? 'thinking' : 'text';
    this.#place = 'after';
    return said(kind, rest);
  }

  #begin(): SplitText[] {
    const text = this.#held.trimStart();
    // Blank so far, or a part of the tag: at most a few characters, or blanks that are nothing to wait for for ever.
    if (this.#open.startsWith(text) && this.#held.length < 64) return [];
    if (!text.startsWith(this.#open)) return this.finish();
    this.#place = 'inside';
    this.#held = text.slice(this.#open.length);
    return this.#inside();
  }

  #inside(): SplitText[] {
    // A model that does not think writes empty tags, with blanks between them.
    if (!this.#thought) this.#held = this.#held.trimStart();
    const at = this.#held.indexOf(this.#close);
    if (at >= 0) {
      const thought = this.#held.slice(0, at);
      const rest = this.#held.slice(at + this.#close.length);
      this.#held = '';
      return [...said('thinking', thought), ...this.#goOn(rest)];
    }
    const kept = beginningOf(this.#close, this.#held);
    const thought = this.#held.slice(0, this.#held.length - kept);
    this.#thought ||= thought !== '';
    this.#held = this.#held.slice(this.#held.length - kept);
    return said('thinking', thought);
  }

  /** Empty lines between the tag and the answer belong to neither. */
  #goOn(piece: string): SplitText[] {
    const text = piece.replace(/^\n+/, '');
    this.#place = text === '' ? 'between' : 'after';
    return said('text', text);
  }
}

const said = (kind: SplitText['kind'], text: string): SplitText[] => (text === '' ? [] : [{ kind, text }]);

/** How many characters at the end of `text` are the beginning of `tag`. */
function beginningOf(tag: string, text: string): number {
  for (let length = Math.min(tag.length - 1, text.length); length > 0; length--) if (text.endsWith(tag.slice(0, length))) return length;
  return 0;
}
