/** Overload of a process: a level derived from its memory and the lag of its event loop, sampled four times a second; reading it costs one comparison. */
import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { type Logger, type Metrics, residentBytes } from '@model-gateway/telemetry';
import { descriptorLimit } from './descriptor-limit.ts';

/** 0: all is well. 1: connections are not kept. 2: no new streams. 3: no new requests. */
export type PressureLevel = 0 | 1 | 2 | 3;

/** The present overload level of the process, updated in the background until `stop`. */
export interface Pressure {
  readonly level: PressureLevel;
  stop(): void;
}

/** One sample. */
export interface PressureReading {
  /** Share of what the process may have, 0 to 1: of its memory or of its heap, whichever is nearer. */
  memory: number;
  /** How late the sample was taken, in ms. */
  lagMs: number;
}

/** Thresholds of overload, and where changes are reported. */
export interface PressureOptions {
  /** Bytes that the process may take; 0: what the system or its container grants. */
  memoryBytes: number;
  /** A lag above this for most of a second counts as overload; 0 turns that off. */
  lagMs: number;
  logger: Logger;
  metrics: Metrics;
}

export const lookMs = 250;
/** This many of the last samples must have been late: a single pause of the garbage collector is no overload. */
const remembered = 4;
const lateLooks = 3;
/** Share of memory, and the level above it. */
const steps: readonly (readonly [number, PressureLevel])[] = [
  [0.95, 3],
  [0.92, 2],
  [0.85, 1],
];
const quietMs = 10_000;

/** The level from the samples so far; one ladder for each process. */
export class Ladder {
  readonly #lagMs: number;
  #late: boolean[] = [];

  constructor(lagMs: number) {
    this.#lagMs = lagMs;
  }

  take({ memory, lagMs }: PressureReading): PressureLevel {
    this.#late = [...this.#late.slice(1 - remembered), this.#lagMs > 0 && lagMs > this.#lagMs];
    const byMemory = steps.find(([share]) => memory > share)?.[1] ?? 0;
    const byLag = this.#late.filter(Boolean).length >= lateLooks ? 1 : 0;
    return Math.max(byMemory, byLag) as PressureLevel;
  }
}

/**
 * This many requests at once are accepted at any level. A heap full of garbage is only cleared by work, and freed memory is not always returned to
 * the system: one long stream would otherwise keep all others out.
 */
export const takenAnyway = 8;

/** No overload detection: for tests, and for services composed without a process. */
export const noPressure: Pressure = { level: 0, stop: () => undefined };

export function watchPressure({ memoryBytes, lagMs, logger, metrics }: PressureOptions): Pressure {
  const max = memoryBytes || grantedBytes();
  const ladder = new Ladder(lagMs);
  const pressure = { level: 0 as PressureLevel, stop: () => clearInterval(timer) };
  let due = performance.now() + lookMs;
  let reportedAt = Number.NEGATIVE_INFINITY;
  let unreadableAt = Number.NEGATIVE_INFINITY;
  // Node says nothing of connections that it closes for want of a descriptor.
  const onUnreadable = (error: unknown): void => {
    if (performance.now() - unreadableAt < quietMs) return;
    unreadableAt = performance.now();
    logger.error({ error, limit: descriptorLimit() }, 'file descriptors are used up: new connections are closed at once, and calls of upstreams fail');
  };
  const look = (): void => {
    const now = performance.now();
    const reading = { memory: shareOf(max, onUnreadable), lagMs: now - due };
    due = now + lookMs;
    const before = pressure.level;
    pressure.level = ladder.take(reading);
    if (pressure.level === before || now - reportedAt < quietMs) return;
    reportedAt = now;
    const facts = { level: pressure.level, memoryPercent: Math.round(reading.memory * 100), lagMs: Math.round(reading.lagMs) };
    if (pressure.level > before) logger.warn(facts, 'the process is under pressure');
    else logger.info(facts, 'the pressure has eased');
  };
  const timer = setInterval(look, lookMs).unref();
  metrics.gauge('gateway_pressure', 'Level of overload: 1 connections are not kept, 2 no new streams, 3 no new requests.', () => pressure.level);
  return pressure;
}

/** Of the container, else of the machine. */
export function grantedBytes(): number {
  const constrained = process.constrainedMemory();
  const total = totalmem();
  return constrained > 0 && constrained < total ? constrained : total;
}

function shareOf(memoryBytes: number, onUnreadable: (error: unknown) => void): number {
  const heap = getHeapStatistics();
  return Math.max(residentBytes(onUnreadable) / memoryBytes, heap.used_heap_size / heap.heap_size_limit);
}
