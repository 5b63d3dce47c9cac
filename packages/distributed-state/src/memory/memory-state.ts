/** Shared state of a single process: the pure rules of packages/limits over maps, answered synchronously. */

import {
  type BudgetState,
  chargeMoney,
  fitsWindow,
  type GateLimits,
  type GateLook,
  type GateState,
  givePermits,
  type Hit,
  hitWindow,
  learnSpent,
  lookAtGate,
  openBudget,
  openGate,
  openWindow,
  type Reserved,
  reserveMoney,
  type Taken,
  takePermits,
  type WindowLimit,
  type WindowState,
} from '@model-gateway/limits';
import { boundedMap } from '../bounded-map.ts';
import type { BudgetLook, SharedState, StateStatus, TakeAsk } from '../state.ts';

/** Settings of the in-process state; all have defaults that suit one process. */
export interface MemoryStateOptions {
  holder?: string;
  /** A monotonic clock in whole ms. */
  now?: () => number;
}

const maxBudgets = 100_000;
/** Callers that are remembered: addresses come from outside. */
const maxWindows = 100_000;
/** Leases of a process never outlive it when the state is in its own memory, so they need no expiry. */
const noEnd = Number.MAX_SAFE_INTEGER / 4;

export class MemoryState implements SharedState {
  readonly holder: string;
  readonly remote = false;
  readonly #now: () => number;
  readonly #gates = new Map<string, GateState>();
  /** Bounded, because budget periods end, and their scopes are never asked for again. */
  readonly #budgets = boundedMap<BudgetState>(maxBudgets);
  readonly #windows = boundedMap<WindowState>(maxWindows);

  constructor({ holder = 'memory', now = () => Math.floor(performance.now()) }: MemoryStateOptions = {}) {
    this.holder = holder;
    this.#now = now;
  }

  take(scope: string, limits: GateLimits, ask: TakeAsk): Taken {
    return takePermits(this.#gate(scope), limits, { ...ask, holder: this.holder, leaseMs: noEnd }, this.#now());
  }

  give(scope: string, limits: GateLimits, give: { held: number; tokens: number; unmade?: number }): void {
    givePermits(this.#gate(scope), limits, { ...give, holder: this.holder, leaseMs: noEnd }, this.#now());
  }

  hit(scope: string, limit: WindowLimit): Hit {
    let state = this.#windows.get(scope);
    if (!state || !fitsWindow(state, limit)) {
      state = openWindow(limit);
      this.#windows.set(scope, state);
    }
    return hitWindow(state, limit, this.#now());
  }

  reserve(scope: string, ask: { limit: number; held: number; amounts: readonly number[] }): Reserved {
    return reserveMoney(this.#budget(scope), { ...ask, holder: this.holder, leaseMs: noEnd }, this.#now());
  }

  charge(scope: string, charge: { held: number; cost: number }): void {
    chargeMoney(this.#budget(scope), { ...charge, holder: this.holder, leaseMs: noEnd }, this.#now());
  }

  learn(scope: string, spent: number, tasks?: number): void {
    learnSpent(this.#budget(scope), spent, tasks);
  }

  lookAtGate(scope: string, limits: GateLimits): GateLook | null {
    const state = this.#gates.get(scope);
    return state ? lookAtGate(state, limits, this.#now()) : null;
  }

  lookAtWindow(scope: string, limit: WindowLimit): Hit | null {
    const state = this.#windows.peek(scope);
    return state && fitsWindow(state, limit) ? hitWindow(state, limit, this.#now(), false) : null;
  }

  lookAtBudget(scope: string): BudgetLook | null {
    const state = this.#budgets.peek(scope);
    if (!state) return null;
    const { spent, tasks } = state;
    return { spent, reserved: [...state.holders.values()].reduce((sum, { held }) => sum + held, tasks), tasks };
  }

  status(): StateStatus {
    return { backend: 'memory', degraded: false, degradedSince: null };
  }

  async start(): Promise<void> {}

  async close(): Promise<void> {}

  #gate(scope: string): GateState {
    const state = this.#gates.get(scope) ?? openGate();
    this.#gates.set(scope, state);
    return state;
  }

  #budget(scope: string): BudgetState {
    let state = this.#budgets.get(scope);
    if (!state) {
      state = openBudget();
      this.#budgets.set(scope, state);
    }
    return state;
  }
}
