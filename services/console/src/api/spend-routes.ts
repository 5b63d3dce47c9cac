/** What certain keys, groups, models or upstreams cost in the last days, with their budgets: for the lists and pages in which they stand. */
import { printMoney } from '@model-gateway/contracts';
import { grainMs, type StatsGroup, startOf } from '@model-gateway/storage';
import { z } from 'zod';
import type { ConsoleContext } from '../context.ts';
import { readBudgets } from '../statistics/read-budgets.ts';
import { readInput } from '../validation/read-input.ts';
import { spendAnswer } from './answers/statistics.ts';
import { base, type Route } from './route.ts';

const days = 30;
const kinds = { access_key: 'key', key_group: 'group' } as const;

/** Names may be long and many: they come in the body. */
const spendBody = z.strictObject({
  by: z.enum(['access_key', 'key_group', 'model', 'upstream']),
  names: z.array(z.string().min(1).max(200)).min(1).max(1_000),
});

export const spendRoutes = (context: ConsoleContext): Route[] => [
  {
    method: 'post',
    path: `${base}/stats/spend`,
    operationId: 'read_spend',
    summary: `Requests and money of the last ${days} days (UTC) of each name, by day, and its budget`,
    tag: 'statistics',
    body: spendBody,
    status: 200,
    answer: spendAnswer,
    async handle(request, response) {
      const { by, names } = readInput(spendBody, request.body);
      const to = startOf(context.now(), 'day') + grainMs.day;
      const from = to - days * grainMs.day;
      const wanted = { dimension: by, order: 'cost_micros' as const, limit: names.length, values: [...new Set(names)] };
      const [groups, budgets] = await Promise.all([
        context.storage.requests.readStats({ from, to, grain: 'day', filters: {}, overTime: true, by: wanted }),
        by === 'access_key' || by === 'key_group' ? readBudgets(context, { only: { kind: kinds[by], names: wanted.values } }) : { items: [] },
      ]);
      const budgetOf = new Map(budgets.items.map((budget) => [budget.name, budget]));
      const found = Map.groupBy(groups, ({ value }) => value ?? '');
      const items = wanted.values.map((value) => ({ value, ...spendOf(found.get(value) ?? [], from), budget: budgetOf.get(value) ?? null }));
      response.json({ from, to, items });
    },
  },
];

function spendOf(groups: readonly StatsGroup[], from: number) {
  const requests = groups.reduce((sum, { measures }) => sum + measures.requests, 0);
  const currencies = new Set(groups.flatMap(({ cost }) => cost.map(({ currency }) => currency)));
  const cost = [...currencies].sort().map((currency) => {
    const daily = Array.from({ length: days }, () => 0);
    for (const { start, cost: all } of groups) {
      const day = Math.round(((start ?? from) - from) / grainMs.day);
      for (const one of all) if (one.currency === currency && day in daily) daily[day] = (daily[day] ?? 0) + one.cost_micros;
    }
    const cost_micros = daily.reduce((sum, micros) => sum + micros, 0);
    return { currency, cost: printMoney(cost_micros), cost_micros, daily_micros: daily };
  });
  return { requests, unpriced_requests: groups.reduce((sum, { measures }) => sum + measures.unpriced, 0), cost };
}
