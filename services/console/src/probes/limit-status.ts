/** How much of each limit is in use: what all live edges and translators say, put together by layer. Read only. */
import type { BudgetPart, CounterPart, EdgeLimits, RateLimit, StatePart, TranslatorLimits } from '@model-gateway/contracts';
import type { ConsoleContext } from '../context.ts';

interface Usage {
  used: number;
  waiting: number;
  /** Some process goes by its share, since Redis is lost. */
  degraded: boolean;
}

/** Remaining limits of one upstream or model. */
export interface GateStatus extends Usage {
  name: string;
  limit: RateLimit;
  /** What may pass now; null: not limited. */
  rpm_left: number | null;
  tpm_left: number | null;
}

/** The use of all limits, summed over the processes that answered. */
export interface LimitStatus {
  /** `redis`: counted together; `memory`: each process counts for itself, and limits hold for each. */
  backend: 'memory' | 'redis' | 'process' | null;
  degraded: boolean;
  global: Usage & { limit: number | null };
  streams: Usage & { limit: number | null };
  keys: (CounterPart & Usage)[];
  ips: (CounterPart & Usage)[];
  upstreams: GateStatus[];
  models: GateStatus[];
  budgets: (BudgetPart & { degraded: boolean })[];
  processes: { answered: string[]; missing: string[] };
}

const maxShown = 200;

/** `most`: of keys, of addresses and of budgets, each. */
export async function readLimitStatus(context: ConsoleContext, max = maxShown): Promise<LimitStatus> {
  const [edges, translators, limited] = await Promise.all([
    context.gatherer.gather('edge-limits', {}),
    context.gatherer.gather('translator-limits', {}),
    readLimited(context),
  ]);
  const edgeParts = edges.answers.map(({ answer }) => answer);
  const translatorParts = translators.answers.map(({ answer }) => answer);
  const states = [...edgeParts, ...translatorParts].map(({ state }) => state);
  const gate = (kind: string) => (one: { name: string; limit: RateLimit }) => ({ ...one, ...usageOfGate(`${kind}:${one.name}`, one.limit, translatorParts) });
  return {
    backend: states[0]?.backend ?? null,
    degraded: isDegraded(states),
    global: capOf(edgeParts, 'requests'),
    streams: capOf(edgeParts, 'streams'),
    keys: countersOf(edgeParts, 'keys').slice(0, max),
    ips: countersOf(edgeParts, 'ips').slice(0, max),
    upstreams: limited.upstreams.map(gate('upstream')),
    models: limited.models.map(gate('model')),
    budgets: budgetsOf(edgeParts).slice(0, max),
    processes: {
      answered: [...edges.answers, ...translators.answers].map(({ process }) => process).sort(),
      missing: [...edges.missing, ...translators.missing].sort(),
    },
  };
}

const isDegraded = (states: readonly StatePart[]): boolean => states.some(({ degraded }) => degraded);
const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);

/** What was saved, whether anybody has come yet or not. */
async function readLimited({ storage }: ConsoleContext) {
  return storage.catalog.read(async ({ upstreams, models }) => ({
    upstreams: (await upstreams.all()).flatMap(({ document: { name, rate_limit } }) => (rate_limit ? [{ name, limit: rate_limit }] : [])),
    models: (await models.all()).flatMap(({ document: { name, rate_limit } }) => (rate_limit && rate_limit !== 'inherit' ? [{ name, limit: rate_limit }] : [])),
  }));
}

function capOf(parts: readonly EdgeLimits[], which: 'requests' | 'streams') {
  return {
    used: sum(parts.map((part) => part[which].used)),
    limit: parts[0]?.[which].limit ?? null,
    waiting: 0,
    degraded: isDegraded(parts.map(({ state }) => state)),
  };
}

function usageOfGate(scope: string, limit: RateLimit, parts: readonly TranslatorLimits[]): Omit<GateStatus, 'name' | 'limit'> {
  const gates = parts.flatMap((part) => part.gates.filter((gate) => gate.scope === scope));
  // Shared, it is one figure; else the fullest process's is what a caller may hope for. Nobody came yet: as full as at first.
  const left = (which: 'rpm' | 'tpm'): number | null => {
    if (limit[which] === null) return null;
    const known = gates.flatMap((gate) => gate[`${which}_left`] ?? []);
    return known.length > 0 ? Math.max(...known) : Math.floor((limit[which] * limit.initial_tokens) / 100);
  };
  return {
    used: sum(gates.map(({ used }) => used)),
    waiting: sum(gates.map(({ waiting }) => waiting)),
    degraded: isDegraded(parts.map(({ state }) => state)),
    rpm_left: left('rpm'),
    tpm_left: left('tpm'),
  };
}

/** Those who share a store say the same figure each; those who count for themselves are added up. */
const together = (shared: boolean, known: number, more: number): number => (shared ? Math.max(known, more) : known + more);
const isShared = ({ state }: EdgeLimits): boolean => state.backend !== 'memory' && !state.degraded;

function countersOf(parts: readonly EdgeLimits[], kind: 'keys' | 'ips'): (CounterPart & Usage)[] {
  const found = new Map<string, CounterPart & Usage>();
  for (const part of parts) {
    for (const counter of part[kind]) {
      const known = found.get(counter.name);
      const used = known ? together(isShared(part), known.used, counter.used) : counter.used;
      found.set(counter.name, { ...counter, used, waiting: 0, degraded: (known?.degraded ?? false) || part.state.degraded });
    }
  }
  return [...found.values()].sort((a, b) => b.used / b.limit - a.used / a.limit);
}

function budgetsOf(parts: readonly EdgeLimits[]): (BudgetPart & { degraded: boolean })[] {
  const found = new Map<string, BudgetPart & { degraded: boolean }>();
  for (const part of parts) {
    for (const budget of part.budgets) {
      // One that was edited counts in another currency or period: what edges keep of the former is an account of its own.
      const id = JSON.stringify([budget.kind, budget.name, budget.currency, budget.period]);
      const known = found.get(id);
      const degraded = (known?.degraded ?? false) || part.state.degraded;
      found.set(id, { ...(known ? oneBudget(isShared(part), known, budget) : budget), degraded });
    }
  }
  return [...found.values()];
}

/** Spent and reserved belong together: of a shared store the later answer stands, and spent only grows. Alone, each has its own reservations beside the same rows and the same tasks. */
function oneBudget(shared: boolean, known: BudgetPart, more: BudgetPart): BudgetPart {
  const later = (more.spent_micros ?? 0) >= (known.spent_micros ?? 0) ? more : known;
  return shared ? later : { ...later, reserved_micros: known.reserved_micros + more.reserved_micros - (more.tasks_micros ?? 0) };
}
