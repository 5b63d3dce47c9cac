/** What is left of the limits. */
import { type BudgetPart, printMaybeMoney, printMoney } from '@model-gateway/contracts';
import type { ConsoleContext } from '../context.ts';
import { readLimitStatus } from '../probes/limit-status.ts';
import { limitStatus } from './answers/routing.ts';
import { base, type Route } from './route.ts';

/** Money as people read it, beside the micro-units. */
const showBudgetPart = ({ tasks_micros: _part, ...budget }: BudgetPart) => ({
  ...budget,
  limit: printMoney(budget.limit_micros),
  spent: printMaybeMoney(budget.spent_micros),
  reserved: printMoney(budget.reserved_micros),
});

export const limitRoutes = (context: ConsoleContext): Route[] => [
  {
    method: 'get',
    path: `${base}/rate-limit-status`,
    operationId: 'read_rate_limit_status',
    summary: 'How much of each limit is in use, as all live processes say; those that did not answer are named',
    tag: 'limits',
    status: 200,
    answer: limitStatus,
    async handle(_request, response) {
      const status = await readLimitStatus(context);
      response.json({ ...status, budgets: status.budgets.map(showBudgetPart) });
    },
  },
];
