/** The slots: as many run at once as the setting says, one more stands warm, and what dies is replaced by it at once. */
import type { ScriptFault, ScriptOutcome } from '@model-gateway/contracts';
import type { Logger } from '@model-gateway/telemetry';
import type { SlotRequest, SlotSettings } from '../child/messages.ts';
import { Slot } from './slot.ts';
import { WaitingLine } from './waiting-line.ts';

export interface PoolOptions extends SlotSettings {
  slots: number;
  /** How long a run may wait for a slot, in ms. */
  waitMs: number;
}

/** A run for the pool; `owner` decides whose turn it is in the queue. */
export interface PoolRun {
  owner: string;
  request: SlotRequest;
  body: Uint8Array;
  done(outcome: ScriptOutcome, texts: Uint8Array): void;
}

interface WaitingRun extends PoolRun {
  /** How often a slot died before it had begun with it. */
  retries: number;
  bytes: number;
  late: NodeJS.Timeout;
}

const maxWaiting = 1000;
const maxWaitingBytes = 256 * 1024 * 1024;
/** Slots that die while they start are not started again faster than this, in ms. */
const restartMs = 500;

export class ScriptPool {
  readonly #options: PoolOptions;
  readonly #logger: Logger;
  /** Processes, starting ones too: at most one more than may run. */
  readonly #slots = new Set<Slot>();
  readonly #idle: Slot[] = [];
  readonly #line = new WaitingLine<WaitingRun>(maxWaiting, maxWaitingBytes);
  #running = 0;
  #closed = false;
  #lastStart = 0;
  #restart: NodeJS.Timeout | undefined;

  constructor(options: PoolOptions, logger: Logger) {
    this.#options = options;
    this.#logger = logger;
  }

  /** Process ids, for tests and gauges. */
  get pids(): number[] {
    return [...this.#slots].flatMap(({ pid }) => pid ?? []);
  }
  get running(): number {
    return this.#running;
  }
  get waiting(): number {
    return this.#line.length;
  }

  /** Starts the first slots before anybody asks. */
  warm(): void {
    this.#grow();
  }

  /** Runs it now or when its turn comes. The outcome names the reason when it could not: the queue is full, or its time in the queue is up. */
  run(run: PoolRun): { leave(): void } {
    const waiting: WaitingRun = {
      ...run,
      retries: 0,
      bytes: run.body.byteLength,
      late: setTimeout(() => this.#refuse(waiting, 'waited too long for a free slot'), this.#options.waitMs),
    };
    if (this.#closed || !this.#line.enter(waiting)) {
      clearTimeout(waiting.late);
      queueMicrotask(() => run.done(refusal('too many scripts are waiting'), nothing));
      return { leave: () => {} };
    }
    this.#next();
    return {
      leave: () => {
        if (this.#line.leave(waiting)) clearTimeout(waiting.late);
      },
    };
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#restart);
    for (let waiting = this.#line.next(); waiting; waiting = this.#line.next()) {
      clearTimeout(waiting.late);
      waiting.done(refusal('the script runner is leaving'), nothing);
    }
    for (const slot of this.#slots) slot.close();
  }

  #refuse(waiting: WaitingRun, why: string): void {
    if (this.#line.leave(waiting)) waiting.done(refusal(why), nothing);
  }

  #next(): void {
    this.#grow();
    while (this.#running < this.#options.slots && this.#line.length > 0) {
      const slot = this.#takeIdle();
      if (!slot) return;
      const waiting = this.#line.next();
      if (!waiting) {
        this.#idle.push(slot);
        return;
      }
      clearTimeout(waiting.late);
      this.#running++;
      slot.run({
        request: waiting.request,
        body: waiting.body,
        done: (outcome, texts) => {
          this.#running--;
          if (slot.ready) this.#idle.push(slot);
          waiting.done(outcome, texts);
          this.#next();
        },
        retry: () => {
          // All that stood ready may have died at once; more than that is no chance.
          if (waiting.retries > this.#options.slots || this.#closed) return false;
          if (!this.#line.enter(waiting)) return false;
          waiting.retries++;
          waiting.late = setTimeout(() => this.#refuse(waiting, 'waited too long for a free slot'), this.#options.waitMs);
          this.#running--;
          return true;
        },
      });
    }
  }

  #takeIdle(): Slot | undefined {
    for (let slot = this.#idle.pop(); slot; slot = this.#idle.pop()) if (slot.ready) return slot;
    return undefined;
  }

  /** As many processes as are busy or wanted, and a spare. */
  #grow(): void {
    if (this.#closed) return;
    const wanted = Math.min(this.#options.slots, this.#running + this.#line.length) + 1;
    while (this.#slots.size < wanted) {
      const early = this.#lastStart + restartMs - performance.now();
      if (this.#slots.size === 0 && early > 0 && this.#lastStart > 0) {
        // All of them have just died.
        this.#restart ??= setTimeout(() => {
          this.#restart = undefined;
          this.#next();
        }, early).unref();
        return;
      }
      this.#start();
    }
  }

  #start(): void {
    this.#lastStart = performance.now();
    const { maxOperations, memoryLimitMb, timeoutMs, lazyBody } = this.#options;
    const slot = new Slot({ maxOperations, memoryLimitMb, timeoutMs, lazyBody }, this.#logger, (ended) => {
      this.#slots.delete(ended);
      if (!this.#closed) this.#next();
    });
    this.#slots.add(slot);
    slot.onReady(() => {
      this.#idle.push(slot);
      this.#next();
    });
  }
}

const nothing = new Uint8Array();

const refusal = (message: string): ScriptOutcome => ({
  operations: 0,
  execution_time_ms: 0,
  use_model: null,
  fault: { code: 'ScriptRunnerBusy', message, line: null } satisfies ScriptFault,
  places: [],
});
