/**
 * Admission to an upstream, a model, or the whole gateway: calls a minute, tokens a minute, concurrent calls, time between calls. The state is one
 * record for all processes; each of them (a holder) reports how many permits it has, so that a lost message is repaired by the next one.
 */
import type { RateLimit } from '@model-gateway/contracts';
import { type Bucket, fillBucket, openBucket, settleTokens, takeTokens, tokensLeft, waitForTokens } from './bucket.ts';

/** The configured limits of one upstream or model; null: not limited. */
export interface GateLimits {
  rpm: number | null;
  tpm: number | null;
  maxConcurrency: number | null;
  intervalMs: number | null;
  /** How full new buckets are, in percent. */
  initialPercent: number;
}

/** State of one gate, shared by all processes; times in ms. */
export interface GateState {
  rpm: Bucket | null;
  tpm: Bucket | null;
  /** Earliest time of the next call. */
  nextAt: number;
  /** Permits of each process; expire at `until`, unless renewed. */
  holders: Map<string, { held: number; until: number }>;
  /** Processes with waiting callers: since when, and until when that is believed. */
  waiting: Map<string, { since: number; until: number }>;
}

/** A request of one process for permits. */
export interface GateAsk {
  holder: string;
  /** Permits the holder has now: overrides whatever was recorded before. */
  held: number;
  /** Tokens of each call that wants admission, in order. */
  costs: readonly number[];
  /** Calls that are not admitted stay queued. */
  waits: boolean;
  leaseMs: number;
}

/** The answer to a request for permits. */
export interface Taken {
  /** So many of `costs`, from the first. */
  granted: number;
  /** When to ask again for the rest, in ms; null: only a release by this holder helps. */
  retryMs: number | null;
  /** Permits out at all holders, this answer included. */
  used: number;
}

/** How often a holder asks whether others have released. */
export const pollMs = 50;
/** How late a waiting holder may ask again before it loses its place in the queue. */
const graceMs = 150;

/** null: nothing is limited. */
export function toGateLimits(limit: RateLimit | null | undefined): GateLimits | null {
  if (!limit) return null;
  const { rpm, tpm, max_concurrency } = limit;
  const intervalMs = limit.tps_min_interval_ms || null;
  if (rpm === null && tpm === null && max_concurrency === null && intervalMs === null) return null;
  return { rpm, tpm, maxConcurrency: max_concurrency, intervalMs, initialPercent: limit.initial_tokens };
}

/** A plain cap on how much is under way at once. */
export const capOf = (maxConcurrency: number): GateLimits => ({ rpm: null, tpm: null, maxConcurrency, intervalMs: null, initialPercent: 100 });

/** One of `replicas` equal parts, at least 1: what a process may use when it cannot ask the shared store. */
export function shareOf(limits: GateLimits, replicas: number): GateLimits {
  const part = (whole: number | null) => (whole === null ? null : Math.max(1, Math.floor(whole / replicas)));
  return {
    ...limits,
    rpm: part(limits.rpm),
    tpm: part(limits.tpm),
    maxConcurrency: part(limits.maxConcurrency),
    intervalMs: limits.intervalMs === null ? null : limits.intervalMs * replicas,
  };
}

export const openGate = (): GateState => ({ rpm: null, tpm: null, nextAt: 0, holders: new Map(), waiting: new Map() });

/** Grants as many as fit, in order, and notes what the holder has. */
export function takePermits(state: GateState, limits: GateLimits, ask: GateAsk, now: number): Taken {
  const { holder, costs } = ask;
  refill(state, limits, now);
  let used = ask.held + heldByOthers(state, holder, now);
  const others = used > ask.held;
  let granted = 0;
  let retryMs: number | null = 0;
  const late = otherIsFirst(state, holder, now);
  while (granted < costs.length) {
    if (late) {
      retryMs = pollMs;
      break;
    }
    if (limits.maxConcurrency !== null && used >= limits.maxConcurrency) {
      retryMs = others ? pollMs : null;
      break;
    }
    retryMs = waitFor(state, limits, costs[granted]!, now);
    if (retryMs > 0) break;
    spend(state, limits, costs[granted]!, now);
    used++;
    granted++;
  }
  noteHeld(state, holder, limits.maxConcurrency === null ? 0 : ask.held + granted, now + ask.leaseMs);
  if (granted < costs.length && ask.waits) {
    const since = granted > 0 ? now : (state.waiting.get(holder)?.since ?? now);
    state.waiting.set(holder, { since, until: now + (retryMs ?? pollMs) + graceMs });
  } else state.waiting.delete(holder);
  return { granted, retryMs: granted < costs.length ? retryMs : 0, used };
}

