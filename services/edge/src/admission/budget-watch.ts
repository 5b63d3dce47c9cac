/** Asks now and then whether the budget of an open connection's caller is spent. */
import type { EdgeContext } from '../context.ts';
import { isBudgeted } from './budgets.ts';
import type { Principal } from './credentials.ts';

const checkMs = 2000;

export class BudgetWatch {
  readonly #context: EdgeContext;
  #checkedAt = performance.now();
  #checked: Principal | null = null;

  constructor(context: EdgeContext) {
    this.#context = context;
  }

  /** May be called often, with the caller as it is by then. `onSpent` is called when nothing is left, and again at later checks. */
  check(principal: Principal, onSpent: () => void): void {
    const now = performance.now();
    // What was edited holds at once.
    const isEdited = this.#checked !== null && (this.#checked.key !== principal.key || this.#checked.group !== principal.group);
    this.#checked = principal;
    if (!isBudgeted(principal) || (!isEdited && now - this.#checkedAt < checkMs)) return;
    this.#checkedAt = now;
    const { admission, reporting } = this.#context;
    admission.budgets
      .isSpent(principal)
      .then((isSpent) => isSpent && onSpent())
      .catch((error: unknown) => reporting.logger.error({ error }, 'a budget could not be checked'));
  }
}
