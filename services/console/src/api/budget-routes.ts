/** Budgets: what was spent of each in its period. */
import type { ConsoleContext } from '../context.ts';
import { readBudgets } from '../statistics/read-budgets.ts';
import { budgetList } from './answers/statistics.ts';
import { base, type Route } from './route.ts';

/** The fullest first; nobody reads more. */
const maxShown = 1_000;

export const budgetRoutes = (context: ConsoleContext): Route[] => [
  {
    method: 'get',
    path: `${base}/budgets`,
    operationId: 'list_budgets',
    summary: 'What was spent of each budget in its period, the fullest first: `ok`, `warning` from 80 %, `exhausted` from 100 %',
    tag: 'statistics',
    status: 200,
    answer: budgetList,
    async handle(_request, response) {
      const items = await readBudgets(context);
      response.json({ items: items.slice(0, maxShown), total: items.length });
    },
  },
];
