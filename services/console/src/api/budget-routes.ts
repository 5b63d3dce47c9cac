/** Budgets: what was spent of each in its period; more money for this period, or a new start of it. */
import { moneyFault, parseMoney } from '@model-gateway/contracts';
import { periodStart } from '@model-gateway/limits';
import type { Request, Response } from 'express';
import { z } from 'zod';
import type { ConsoleContext } from '../context.ts';
import { commit } from '../history/commit.ts';
import { invalidField, Problem } from '../problem.ts';
import { type BudgetOwner, type Credit, creditBudget, readBudgetOf, writeBudgetOf } from '../statistics/credit-budget.ts';
import { readBudgets } from '../statistics/read-budgets.ts';
import { readInput } from '../validation/read-input.ts';
import { budgetList, oneBudget } from './answers/statistics.ts';
import { base, parameter, type Route } from './route.ts';

/** The fullest first; nobody reads more. */
const maxShown = 1_000;

const topUpBody = z.strictObject({ amount: z.string().max(40).describe('Decimal string in the currency of the budget, for its present period alone') });

const ownerOf = (request: Request): BudgetOwner => {
  const kind = parameter(request, 'kind');
  if (kind !== 'key' && kind !== 'group') throw new Problem('not_found', 'There is no such kind of budget: use `key` or `group`.');
  return { kind, name: parameter(request, 'name') };
};

/** Throws 422 naming `amount`. */
function readAmount(request: Request): number {
  const { amount } = readInput(topUpBody, request.body);
  const fault = moneyFault(amount);
  if (fault !== null) throw invalidField('amount', fault);
  const micros = parseMoney(amount);
  if (micros <= 0 || micros > 1e15) throw invalidField('amount', 'must be more than nothing and at most 1000000000');
  return micros;
}

export function budgetRoutes(context: ConsoleContext): Route[] {
  const { storage, now } = context;
  const credit = async (request: Request, response: Response, owner: BudgetOwner, what: (spent: number) => Credit) => {
    const at = now();
    const { currency, period } = await readBudgetOf(storage.catalog, owner);
    const [spent = 0] = await storage.requests.spent([{ ...owner, currency, from: periodStart(period, at) }]);
    const purpose = { action: 'update', entity_type: owner.kind === 'key' ? 'access_key' : 'key_group', entity_id: owner.name } as const;
    await commit(context, { request, response }, purpose, (writer) => writeBudgetOf(writer, owner, (budget) => creditBudget(budget, what(spent), at)));
    const shown = (await readBudgets(context, { only: { kind: owner.kind, names: [owner.name] } })).items[0];
    if (!shown) throw new Problem('not_found', 'It has no budget.');
    response.json(shown);
  };
  return [
    {
      method: 'get',
      path: `${base}/budgets`,
      operationId: 'list_budgets',
      summary: 'What was spent of each budget in its period, the fullest first: `ok`, `warning` from 80 %, `exhausted` from 100 %',
      tag: 'statistics',
      status: 200,
      answer: budgetList,
      async handle(_request, response) {
        response.json(await readBudgets(context, { limit: maxShown }));
      },
    },
    {
      method: 'post',
      path: `${base}/budgets/{kind}/{name}/top-up`,
      operationId: 'top_up_budget',
      summary: 'Adds money to the budget of a `key` or `group` for its present period alone',
      tag: 'statistics',
      body: topUpBody,
      status: 200,
      answer: oneBudget,
      failures: [404],
      handle(request, response) {
        const topUpMicros = readAmount(request);
        return credit(request, response, ownerOf(request), () => ({ topUpMicros }));
      },
    },
    {
      method: 'post',
      path: `${base}/budgets/{kind}/{name}/reset`,
      operationId: 'reset_budget',
      summary: 'What was spent in the present period so far counts no longer; its top-ups end',
      tag: 'statistics',
      status: 200,
      answer: oneBudget,
      failures: [404],
      handle: (request, response) => credit(request, response, ownerOf(request), (forgiveMicros) => ({ forgiveMicros })),
    },
  ];
}
