/** This process's permits in one scope: how many it has, one request at a time, and what was released while one was under way. */
import type { GateLimits, Taken } from '@model-gateway/limits';
import type { SharedState } from './state.ts';

export class Permits {
  readonly #state: SharedState;
  readonly #scope: string;
  #unsent = 0;
  #unmade = 0;
  #dirty = false;
  held = 0;
  /** A request is under way: `take` must wait for its answer. */
  busy = false;

  constructor(state: SharedState, scope: string) {
    this.#state = state;
    this.#scope = scope;
  }

  /** `answered` is called synchronously when the state is in this process. Not while `busy`. */
  take(limits: GateLimits, costs: readonly number[], waits: boolean, answered: (taken: Taken) => void): void {
    const counted = limits.maxConcurrency !== null;
    const soon = this.#state.take(this.#scope, limits, { held: counted ? this.held : 0, costs, waits });
    if (!(soon instanceof Promise)) {
      this.held += soon.granted;
      answered(soon);
      return;
    }
    this.busy = true;
    void soon.then((taken) => {
      this.busy = false;
      this.held += taken.granted;
      if (this.#dirty) this.#send(limits);
      answered(taken);
    });
  }

  /** Releases this many; `tokens` more were used than reserved. `unmade`: of these, calls that were never made; below zero: calls that nobody asked for. */
  give(limits: GateLimits, count: number, tokens: number, unmade = 0): void {
    this.held -= count;
    this.#unsent += tokens;
    this.#unmade += unmade;
    if (limits.maxConcurrency === null && this.#unsent === 0 && this.#unmade === 0) return;
    if (this.busy) this.#dirty = true;
    else this.#send(limits);
  }

  #send(limits: GateLimits): void {
    const tokens = this.#unsent;
    const unmade = this.#unmade;
    this.#unsent = 0;
    this.#unmade = 0;
    this.#dirty = false;
    this.#state.give(this.#scope, limits, { held: limits.maxConcurrency === null ? 0 : this.held, tokens, unmade });
  }
}
