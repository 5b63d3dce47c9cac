/** Budgets with what was spent of each in its period, the fullest first. */
import { type Budget, printMoney } from '@model-gateway/contracts';
import { budgetLevel, creditOf, periodEnd, periodStart, toMicros } from '@model-gateway/limits';
import type { BudgetHolder } from '@model-gateway/storage';
import type { ConsoleContext } from '../context.ts';
import { ownerOf } from '../probes/explain-key.ts';
import type { BudgetOwner } from './credit-budget.ts';

const states = { 0: 'ok', 80: 'warning', 100: 'exhausted' } as const;

export type BudgetStatus = ReturnType<typeof describe>;

/** Which budgets are wanted. */
interface Wanted {
  /** Of these owners alone. */
  only?: { kind: BudgetOwner['kind']; names: readonly string[] };
  /** Of which this share is spent, from 0. */
  atLeast?: number;
  /** Not more than so many, the fullest. */
  limit?: number;
}

/** Tens of thousands may have a budget: only those that are wanted are described. */
export async function readBudgets({ storage, now }: Pick<ConsoleContext, 'storage' | 'now'>, { only, atLeast = 0, limit = Infinity }: Wanted = {}) {
  const at = now();
  const owners = await holdersOf(storage.catalog, only);
  const spent = await storage.requests.spent(
    owners.map(({ kind, name, budget }) => ({ kind, name, currency: budget.currency, from: periodStart(budget.period, at) })),
  );
  const full = owners
    .map((owner, index) => ({ owner, ...figuresOf(owner.budget, spent[index] ?? 0, at) }))
    .filter(({ share }) => share >= atLeast)
    .sort((one, other) => other.share - one.share);
  return { total: full.length, items: full.slice(0, limit).map(({ owner, ...figures }) => describe(owner, figures, at)) };
}

async function holdersOf(catalog: ConsoleContext['storage']['catalog'], only: Wanted['only']): Promise<BudgetHolder[]> {
  if (!only) return catalog.budgetHolders();
  const found = await (only.kind === 'key' ? catalog.accessKeys : catalog.keyGroups).named(only.names);
  return found.flatMap(({ document }) => ownerOf(only.kind, document));
}

/** What counts of the budget in the period that `at` is in, in micro-units. `spent`: what its rows say. */
export function figuresOf(budget: Budget, spent: number, at: number) {
  const { topped_up_micros, forgiven_micros } = creditOf(budget, at);
  // What was forgiven by a reset counts neither as spent nor as more to spend.
  const limit_micros = toMicros(budget.limit) + topped_up_micros;
  const spent_micros = Math.max(0, spent - forgiven_micros);
  return { limit_micros, spent_micros, topped_up_micros, forgiven_micros, share: limit_micros === 0 ? 1 : spent_micros / limit_micros };
}

function describe({ kind, name, budget }: BudgetHolder, figures: ReturnType<typeof figuresOf>, at: number) {
  const { limit_micros, spent_micros, topped_up_micros, forgiven_micros, share } = figures;
  return {
    kind,
    name,
    currency: budget.currency,
    period: budget.period,
    from: periodStart(budget.period, at),
    to: periodEnd(budget.period, at),
    limit: printMoney(limit_micros),
    limit_micros,
    spent: printMoney(spent_micros),
    spent_micros,
    topped_up: printMoney(topped_up_micros),
    topped_up_micros,
    forgiven: printMoney(forgiven_micros),
    forgiven_micros,
    share,
    state: states[budgetLevel(spent_micros, limit_micros) as keyof typeof states],
  };
}
