/** Budgets with what was spent of each in its period, the fullest first. */
import { printMoney } from '@model-gateway/contracts';
import { budgetLevel, creditOf, periodEnd, periodStart, toMicros } from '@model-gateway/limits';
import type { ConsoleContext } from '../context.ts';
import { ownerOf } from '../probes/explain-key.ts';
import type { BudgetOwner } from './credit-budget.ts';

const states = { 0: 'ok', 80: 'warning', 100: 'exhausted' } as const;

export type BudgetStatus = Awaited<ReturnType<typeof readBudgets>>[number];

/** `only`: of these owners. */
export async function readBudgets({ storage, now }: Pick<ConsoleContext, 'storage' | 'now'>, only?: { kind: BudgetOwner['kind']; names: readonly string[] }) {
  const at = now();
  const owners = await storage.catalog.read(async ({ accessKeys, keyGroups }) => {
    if (only?.kind === 'key') return (await accessKeys.named(only.names)).flatMap(({ document }) => ownerOf('key', document));
    if (only) return (await keyGroups.named(only.names)).flatMap(({ document }) => ownerOf('group', document));
    return [
      ...(await keyGroups.withObject('budget')).flatMap(({ document }) => ownerOf('group', document)),
      ...(await accessKeys.withObject('budget')).flatMap(({ document }) => ownerOf('key', document)),
    ];
  });
  const spent = await storage.requests.spent(
    owners.map(({ kind, name, budget }) => ({ kind, name, currency: budget.currency, from: periodStart(budget.period, at) })),
  );
  return owners
    .map(({ kind, name, budget }, index) => {
      const { topped_up_micros, forgiven_micros } = creditOf(budget, at);
      // What was forgiven by a reset counts neither as spent nor as more to spend.
      const limit_micros = toMicros(budget.limit) + topped_up_micros;
      const spent_micros = Math.max(0, (spent[index] ?? 0) - forgiven_micros);
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
        share: limit_micros === 0 ? 1 : spent_micros / limit_micros,
        state: states[budgetLevel(spent_micros, limit_micros) as keyof typeof states],
      };
    })
    .sort((one, other) => other.share - one.share);
}
