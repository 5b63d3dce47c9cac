/** Keeps the state of several processes of this machine: the pure rules of packages/limits, with leases that expire. Answers `ProcessLink`. */
import {
  type BudgetState,
  chargeMoney,
  fitsWindow,
  type GateLimits,
  type GateState,
  givePermits,
  hitWindow,
  learnSpent,
  lookAtGate,
  openBudget,
  openGate,
  openWindow,
  reserveMoney,
  takePermits,
  type WindowState,
} from '@model-gateway/limits';
import { boundedMap } from '../bounded-map.ts';

type Value = string | number;
type Rule = (scope: string, values: readonly Value[]) => number[];

const maxScopes = 100_000;
const number = (value: Value | undefined): number => {
  const read = Number(value);
  if (!Number.isFinite(read)) throw new TypeError('a value of a rule is not a number');
  return read;
};
const limited = (value: Value | undefined): number | null => (number(value) < 0 ? null : number(value));
/** How many values say what a gate allows; those of the call follow. */
const gateValues = 5;

const gateLimits = (values: readonly Value[]): GateLimits => ({
  rpm: limited(values[0]),
  tpm: limited(values[1]),
  maxConcurrency: limited(values[2]),
  intervalMs: limited(values[3]),
  initialPercent: number(values[4]),
});

/** A budget, and what each process has said it charged altogether. */
interface Money {
  state: BudgetState;
  totals: Map<string, number>;
}

/** Rules by the names, values and answers of the scripts in Redis (`redis/scripts.ts`), so that one client serves both. */
export class LeaseKeeper {
  readonly #now: () => number;
  readonly #gates = new Map<string, GateState>();
  readonly #windows = boundedMap<WindowState>(maxScopes);
  readonly #budgets = boundedMap<Money>(maxScopes);
  readonly #rules: Record<string, Rule> = {
    take: (scope, values) => this.#take(scope, values),
    give: (scope, values) => this.#give(scope, values),
    lookAtGate: (scope, values) => this.#lookAtGate(scope, values),
    hit: (scope, values) => this.#hit(scope, values),
    reserve: (scope, values) => this.#reserve(scope, values),
    charge: (scope, values) => this.#charge(scope, values),
    learn: (scope, values) => this.#learn(scope, values),
    lookAtBudget: (scope) => this.#lookAtBudget(scope),
  };

  /** `now`: a monotonic clock in whole ms. */
  constructor(now: () => number = () => Math.floor(performance.now())) {
    this.#now = now;
  }

  /** Throws for what is not a rule, and for values that it cannot have. */
  run({ rule, scope, values }: { rule: string; scope: string; values: readonly Value[] }): { numbers: number[] } {
    if (!Object.hasOwn(this.#rules, rule)) throw new TypeError('no such rule');
    return { numbers: this.#rules[rule]!(scope, values) };
  }

  #take(scope: string, values: readonly Value[]): number[] {
    const [holder, held, waits, leaseMs, , , ...costs] = values.slice(gateValues);
    const ask = { holder: String(holder), held: number(held), waits: number(waits) === 1, leaseMs: number(leaseMs), costs: costs.map(number) };
    const { granted, retryMs, used } = takePermits(this.#gate(scope), gateLimits(values), ask, this.#now());
    return [granted, retryMs ?? -1, used];
  }

  #give(scope: string, values: readonly Value[]): number[] {
    const [holder, held, tokens, leaseMs, unmade] = values.slice(gateValues);
    const give = { holder: String(holder), held: number(held), tokens: number(tokens), leaseMs: number(leaseMs), unmade: number(unmade) };
    givePermits(this.#gate(scope), gateLimits(values), give, this.#now());
    return [1];
  }

  #lookAtGate(scope: string, values: readonly Value[]): number[] {
    const state = this.#gates.get(scope);
    if (!state) return [];
    const { used, waitMs, rpmLeft, tpmLeft } = lookAtGate(state, gateLimits(values), this.#now());
    return [used, waitMs, rpmLeft ?? 0, tpmLeft ?? 0];
  }

  #hit(scope: string, [allowance, windowMs, count]: readonly Value[]): number[] {
    const limit = { limit: number(allowance), windowMs: number(windowMs) };
    const counts = number(count) === 1;
    let state = this.#windows.get(scope);
    if (!state || !fitsWindow(state, limit)) {
      state = openWindow(limit);
      if (counts) this.#windows.set(scope, state);
    }
    const { allowed, used, retryMs } = hitWindow(state, limit, this.#now(), counts);
    return [allowed ? 1 : 0, used, retryMs];
  }

  #reserve(scope: string, [holder, held, limit, leaseMs, ...amounts]: readonly Value[]): number[] {
    const ask = { holder: String(holder), held: number(held), limit: number(limit), leaseMs: number(leaseMs), amounts: amounts.map(number) };
    const { granted, spent, reserved, tasks } = reserveMoney(this.#money(scope).state, ask, this.#now());
    return [granted, spent ?? -1, reserved, tasks];
  }

  /** A charge that was lost on its way is made up by the next one of its process, from the difference of its totals. */
  #charge(scope: string, values: readonly Value[]): number[] {
    const holder = String(values[0]);
    const [held = 0, cost = 0, leaseMs = 0, total = 0] = values.slice(1).map(number);
    const { state, totals } = this.#money(scope);
    const known = totals.get(holder);
    totals.set(holder, total);
    chargeMoney(state, { holder, held, cost: Math.max(cost, known === undefined ? 0 : total - known), leaseMs }, this.#now());
    return [1];
  }

  /** What the rows of requests have reported since is not added a second time. */
  #learn(scope: string, [spent, tasks]: readonly Value[]): number[] {
    const money = this.#money(scope);
    if (number(spent) > (money.state.spent ?? -1)) money.totals.clear();
    learnSpent(money.state, number(spent), number(tasks) < 0 ? undefined : number(tasks));
    return [1];
  }

  #lookAtBudget(scope: string): number[] {
    const money = this.#budgets.peek(scope);
    if (!money) return [];
    const { spent, reserved, tasks } = reserveMoney(money.state, { holder: '', held: 0, limit: 0, leaseMs: 0, amounts: [] }, this.#now());
    return [spent ?? -1, reserved, tasks];
  }

  #gate(scope: string): GateState {
    const state = this.#gates.get(scope) ?? openGate();
    this.#gates.set(scope, state);
    return state;
  }

  #money(scope: string): Money {
    let money = this.#budgets.get(scope);
    if (!money) {
      money = { state: openBudget(), totals: new Map() };
      this.#budgets.set(scope, money);
    }
    return money;
  }
}
