/** Which budgets an explanation goes by, and when it says that money is spent. */
import { expect, test } from '@jest/globals';
import type { BudgetPart } from '@model-gateway/contracts';
import { explainLimits, refuseSpent } from '../src/probes/explain-limits.ts';
import type { LimitStatus } from '../src/probes/limit-status.ts';

const none = { used: 0, waiting: 0, degraded: false, limit: null };
const statusOf = (...budgets: Partial<BudgetPart>[]): LimitStatus => ({
  backend: 'memory',
  degraded: false,
  global: none,
  streams: none,
  keys: [],
  ips: [],
  upstreams: [],
  models: [],
  budgets: budgets.map((one) => ({
    kind: 'key',
    name: 'ada',
    currency: 'USD',
    period: 'day',
    limit_micros: 100,
    spent_micros: 0,
    reserved_micros: 0,
    degraded: false,
    ...one,
  })),
  processes: { answered: [], missing: [] },
});
const look = (spent_micros = 0, limit_micros = 100) => ({
  name: 'ada',
  group: 'team',
  limit: null,
  refusal: null,
  budgets: [{ kind: 'key' as const, name: 'ada', currency: 'USD', period: 'day' as const, limit_micros, spent_micros }],
});
const explained = (status: LimitStatus, key = look()) => [explainLimits(status, key, []).map(({ left }) => left), refuseSpent(status, key)?.code ?? null];

test('what edges keep of a budget before it was edited is not this budget', () => {
  expect(explained(statusOf({ currency: 'EUR', spent_micros: 100 }, { period: 'month', spent_micros: 100 }, { kind: 'group', spent_micros: 100 }))).toEqual([
    [100],
    null,
  ]);
  expect(explained(statusOf({ currency: 'EUR', spent_micros: 0 }, { spent_micros: 100 }))).toEqual([[0], 'budget_exhausted']);
});

test('money that is only reserved refuses nobody; money that is spent does, by the rows as by the edges', () => {
  expect(explained(statusOf({ spent_micros: 40, reserved_micros: 60 }))).toEqual([[0], null]);
  expect(explained(statusOf({ spent_micros: 99 }))).toEqual([[1], null]);
  expect(explained(statusOf(), look(100))).toEqual([[0], 'budget_exhausted']);
  expect(explained(statusOf(), look(0, 0))).toEqual([[0], 'budget_exhausted']);
});
