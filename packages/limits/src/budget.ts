/** Money of a period: what was spent, and what requests under way have reserved. Whole millionths of the currency. */
import type { Budget, BudgetCredit } from '@model-gateway/contracts';

/** State of one budget in one period, in micro-units of its currency. */
export interface BudgetState {
  /** null: not known yet what was spent before. */
  spent: number | null;
  /** Reserved by each process; expires at `until`, unless renewed. */
  holders: Map<string, { held: number; until: number }>;
  /** Reserved by tasks that run at upstreams, as the database says: no process holds it. */
  tasks: number;
}

/** A request of one process to reserve for several calls at once; amounts in micro-units. */
export interface BudgetAsk {
  holder: string;
  /** What the holder has reserved now, without these requests. */
  held: number;
  /** What each request may cost, in order. */
  amounts: readonly number[];
  limit: number;
  leaseMs: number;
}

/** The answer to a reservation; amounts in micro-units. */
export interface Reserved {
  /** So many of the requests, from the first. */
  granted: number;
  /** null: the amount spent before is not known yet; it counts as nothing until then. */
  spent: number | null;
  /** By all holders, these requests included. */
  reserved: number;
  /** The part of it that tasks of upstreams hold. */
  tasks: number;
}

export const openBudget = (): BudgetState => ({ spent: null, holders: new Map(), tasks: 0 });

export const toMicros = (amount: number): number => Math.round(amount * 1_000_000);

/** A request may begin while anything is left: the budget is exceeded by at most that request's own reservation. */
export function reserveMoney(state: BudgetState, ask: BudgetAsk, now: number): Reserved {
  const others = othersReserved(state, ask.holder, now);
  let { held } = ask;
  let granted = 0;
  while (granted < ask.amounts.length && (state.spent ?? 0) + others + held < ask.limit) held += ask.amounts[granted++]!;
  note(state, ask.holder, held, now + ask.leaseMs);
  return { granted, spent: state.spent, reserved: others + held, tasks: state.tasks };
}

/** A request ended: it cost so much, and its holder has so much reserved now. */
export function chargeMoney(state: BudgetState, charge: { holder: string; held: number; cost: number; leaseMs: number }, now: number): void {
  // An unknown total will be read from the request log rows, which include this request.
  if (state.spent !== null) state.spent += charge.cost;
  note(state, charge.holder, charge.held, now + charge.leaseMs);
}

/** The spent amount according to the request log rows. Rows arrive late, so the larger figure is the true one. What tasks hold is as it was said last. */
export function learnSpent(state: BudgetState, spent: number, tasks?: number): void {
  state.spent = Math.max(state.spent ?? 0, spent);
  if (tasks !== undefined) state.tasks = tasks;
}

function othersReserved(state: BudgetState, holder: string, now: number): number {
  let reserved = state.tasks;
  for (const [name, one] of state.holders) {
    if (one.until <= now) state.holders.delete(name);
    else if (name !== holder) reserved += one.held;
  }
  return reserved;
}

function note(state: BudgetState, holder: string, held: number, until: number): void {
  if (held > 0) state.holders.set(holder, { held, until });
  else state.holders.delete(holder);
}

const dayMs = 86_400_000;

/** First millisecond of the period that `now` is in, by the UTC calendar. 0 for `total`. */
export function periodStart(period: Budget['period'], now: number): number {
  const date = new Date(now);
  if (period === 'total') return 0;
  if (period === 'month') return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
  const day = Math.floor(now / dayMs) * dayMs;
  return period === 'day' ? day : day - ((date.getUTCDay() + 6) % 7) * dayMs;
}

/** First millisecond of the next one; null for `total`. */
export function periodEnd(period: Budget['period'], now: number): number | null {
  const start = periodStart(period, now);
  if (period === 'total') return null;
  if (period === 'day') return start + dayMs;
  if (period === 'week') return start + 7 * dayMs;
  const date = new Date(start);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
}

const noCredit: Pick<BudgetCredit, 'topped_up_micros' | 'forgiven_micros'> = { topped_up_micros: 0, forgiven_micros: 0 };

/** What was topped up and forgiven in the period that `at` is in. */
export const creditOf = ({ period, credit }: Pick<Budget, 'period' | 'credit'>, at: number): typeof noCredit =>
  credit && credit.from === periodStart(period, at) ? credit : noCredit;

/** What may be spent in the period that `at` is in, in micro-units, counted from its beginning: the limit, and what was topped up and forgiven since. */
export function spendableMicros(budget: Pick<Budget, 'limit' | 'period' | 'credit'>, at: number): number {
  const { topped_up_micros, forgiven_micros } = creditOf(budget, at);
  return toMicros(budget.limit) + topped_up_micros + forgiven_micros;
}

/** Shares of a budget at which an alert may be wanted, in percent. */
export const budgetLevels = [80, 100] as const;

/** The highest of them that was reached; 0 below all. A budget of zero counts as spent. */
export const budgetLevel = (spent: number, limit: number): number => budgetLevels.findLast((percent) => spent * 100 >= limit * percent) ?? 0;