/** A release of permits by one process. */
export interface GateGive {
  holder: string;
  /** Permits the holder has now. */
  held: number;
  /** So many more were used than reserved (fewer, when negative). */
  tokens: number;
  /** So many of the calls that were let through were never made; below zero: so many were made that did not ask. */
  unmade?: number;
  leaseMs: number;
}

export function givePermits(state: GateState, limits: GateLimits, give: GateGive, now: number): void {
  refill(state, limits, now);
  if (limits.tpm !== null && state.tpm) settleTokens(state.tpm, limits.tpm, give.tokens);
  if (limits.rpm !== null && state.rpm) settleTokens(state.rpm, limits.rpm, -(give.unmade ?? 0));
  noteHeld(state, give.holder, give.held, now + give.leaseMs);
}

/** What is in use and what is left, for people to read; null: not limited. */
export interface GateLook {
  /** Permits out at all holders. */
  used: number;
  /** Until one small call may pass, calls at once left aside. */
  waitMs: number;
  rpmLeft: number | null;
  tpmLeft: number | null;
}

export function lookAtGate(state: GateState, limits: GateLimits, now: number): GateLook {
  refill(state, limits, now);
  const { rpm, tpm } = state;
  return {
    used: heldByOthers(state, '', now),
    waitMs: waitFor(state, limits, 1, now),
    rpmLeft: rpm && tokensLeft(rpm),
    tpmLeft: tpm && tokensLeft(tpm),
  };
}

function refill(state: GateState, limits: GateLimits, now: number): void {
  for (const name of ['rpm', 'tpm'] as const) {
    const rate = limits[name];
    if (rate === null) {
      state[name] = null;
      continue;
    }
    const bucket = state[name] ?? openBucket(rate, limits.initialPercent, now);
    fillBucket(bucket, rate, now);
    state[name] = bucket;
  }
}

function heldByOthers(state: GateState, holder: string, now: number): number {
  let held = 0;
  for (const [name, one] of state.holders) {
    if (one.until <= now) state.holders.delete(name);
    else if (name !== holder) held += one.held;
  }
  return held;
}

/** Waiting processes take turns: the one that has waited longest goes first. */
function otherIsFirst(state: GateState, holder: string, now: number): boolean {
  const mine = state.waiting.get(holder)?.since ?? Number.POSITIVE_INFINITY;
  let late = false;
  for (const [name, one] of state.waiting) {
    if (one.until <= now) state.waiting.delete(name);
    else if (name !== holder && (one.since < mine || (one.since === mine && name < holder))) late = true;
  }
  return late;
}

function waitFor(state: GateState, limits: GateLimits, tokens: number, now: number): number {
  let wait = limits.intervalMs === null ? 0 : Math.max(0, Math.min(state.nextAt - now, limits.intervalMs));
  if (limits.rpm !== null) wait = Math.max(wait, waitForTokens(state.rpm!, limits.rpm, 1));
  if (limits.tpm !== null) wait = Math.max(wait, waitForTokens(state.tpm!, limits.tpm, tokens));
  return wait;
}

function spend(state: GateState, limits: GateLimits, tokens: number, now: number): void {
  if (limits.rpm !== null) takeTokens(state.rpm!, limits.rpm, 1);
  if (limits.tpm !== null) takeTokens(state.tpm!, limits.tpm, tokens);
  if (limits.intervalMs !== null) state.nextAt = now + limits.intervalMs;
}

function noteHeld(state: GateState, holder: string, held: number, until: number): void {
  if (held > 0) state.holders.set(holder, { held, until });
  else state.holders.delete(holder);
}
