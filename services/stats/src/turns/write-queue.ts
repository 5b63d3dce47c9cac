/** Commits changes of turns together: what arrives while a transaction runs waits for the next one, so that many turns cost one commit. */
import type { TurnsWritten } from '@model-gateway/contracts';
import type { TurnChange, TurnsRepository } from '@model-gateway/storage';

interface Waiting {
  change: TurnChange;
  resolve(written: TurnsWritten): void;
  reject(error: unknown): void;
}

/** One transaction must not hold others up for long. */
const maxBatch = 100;

export class WriteQueue {
  readonly #turns: Pick<TurnsRepository, 'write'>;
  readonly #waiting: Waiting[] = [];
  #running = false;

  constructor(turns: Pick<TurnsRepository, 'write'>) {
    this.#turns = turns;
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
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0) await this.#commit(this.#waiting.splice(0, maxBatch));
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
