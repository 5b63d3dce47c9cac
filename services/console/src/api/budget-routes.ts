/** Budgets: what was spent of each in its period. */
import { printMoney } from '@model-gateway/contracts';
import { budgetLevel, periodEnd, periodStart, toMicros } from '@model-gateway/limits';
import type { ConsoleContext } from '../context.ts';
import { ownerOf } from '../probes/explain-key.ts';
import { budgetList } from './answers/statistics.ts';
import { base, type Route } from './route.ts';

/** The fullest first; nobody reads more. */
const maxShown = 1_000;

const states: Readonly<Record<number, string>> = { 0: 'ok', 80: 'warning', 100: 'exhausted' };

export const budgetRoutes = ({ storage }: ConsoleContext, now: () => number): Route[] => [
  {
    method: 'get',
    path: `${base}/budgets`,
    operationId: 'list_budgets',
    summary: 'What was spent of each budget in its period, the fullest first: `ok`, `warning` from 80 %, `exhausted` from 100 %',
    tag: 'statistics',
    status: 200,
    answer: budgetList,
    async handle(_request, response) {
      const at = now();
      const owners = await storage.catalog.read(async ({ accessKeys, keyGroups }) => [
        ...(await keyGroups.withObject('budget')).flatMap(({ document }) => ownerOf('group', document)),
        ...(await accessKeys.withObject('budget')).flatMap(({ document }) => ownerOf('key', document)),
      ]);
      const spent = await storage.requests.spent(
        owners.map(({ kind, name, budget }) => ({ kind, name, currency: budget.currency, from: periodStart(budget.period, at) })),
      );
      const items = owners.map(({ kind, name, budget }, index) => {
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
          state: states[budgetLevel(spent_micros, limit_micros)],
        };
      });
      response.json({ items: items.sort((one, other) => other.share - one.share).slice(0, maxShown), total: items.length });
    },
  },
];
