/** Says, once for each level and period, that a budget is nearly or wholly spent: in the log and as a metric. */
import type { Budget, Snapshot } from '@model-gateway/contracts';
import { budgetLevel, budgetLevels, periodStart, spendableMicros } from '@model-gateway/limits';
import type { Storage } from '@model-gateway/storage';
import type { Logger, Metrics } from '@model-gateway/telemetry';

/** What watching budgets needs. */
export interface BudgetWatchDeps {
  requests: Pick<Storage['requests'], 'spent'>;
  snapshot: () => Snapshot | null;
  logger: Logger;
  metrics?: Metrics | undefined;
  now: () => number;
  everyMs?: number;
}

/** Announces budgets that reach a threshold. */
export interface BudgetWatch {
  start(): void;
  stop(): void;
  /** Looks once. */
  look(): Promise<void>;
}

interface Watched {
  kind: 'key' | 'group';
  name: string;
  budget: Budget;
}

/** So many are asked for before others have a turn on this thread. */
const atOnce = 50;

export function createBudgetWatch({ requests, snapshot, logger, metrics, now, everyMs = 60_000 }: BudgetWatchDeps): BudgetWatch {
  /** Budget and period → the threshold that was announced. */
  let announced = new Map<string, number>();
  let counts = new Map<number, number>();
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  const alerts = metrics?.counter('gateway_budget_alerts', 'Budgets that reached a level, by percent.');
  metrics?.gauge('gateway_budgets_reached', 'Budgets that are at a level or above it now, by percent.', () =>
    budgetLevels.map((percent) => ({ labels: { percent: String(percent) }, value: counts.get(percent) ?? 0 })),
  );

  const look = async (): Promise<void> => {
    const current = snapshot();
    if (!current) return;
    const at = now();
    const nextTold = new Map<string, number>();
    const nextCounts = new Map<number, number>();
    const watched = budgetsOf(current);
    for (let start = 0; start < watched.length && !stopped; start += atOnce) {
      const some = watched.slice(start, start + atOnce);
      const micros = await requests.spent(
        some.map(({ kind, name, budget }) => ({ kind, name, currency: budget.currency, from: periodStart(budget.period, at) })),
      );
      some.forEach(({ kind, name, budget }, index) => {
        const [spent, limit] = [micros[index] ?? 0, spendableMicros(budget, at)];
        const level = budgetLevel(spent, limit);
        if (level === 0) return;
        const id = `${kind}:${budget.currency}:${budget.period}:${periodStart(budget.period, at)}:${limit}:${name}`;
        for (const percent of budgetLevels) if (percent <= level) nextCounts.set(percent, (nextCounts.get(percent) ?? 0) + 1);
        nextTold.set(id, level);
        if (level <= (announced.get(id) ?? 0)) return;
        alerts?.add(1, { percent: String(level) });
        const facts = { kind, name, percent: level, period: budget.period, currency: budget.currency, limit_micros: limit, spent_micros: spent };
        logger.warn(facts, level >= 100 ? 'a budget is spent' : 'a budget is nearly spent');
      });
      await new Promise((resolve) => setImmediate(resolve));
    }
    announced = nextTold;
    counts = nextCounts;
  };
  const run = async (): Promise<void> => {
    await look().catch((error: unknown) => logger.warn({ error }, 'budgets cannot be checked now'));
    if (stopped) return;
    timer = setTimeout(() => void run(), everyMs);
    timer.unref();
  };
  return {
    start: () => void run(),
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
    look,
  };
}

function budgetsOf({ accessKeys, keyGroups }: Snapshot): Watched[] {
  const watched: Watched[] = [];
  for (const { name, budget } of keyGroups.values()) if (budget) watched.push({ kind: 'group', name, budget });
  for (const { name, budget } of accessKeys.values()) if (budget) watched.push({ kind: 'key', name, budget });
  return watched;
}
