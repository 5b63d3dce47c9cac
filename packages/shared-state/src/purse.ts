/** What this process has reserved of one budget: one question at a time, so that the figure is exact, and settlements in between are told after it. */
import type { Reserved } from '@model-gateway/limits';
import type { SharedState } from './state.ts';

export class Purse {
  readonly #state: SharedState;
  readonly #scope: string;
  readonly #asking: { amount: number; answered(allowed: boolean, reserved: Reserved): void }[] = [];
  #busy = false;
  #unsent: number | null = null;
  held = 0;

  constructor(state: SharedState, scope: string) {
    this.#state = state;
    this.#scope = scope;
  }

  /** Never rejects. Those who come while a question is under way are asked for together with the next one. */
  reserve(amount: number, limitOf: () => number): Promise<{ allowed: boolean; spent: number | null }> {
    return new Promise((resolve) => {
      this.#asking.push({ amount, answered: (allowed, { spent }) => resolve({ allowed, spent }) });
      this.#ask(limitOf);
    });
  }

  /** A reservation is over, and its request cost so much. */
  settle(amount: number, cost: number): void {
    this.held -= amount;
    this.#unsent = (this.#unsent ?? 0) + cost;
    if (!this.#busy) this.#send();
  }

  #ask(limitOf: () => number): void {
    if (this.#busy || this.#asking.length === 0) return;
    const batch = this.#asking.splice(0);
    const amounts = batch.map(({ amount }) => amount);
    const answered = (reserved: Reserved): void => {
      this.#busy = false;
      for (const amount of amounts.slice(0, reserved.granted)) this.held += amount;
      if (this.#unsent !== null) this.#send();
      for (const [at, one] of batch.entries()) one.answered(at < reserved.granted, reserved);
      this.#ask(limitOf);
    };
    this.#busy = true;
    const soon = this.#state.reserve(this.#scope, { limit: limitOf(), held: this.held, amounts });
    if (soon instanceof Promise) void soon.then(answered);
    else answered(soon);
  }

  #send(): void {
    const cost = this.#unsent ?? 0;
    this.#unsent = null;
    this.#state.charge(this.#scope, { held: this.held, cost });
  }
}
