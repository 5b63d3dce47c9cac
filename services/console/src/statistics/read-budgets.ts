/** Budgets with what was spent of each in its period, the fullest first. */
import { printMoney } from '@model-gateway/contracts';
import { budgetLevel, periodEnd, periodStart, toMicros } from '@model-gateway/limits';
import type { ConsoleContext } from '../context.ts';
import { ownerOf } from '../probes/explain-key.ts';

const states = { 0: 'ok', 80: 'warning', 100: 'exhausted' } as const;

export type BudgetStatus = Awaited<ReturnType<typeof readBudgets>>[number];

export async function readBudgets({ storage, now }: Pick<ConsoleContext, 'storage' | 'now'>) {
  const at = now();
  const owners = await storage.catalog.read(async ({ accessKeys, keyGroups }) => [
    ...(await keyGroups.withObject('budget')).flatMap(({ document }) => ownerOf('group', document)),
    ...(await accessKeys.withObject('budget')).flatMap(({ document }) => ownerOf('key', document)),
  ]);
  const spent = await storage.requests.spent(
    owners.map(({ kind, name, budget }) => ({ kind, name, currency: budget.currency, from: periodStart(budget.period, at) })),
  );
  return owners
    .map(({ kind, name, budget }, index) => {
      const [limit_micros, spent_micros] = [toMicros(budget.limit), spent[index] ?? 0];
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
        share: limit_micros === 0 ? 1 : spent_micros / limit_micros,
        state: states[budgetLevel(spent_micros, limit_micros) as keyof typeof states],
      };
    })
    .sort((one, other) => other.share - one.share);
}
