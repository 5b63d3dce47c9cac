/**
 * What a stream's event adds to a text, whichever way the model streams: some send the next piece, others repeat the whole text so far however they
 * were asked (`incremental_output`). Nothing that was said can be taken back, so a piece that fits both readings waits until one of them is refuted.
 */

type Mode = 'unknown' | 'incremental' | 'cumulative';

/** A piece that repeats this much of the text before it, from its very beginning, is no next piece. */
const convincing = 16;

/** What is known of the whole stream; the texts of one reply share it. */
export interface StreamManner {
  mode: Mode;
}

/** Evidence beside the text itself. */
export interface PieceContext {
  /** false: the count of output tokens stood still since the last event, so nothing new can have been said. undefined: not counted. */
  grew: boolean | undefined;
  /** The event that ends the reply. */
  last: boolean;
}

/** One text of a reply: the answer, the reasoning, or the arguments of one call. */
export class Increments {
  readonly #manner: StreamManner;
  readonly #json: boolean;
  #mode: Mode = 'unknown';
  /** While unknown, the latest piece: under the cumulative reading the whole text so far. Shorter than what convinces, or the first. */
  #latest = '';
  /** All pieces one after the other: the text under the incremental reading. Never sliced once decided: that would copy it for every event. */
  #joined = '';
  /** Length of what was given out; both readings agree on it. */
  #given = 0;
  #repeats = 0;

  /** `json`: the text is a JSON object, which cannot begin twice. */
  constructor(manner: StreamManner, json = false) {
    this.#manner = manner;
    this.#json = json;
  }

  /** What to give out now; '' when nothing, or not yet. */
  push(piece: string, { grew, last }: PieceContext): string {
    if (piece === '') return this.#flush('incremental');
    if (this.#mode === 'unknown') this.#judge(piece, grew, last);
    if (this.#mode === 'cumulative') return this.#repeat(piece);
    if (this.#mode === 'incremental') return this.#append(piece, grew, last);
    const first = this.#latest === '';
    this.#latest = piece;
    this.#joined += piece;
    // Held back from the second piece on, until it is known how they go together.
    if (first) return this.#give(piece);
    return last ? this.finish() : '';
  }

  /** The reply ended: what is still held back. More than one repetition is no chance; a single one is, since pieces were asked for. */
  finish(): string {
    return this.#flush(this.#repeats > 1 ? 'cumulative' : 'incremental');
  }

  #flush(mode: 'incremental' | 'cumulative'): string {
    if (this.#mode !== 'unknown' || this.#given === this.#joined.length) return '';
    this.#decide(mode);
    return mode === 'cumulative' ? this.#repeat(this.#latest) : this.#give(this.#joined);
  }

  #judge(piece: string, grew: boolean | undefined, last: boolean): void {
    const before = this.#latest;
    if (before === '') return;
    if (!piece.startsWith(before)) return this.#decide('incremental');
    this.#repeats += last ? 2 : 1;
    const convinced = before.length >= convincing || (this.#json && before.trimStart().startsWith('{')) || (grew === false && piece === before);
    if (convinced || this.#manner.mode === 'cumulative') this.#decide('cumulative');
    else if (this.#manner.mode === 'incremental') this.#decide('incremental');
  }

  #decide(mode: 'incremental' | 'cumulative'): void {
    this.#mode = mode;
    if (this.#manner.mode === 'unknown') this.#manner.mode = mode;
  }

  /** The whole text once more: only its end is new. A text that was changed afterwards gives what it is longer by. */
  #repeat(whole: string): string {
    return whole.length > this.#given ? this.#give(whole) : '';
  }

  #append(piece: string, grew: boolean | undefined, last: boolean): string {
    // Some models that stream pieces end with the whole text.
    if (last && grew === false && piece.length >= convincing && piece.length === this.#joined.length && piece === this.#joined) return '';
    const held = this.#given < this.#joined.length ? this.#joined.slice(this.#given) : '';
    this.#joined += piece;
    this.#given = this.#joined.length;
    return held + piece;
  }

  #give(text: string): string {
    const fresh = text.slice(this.#given);
    this.#given = text.length;
    return fresh;
  }
}
