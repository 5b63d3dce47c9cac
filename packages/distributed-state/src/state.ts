/** The one interface of counters and leases that processes share; every scope is a name of the caller's own making. */
import type { GateLimits, GateLook, Hit, Reserved, Taken, WindowLimit } from '@model-gateway/limits';

/** At once where the state is in this process, later where it is not. */
export type Soon<T> = T | Promise<T>;

export interface TakeAsk {
  /** Permits this process has in the scope now. One question per scope may be under way at a time. */
  held: number;
  /** Tokens of each call that wants in, in order. */
  costs: readonly number[];
  /** Callers stay in line when they do not get in: other processes then take turns with this one. */
  waits: boolean;
}

export interface StateStatus {
  backend: 'memory' | 'redis';
  /** Limits are kept by this process alone, by its share of them, because Redis does not answer. */
  degraded: boolean;
  /** Milliseconds since the epoch at which it began. */
  degradedSince: number | null;
}

/** No method ever rejects or throws because of Redis: without it the answer comes from this process's share. */
export interface SharedState {
  /** This process, as the others see it. */
  readonly holder: string;
  /** Whether answers may come later; false: every answer is there at once. */
  readonly remote: boolean;
  take(scope: string, limits: GateLimits, ask: TakeAsk): Soon<Taken>;
  /** Permits were released; `tokens` more were used than reserved, and `unmade` of the calls were never made. */
  give(scope: string, limits: GateLimits, give: { held: number; tokens: number; unmade?: number }): void;
  hit(scope: string, limit: WindowLimit): Soon<Hit>;
  /** `held`: what this process has reserved already. One question per scope may be under way at a time. */
  reserve(scope: string, ask: { limit: number; held: number; amounts: readonly number[] }): Soon<Reserved>;
  charge(scope: string, charge: { held: number; cost: number }): void;
  /** What the database says was spent. */
  learn(scope: string, spent: number): void;
  /** Reads without changing anything; null: nothing is known of the scope. */
  lookAtGate(scope: string, limits: GateLimits): Soon<GateLook | null>;
  lookAtWindow(scope: string, limit: WindowLimit): Soon<Hit | null>;
  lookAtBudget(scope: string): Soon<{ spent: number | null; reserved: number } | null>;
  status(): StateStatus;
  /** Resolves after the first attempt to reach the store, whatever came of it. May be called by everybody who uses it. */
  start(): Promise<void>;
  close(): Promise<void>;
}

/** A lease of a process that died ends after this time. */
export const leaseMs = 10_000;
/** How often a living one renews all of its leases. */
export const renewMs = 3_000;
