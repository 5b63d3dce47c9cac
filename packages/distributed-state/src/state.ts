/** The one interface of counters and leases that processes share; every scope is a name that the caller of this module chooses. */
import type { GateLimits, GateLook, Hit, Reserved, Taken, WindowLimit } from '@model-gateway/limits';

/** Synchronous where the state is in this process, a promise where it is not. */
export type MaybePromise<T> = T | Promise<T>;

/** A request for permits in one scope. */
export interface TakeAsk {
  /** Permits this process has in the scope now. One request per scope may be under way at a time. */
  held: number;
  /** Tokens of each call that wants admission, in order. */
  costs: readonly number[];
  /** Callers stay queued when they are not admitted: other processes then take turns with this one. */
  waits: boolean;
}

/** Where the counters are kept now, for health reports and the console. */
export interface StateStatus {
  backend: 'memory' | 'redis' | 'process';
  /** Limits are kept by this process alone, at its share of them, because Redis, or the process that keeps them, does not answer. */
  degraded: boolean;
  /** Milliseconds since the epoch at which it began. */
  degradedSince: number | null;
}

/** Admission to an upstream, a model or the whole gateway (`gate.ts` of packages/limits). */
export interface GateState {
  take(scope: string, limits: GateLimits, ask: TakeAsk): MaybePromise<Taken>;
  /** Permits were released; `tokens` more were used than reserved, and `unmade` of the calls were never made (below zero: so many were made that did not ask). */
  give(scope: string, limits: GateLimits, give: { held: number; tokens: number; unmade?: number }): void;
  /** Read only; null: the scope is unknown. */
  lookAtGate(scope: string, limits: GateLimits): MaybePromise<GateLook | null>;
}

/** Requests in a sliding window of time (`window.ts` of packages/limits). */
export interface RequestWindowState {
  hit(scope: string, limit: WindowLimit): MaybePromise<Hit>;
  /** Read only; null: the scope is unknown. */
  lookAtWindow(scope: string, limit: WindowLimit): MaybePromise<Hit | null>;
}

/** What is known of one budget, in micro-units. */
export interface BudgetLook {
  spent: number | null;
  reserved: number;
  /** The part of `reserved` that tasks of upstreams hold. */
  tasks: number;
}

/** Money of a period, in micro-units (`budget.ts` of packages/limits). */
export interface SharedBudgetState {
  /** `held`: what this process has already reserved. One request per scope may be under way at a time. */
  reserve(scope: string, ask: { limit: number; held: number; amounts: readonly number[] }): MaybePromise<Reserved>;
  charge(scope: string, charge: { held: number; cost: number }): void;
  /** What the database reports as spent, and as held by tasks of upstreams (absent: it does not say). */
  learn(scope: string, spent: number, tasks?: number): void;
  /** Read only; null: the scope is unknown. */
  lookAtBudget(scope: string): MaybePromise<BudgetLook | null>;
}

/** No method ever rejects or throws because of Redis: without it the answer comes from this process's share. */
export interface SharedState extends GateState, RequestWindowState, SharedBudgetState {
  /** Identifies this process to the others. */
  readonly holder: string;
  /** Whether answers may be promises; false: every answer is synchronous. */
  readonly remote: boolean;
  status(): StateStatus;
  /** Resolves after the first attempt to reach the store, whatever its result. May be called by every user of it. */
  start(): Promise<void>;
  close(): Promise<void>;
}

/** Leases of a process that died expire after this time. */
export const leaseMs = 10_000;
/** How often a living process renews all of its leases. */
export const renewMs = 3_000;
