/** Asks now and then whether the budget of an open connection's caller is spent. */
import type { EdgeContext } from '../context.ts';
import { isBudgeted } from './budgets.ts';
import type { Principal } from './credentials.ts';

const checkMs = 2000;

export class BudgetWatch {
  readonly #principal: Principal;
  readonly #context: EdgeContext;
  #checkedAt = performance.now();

  constructor(principal: Principal, context: EdgeContext) {
    this.#principal = principal;
    this.#context = context;
  }

  /** May be called often. `onSpent` is called when nothing is left, and again at later checks. */
  check(onSpent: () => void): void {
    const now = performance.now();
    if (!isBudgeted(this.#principal) || now - this.#checkedAt < checkMs) return;
    this.#checkedAt = now;
    const { admission, reporting } = this.#context;
    admission.budgets
      .isSpent(this.#principal)
      .then((isSpent) => isSpent && onSpent())
      .catch((error: unknown) => reporting.logger.error({ error }, 'a budget could not be checked'));
  }
}
