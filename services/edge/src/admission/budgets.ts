/** Money: what a request may cost is reserved from its key's and its group's budget before it goes on, and settled by what its row says it cost. */
import type { Bus } from '@model-gateway/bus';
import type { Budget, BudgetPart, RequestRow } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import { BudgetReservations, type SharedState, type WaitOptions } from '@model-gateway/distributed-state';
import { periodEnd, periodStart, spendableMicros } from '@model-gateway/limits';
import { costOfRow, type PriceOf } from '@model-gateway/model-catalog';
import type { Logger } from '@model-gateway/telemetry';
import type { Principal } from './credentials.ts';
import { type Asked, reservationsOf, unpricedModel } from './reservation.ts';

type Kind = 'key' | 'group';

/** One budget in one period. */
interface Account {
  kind: Kind;
  name: string;
  budget: Budget;
  scope: string;
  from: number;
  /** null: it never ends. */
  until: number | null;
  /** What this process has reserved. */
  reservations: BudgetReservations;
  /** When the rows were last asked what was spent, by the clock that is never set. */
  learnedAt: number | null;
  learning: Promise<boolean> | null;
}

export interface BudgetDeps {
  state: SharedState;
  bus: Bus;
  priceOf: PriceOf;
  logger: Logger;
  /** Milliseconds since the epoch. */
  now?: () => number;
  /** Milliseconds of a clock that is never set. */
  elapsed?: () => number;
  /** How long a row is on its way to the database, in ms. */
  rowsMs?: number;
}

/** What was reserved for one request. */
export interface Reservation {
  /** Millionths by currency. */
  readonly amounts: ReadonlyMap<string, number>;
  /** Once, by the row that the request left. */
  settle(row: RequestRow): void;
  /** Instead, where that row goes to statistics past the edge: what was reserved stays so until they have been asked again. */
  settleByRows(): void;
  /** Instead, where a task that goes on holds it: it stays reserved here until statistics have said that the task does. */
  settleByTasks(): void;
}

/** How often the rows correct what is known of a budget in use. */
const relearnMs = 5_000;
const askMs = 1_000;
/** Before the first answer nothing is known of a budget: it may take longer, and is asked for again soon after a failure. */
const firstAskMs = 3_000;
const retryMs = 500;
const defaultRowsMs = 2_000;
const maxAccounts = 50_000;
const maxShown = 200;
/** How long a request waits for others to settle: as long as for a limit of an upstream that does not say. */
const maxWaitMs = 10_000;

/** How often statistics that are away are asked again about a task: as long as a restart of theirs may take. */
const maxTaskTries = 600;

/** Whether anybody set a budget for this caller. */
export const isBudgeted = ({ key, group }: Principal): boolean => Boolean(key.budget ?? group.budget);

export class BudgetLimiter {
  readonly #deps: BudgetDeps;
  readonly #now: () => number;
  readonly #elapsed: () => number;
  readonly #accounts = new Map<string, Account>();
  /** Statistics did not answer last time: logged once, for there may be thousands of budgets. */
  #unanswered = false;

  constructor(deps: BudgetDeps) {
    this.#deps = deps;
    this.#now = deps.now ?? Date.now;
    this.#elapsed = deps.elapsed ?? (() => performance.now());
  }

