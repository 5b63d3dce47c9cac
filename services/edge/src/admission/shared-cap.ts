/**
 * A cap on what is under way, shared by all edges. This one takes places in bulk and hands them out itself, so that a request costs one comparison;
 * only at the end of what it has does it ask, and what it does not use goes back within a second.
 */

import { Permits, type SharedState } from '@model-gateway/distributed-state';
import { capOf, type GateLimits } from '@model-gateway/limits';

/** Places kept at hand: a share of the cap, so that a small cap is exact, and a few at most. */
const spareOf = (cap: number): number => Math.min(16, Math.floor(cap / 64));
const tendMs = 250;

export class SharedCap {
  readonly cap: number;
  readonly #limits: GateLimits;
  readonly #permits: Permits;
  readonly #spare: number;
  readonly #asking: ((entered: boolean) => void)[] = [];
  readonly #shared: boolean;
  #timer: NodeJS.Timeout | undefined;
  used = 0;

  constructor(cap: number, scope: string, state: SharedState) {
    this.cap = cap;
    this.#limits = capOf(cap);
    this.#permits = new Permits(state, scope);
    this.#spare = spareOf(cap);
    this.#shared = state.status().backend !== 'memory';
    // Nobody to share with: all of it is ours.
    if (!this.#shared) this.#permits.held = cap;
  }

  /** true: there is a place, and it is taken. A promise: another process may have it. */
  enter(): boolean | Promise<boolean> {
    if (this.used < this.#permits.held) {
      this.used++;
      return true;
    }
    if (!this.#shared || this.used >= this.cap) return false;
    return new Promise((resolve) => {
      this.#asking.push(resolve);
      this.#ask();
    });
  }

  leave(): void {
    this.used--;
    if (this.#shared && this.#permits.held - this.used > this.#spare) this.#tend();
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #ask(): void {
    if (this.#permits.busy) return;
    // Places may have come free meanwhile.
    this.#serve(this.#asking.length, false);
    const asked = this.#asking.length;
    if (asked === 0) return;
    const wanted = Math.min(this.cap, asked + this.#spare);
    this.#permits.take(this.#limits, Array<number>(wanted).fill(0), false, () => {
      // Those who came while the question was under way have not been asked for.
      this.#serve(asked, true);
      this.#tend();
      this.#ask();
    });
  }

  /** The first so many; `all`: those without a place are refused. */
  #serve(count: number, all: boolean): void {
    for (let served = 0; served < count; served++) {
      const free = this.used < this.#permits.held;
      if (!free && !all) return;
      if (free) this.used++;
      this.#asking.shift()?.(free);
    }
  }

  /** Gives back what is not used, soon and all at once. */
  #tend(): void {
    this.#timer ??= setTimeout(
      () => {
        this.#timer = undefined;
        const idle = this.#permits.held - this.used - this.#spare;
        if (idle > 0) this.#permits.give(this.#limits, idle, 0);
      },
      this.#spare > 0 ? tendMs : 0,
    ).unref();
  }
}
