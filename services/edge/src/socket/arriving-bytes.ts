/** Bytes of a WebSocket's messages that are not complete yet: the library collects them, and they count as request bodies do. */
import type { BodyBudget } from '../http/read-body.ts';

/** Of a caller's ping or pong, beside its words: two bytes of head and four of mask. */
const controlHead = 6;

export class ArrivingBytes {
  readonly #budget: BodyBudget;
  #held = 0;
  #closed = false;

  constructor(budget: BodyBudget) {
    this.#budget = budget;
  }

  /** false: there is no room for them. */
  take(bytes: number): boolean {
    if (this.#closed) return true;
    if (!this.#budget.take(bytes)) return false;
    this.#held += bytes;
    return true;
  }

  /** A message is complete. What came of the next with its last bytes is not counted: less than a read's worth. */
  release(): void {
    this.#budget.give(this.#held);
    this.#held = 0;
  }

  /** A ping or pong came, maybe in the middle of a message. */
  releaseControl(bytes: number): void {
    const given = Math.min(this.#held, bytes + controlHead);
    this.#held -= given;
    this.#budget.give(given);
  }

  /** The connection is gone. */
  close(): void {
    this.release();
    this.#closed = true;
  }
}