  /**
   * Rejects with 402 when a budget is spent; where it is only reserved to its limit, after a while in which nothing was settled.
   * For callers that `isBudgeted`.
   */
  reserve(principal: Principal, asked: Asked, onLeave: WaitOptions['onLeave']): Promise<Reservation> {
    const wanted = this.#accountsOf(principal).map(({ account, budget }) => {
      // Its limit may have been edited: that holds for who waits as well.
      account.budget = budget;
      return account;
    });
    return this.#reserveAll(wanted, reservationsOf({ ...asked, group: principal.group }, this.#deps.priceOf), { ms: maxWaitMs, onLeave });
  }

  /** Throws 402 where the caller's group refuses what has no price, and the request may come to a model without one. */
  refuseUnpriced({ group }: Pick<Principal, 'group'>, { snapshot, named }: Pick<Asked, 'snapshot' | 'named'>): void {
    if (group.unpriced !== 'refuse') return;
    const unpriced = unpricedModel(snapshot, named, this.#deps.priceOf);
    if (unpriced === undefined) return;
    throw new GatewayError('unpriced_model', { message: `The model ${unpriced} has no price, and this access key may only use models that have one.` });
  }

  /** Whether nothing is left of one of the caller's budgets; as exact as the rows that were read in the last seconds. Changes no limit of requests. */
  async isSpent(principal: Principal): Promise<boolean> {
    for (const { account, budget } of this.#accountsOf(principal)) {
      if (account.learnedAt === null || this.#elapsed() - account.learnedAt > relearnMs) await this.#learn(account);
      const known = await this.#deps.state.lookAtBudget(account.scope);
      if ((known?.spent ?? 0) >= spendableMicros(budget, this.#now())) return true;
    }
    return false;
  }

  async shown(): Promise<BudgetPart[]> {
    const parts: BudgetPart[] = [];
    for (const { kind, name, budget, scope, until } of [...this.#accounts.values()].slice(-maxShown)) {
      if (until !== null && until <= this.#now()) continue;
      const known = await this.#deps.state.lookAtBudget(scope);
      parts.push({
        kind,
        name,
        currency: budget.currency,
        period: budget.period,
        limit_micros: spendableMicros(budget, this.#now()),
        spent_micros: known?.spent ?? null,
        reserved_micros: known?.reserved ?? 0,
        tasks_micros: known?.tasks ?? 0,
      });
    }
    return parts;
  }

  async #reserveAll(accounts: readonly Account[], amounts: ReadonlyMap<string, number>, wait: WaitOptions): Promise<Reservation> {
    const taken: { account: Account; amount: number }[] = [];
    for (const account of accounts) {
      // A budget counts what is paid in its own currency.
      const own = amounts.get(account.budget.currency) ?? 0;
      const refusal = await this.#reserveOne(account, own, wait);
      if (refusal) {
        for (const one of taken) one.account.reservations.settle(one.amount, 0);
        throw refusal;
      }
      taken.push({ account, amount: own });
    }
    let settled = false;
    const settle = (one: (account: Account, reserved: number) => void): void => {
      if (settled) return;
      settled = true;
      for (const { account, amount } of taken) one(account, amount);
    };
    const { rowsMs = defaultRowsMs } = this.#deps;
    return {
      amounts,
      settle: (row) => settle((account, reserved) => account.reservations.settle(reserved, this.#costOf(row, account.budget.currency))),
      settleByRows: () => settle((account, reserved) => void setTimeout(() => void this.#settleByRows(account, reserved), rowsMs).unref()),
      settleByTasks: () => settle((account, reserved) => void this.#settleByTasks(account, reserved)),
    };
  }

  async #settleByRows(account: Account, reserved: number): Promise<void> {
    // An answer that is under way may be older than the row.
    await account.learning;
    await this.#learn(account);
    account.reservations.settle(reserved, 0);
  }

  /** The task was noted before its caller was answered, so that statistics know of it now. While they are away, what was reserved stays so. */
  async #settleByTasks(account: Account, reserved: number, triesLeft = maxTaskTries): Promise<void> {
    // An answer that is under way may be older than the task.
    await account.learning;
    if ((await this.#learn(account)) || triesLeft === 0) return account.reservations.settle(reserved, 0);
    setTimeout(() => void this.#settleByTasks(account, reserved, triesLeft - 1), retryMs).unref();
  }

  /** null: it may go on. */
  async #reserveOne(account: Account, amount: number, wait: WaitOptions): Promise<GatewayError | null> {
    if (account.learnedAt === null) await this.#learn(account);
    else if (this.#elapsed() - account.learnedAt > relearnMs) void this.#learn(account);
    const { reservations } = account;
    const limitOf = () => spendableMicros(account.budget, this.#now());
    let answer = await reservations.reserve(amount, limitOf, wait);
    if (answer.allowed && answer.spent === null) {
      // The store has forgotten the budget: the rows have not.
      reservations.settle(amount, 0);
      await this.#learn(account);
      answer = await reservations.reserve(amount, limitOf, wait);
    }
    if (!answer.allowed && answer.tasks > 0 && this.#elapsed() - account.learnedAt! > retryMs) {
      // A task may have ended since the rows were read.
      await this.#learn(account);
      answer = await reservations.reserve(amount, limitOf, wait);
    }
    if (answer.allowed) return null;
    const whose = account.kind === 'key' ? 'this access key' : 'this key group';
    const isSpent = (answer.spent ?? 0) >= limitOf();
    return new GatewayError('budget_exhausted', {
      message: isSpent
        ? `The budget of ${whose} is exhausted.${account.until === null ? '' : ` It resets at ${new Date(account.until).toISOString()}.`}`
        : `What is left of the budget of ${whose} is reserved by requests and tasks under way. Try again when they are done.`,
    });
  }

  /** Never rejects: while statistics are away a budget goes by what this process, or the shared store, knows. Resolves with whether they answered. */
  #learn(account: Account): Promise<boolean> {
    account.learning ??= this.#readSpent(account).finally(() => {
      account.learning = null;
    });
    return account.learning;
  }

  async #readSpent(account: Account): Promise<boolean> {
    const { kind, name, from, scope, budget } = account;
    const deadlineMs = account.learnedAt === null ? firstAskMs : askMs;
    try {
      const { micros, tasks } = await this.#deps.bus.ask('stats.spent', { owners: [{ kind, name, currency: budget.currency, from }] }, { deadlineMs });
      this.#deps.state.learn(scope, micros[0] ?? 0, tasks?.[0]);
      account.learnedAt = this.#elapsed();
      if (this.#unanswered) this.#deps.logger.info({}, 'what was spent of budgets can be read again');
      this.#unanswered = false;
      return true;
    } catch (error) {
      if (!this.#unanswered) this.#deps.logger.warn({ error, kind, name }, 'what was spent of budgets cannot be read, going on with what is known');
      this.#unanswered = true;
      if (account.learnedAt === null) this.#deps.state.learn(scope, 0);
      account.learnedAt = this.#elapsed() - relearnMs + retryMs;
      return false;
    }
  }

  /** The accounts of a caller, each with the budget that the caller was found with. */
  #accountsOf({ key, group }: Principal): { account: Account; budget: Budget }[] {
    const found: { account: Account; budget: Budget }[] = [];
    if (key.budget) found.push({ account: this.#account('key', key.name, key.budget), budget: key.budget });
    if (group.budget) found.push({ account: this.#account('group', group.name, group.budget), budget: group.budget });
    return found;
  }

  #account(kind: Kind, name: string, budget: Budget): Account {
    const now = this.#now();
    const from = periodStart(budget.period, now);
    const scope = `${kind}:${budget.currency}:${budget.period}:${from}:${name}`;
    let account = this.#accounts.get(scope);
    if (!account) {
      if (this.#accounts.size >= maxAccounts) this.#forgetOld(now);
      account = {
        kind,
        name,
        budget,
        scope,
        from,
        until: periodEnd(budget.period, now),
        reservations: new BudgetReservations(this.#deps.state, scope),
        learnedAt: null,
        learning: null,
      };
      this.#accounts.set(scope, account);
    }
    return account;
  }

  #forgetOld(now: number): void {
    for (const [scope, { until, reservations }] of this.#accounts) if (reservations.held === 0 && until !== null && until <= now) this.#accounts.delete(scope);
  }

  #costOf(row: RequestRow, currency: string): number {
    if (row.cost_micros !== null) return row.currency === currency ? row.cost_micros : 0;
    if (row.model === null || row.usage_source === null) return 0;
    // What served is paid for, whatever was asked for.
    const name = row.routes.at(-1) ?? row.model;
    const price = this.#deps.priceOf({ name, upstreamModelId: row.upstream_model_id ?? name }, row.started_at);
    return price && price.currency === currency ? (costOfRow(price, row, this.#deps.priceOf) ?? 0) : 0;
  }
}
