/** Commits changes of turns together: what arrives while a transaction runs waits for the next one, so that many turns cost one commit. */
import { setImmediate as turnOfEventLoop, setTimeout as wait } from 'node:timers/promises';
import type { TurnsWritten } from '@model-gateway/contracts';
import type { TurnChange, TurnsRepository } from '@model-gateway/storage';

interface Waiting {
  change: TurnChange;
  resolve(written: TurnsWritten): void;
  reject(error: unknown): void;
}

/** One transaction must not hold others up for long. */
const maxBatch = 100;
/** Where changes come several at a time, further ones are waited for this long: a transaction costs more than what most change in it. */
const gatherMs = 2;
/** How long after such a time that goes on. */
const busyMs = 20;

const systemClock = {
  /** Monotonic, in ms. */
  now: () => performance.now(),
  wait: (ms: number): Promise<unknown> => wait(ms),
};

export class WriteQueue {
  readonly #turns: Pick<TurnsRepository, 'write'>;
  readonly #waiting: Waiting[] = [];
  readonly #clock: typeof systemClock;
  #running = false;
  #severalAt = Number.NEGATIVE_INFINITY;

  constructor(turns: Pick<TurnsRepository, 'write'>, clock = systemClock) {
    this.#turns = turns;
    this.#clock = clock;
  }

  /** Resolves when the change is committed, in the order of the calls. */
  write(change: TurnChange): Promise<TurnsWritten> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ change, resolve, reject });
      if (!this.#running) void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#running = true;
    // What arrives in this turn of the event loop belongs to the same batch.
    if (this.#clock.now() - this.#severalAt > busyMs) await turnOfEventLoop();
    else await this.#clock.wait(gatherMs);
    while (this.#waiting.length > 0) {
      if (this.#waiting.length > 1) this.#severalAt = this.#clock.now();
      await this.#commit(this.#waiting.splice(0, maxBatch));
    }
    this.#running = false;
  }

  async #commit(batch: readonly Waiting[]): Promise<void> {
    try {
      const written = await this.#turns.write(batch.map(({ change }) => change));
      for (const [at, { resolve }] of batch.entries()) resolve(written[at] ?? { stored: false, reason: 'missing' });
    } catch (error) {
      const [only] = batch;
      if (batch.length === 1 || only === undefined) return only?.reject(error);
      // One that the database refuses must not take the others with it.
      for (const one of batch) await this.#commit([one]);
    }
  }
}
