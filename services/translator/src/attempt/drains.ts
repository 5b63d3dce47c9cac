/** Replies that are read on after their callers left, for the exact bill (`on_client_abort: drain`): so many at once, each for so long. */

export interface DrainOptions {
  /** At once, in this process; 0: none is read on. */
  max: number;
  /** Longest time that one is read on, in ms. */
  ms: number;
}

export class Drains {
  readonly ms: number;
  readonly #max: number;
  #under = 0;

  constructor({ max, ms }: DrainOptions) {
    this.#max = max;
    this.ms = ms;
  }

  /** false: there are enough, this one is to be cancelled. Who got true gives it back. */
  take(): boolean {
    if (this.#under >= this.#max) return false;
    this.#under++;
    return true;
  }

  giveBack(): void {
    this.#under--;
  }
}
