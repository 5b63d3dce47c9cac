/** The limits on the way of one request, and what is left of each: the part of an explanation that routers do not know. */
import { type ExplainedLimit, type Explanation, printMoney } from '@model-gateway/contracts';
import { errorCodes } from '@model-gateway/contracts/errors';
import type { KeyLook, OwnBudget } from './explain-key.ts';
import type { GateStatus, LimitStatus } from './limit-status.ts';

/** `nodes`: of the explanation. Budgets come from the database, since edges report only those whose callers have sent a request. */
export function explainLimits(status: LimitStatus, { name: accessKey, limit: keyLimit, budgets }: KeyLook, nodes: Explanation['nodes']): ExplainedLimit[] {
  const limits: ExplainedLimit[] = [];
  const add = (layer: string, name: string, limit: number | null, left: number): void => {
    if (limit !== null) limits.push({ layer, name, limit, left });
  };
  add('global', 'requests', status.global.limit, (status.global.limit ?? 0) - status.global.used);
  add('global', 'streams', status.streams.limit, (status.streams.limit ?? 0) - status.streams.used);
  const counter = status.keys.find(({ name }) => name === accessKey);
  const keyCap = keyLimit?.rpm ?? counter?.limit ?? null;
  add('key', accessKey, keyCap, Math.max(0, (keyCap ?? 0) - (counter?.used ?? 0)));
  for (const budget of budgets) {
    const { spent, reserved } = countBudget(status, budget);
    const [limit, left] = [budget.limit_micros, Math.max(0, budget.limit_micros - spent - reserved)];
    limits.push({
      layer: `budget_${budget.kind}`,
      name: budget.name,
      limit,
      left,
      money: { limit: printMoney(limit), left: printMoney(left), currency: budget.currency },
    });
  }
  const seen = new Set<GateStatus>();
  for (const { model, upstream } of nodes) {
    // The model's own limit replaces the upstream's.
    const own = status.models.find(({ name }) => name === model);
    const gate = own ?? status.upstreams.find(({ name }) => name === upstream);
    if (!gate || seen.has(gate)) continue;
    seen.add(gate);
    const layer = own ? 'model' : 'upstream';
    const { rpm, tpm, max_concurrency } = gate.limit;
    add(`${layer}_rpm`, gate.name, rpm, gate.rpm_left ?? 0);
    add(`${layer}_tpm`, gate.name, tpm, gate.tpm_left ?? 0);
    add(`${layer}_concurrency`, gate.name, max_concurrency, Math.max(0, (max_concurrency ?? 0) - gate.used));
  }
  return limits;
}

/** In millionths. Edges may still hold accounts of what the budget was before it was edited: other money, or another period. */
function countBudget(
  { budgets }: Pick<LimitStatus, 'budgets'>,
  { kind, name, currency, period, spent_micros }: OwnBudget,
): { spent: number; reserved: number } {
  const counted = budgets.find((one) => one.kind === kind && one.name === name && one.currency === currency && one.period === period);
  // Edges count before the rows are written.
  return { spent: Math.max(spent_micros, counted?.spent_micros ?? 0), reserved: counted?.reserved_micros ?? 0 };
}

/** Money that is spent is what a caller is refused for at once, whatever else is free. What is only reserved is waited for: most requests cost less. */
export function refuseSpent(status: Pick<LimitStatus, 'budgets'>, { budgets }: Pick<KeyLook, 'budgets'>): Explanation['refusal'] {
  const spent = budgets.find((budget) => countBudget(status, budget).spent >= budget.limit_micros);
  const code = 'budget_exhausted';
  return spent ? { code, status: errorCodes[code].status, message: `The budget of ${spent.name} is spent.` } : null;
}
