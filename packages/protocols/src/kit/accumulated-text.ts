/** Text that grows by small pieces and may grow long. */

/** A piece of flat text is made of this many characters: the most that is kept as a tree of its pieces. */
const blockLength = 8192;
const maxPieces = 1024;

/**
 * `text += piece` keeps every piece and a node for each, five to ten times the text itself for the few letters that models send at once,
 * until something reads it. Here all but the last few thousand characters are flat.
 */
export class AccumulatedText {
  #blocks: string;
  #recent: string[] = [];
  #recentLength = 0;

  constructor(text = '') {
    this.#blocks = text;
  }

  add(piece: string): void {
    this.#recent.push(piece);
    this.#recentLength += piece.length;
    if (this.#recentLength < blockLength && this.#recent.length < maxPieces) return;
    this.#blocks += this.#recent.join('');
    this.#recent = [];
    this.#recentLength = 0;
  }

  get length(): number {
    return this.#blocks.length + this.#recentLength;
  }

  toString(): string {
    return this.#blocks + this.#recent.join('');
  }
}
