/** Collects what a translation could not carry: each field once, and never more than an operator can read. */
import type { Loss } from '@model-gateway/contracts';

const mostLosses = 64;

export class LossList {
  readonly items: Loss[] = [];
  readonly #seen = new Set<string>();

  /** `field` is made of our words and numbers, never of a caller's own text. */
  add(field: string, action: Loss['action'], detail: string): void {
    if (this.items.length >= mostLosses || this.#seen.has(field)) return;
    this.#seen.add(field);
    this.items.push({ field, action, detail });
  }
}
