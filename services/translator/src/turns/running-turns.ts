/** Turns that this process works on: it reports to the store while there are any, and runs without a caller are found by their turn's id. */
import type { Bus, Disposable } from '@model-gateway/bus';

/** The store gives up a turn whose holder was silent for three times as long. */
const aliveMs = 2_000;

/** A turn that may be cancelled. */
export interface Cancellable {
  readonly id: string;
  /** Only runs without a caller are. */
  readonly background: boolean;
  /** Its caller wants no more of it. */
  cancel(): void;
}

export class RunningTurns {
  readonly #bus: Pick<Bus, 'publish' | 'listen'>;
  readonly #holder: string;
  readonly #turns = new Map<string, Cancellable>();
  #timer: NodeJS.Timeout | undefined;
  #listening: Disposable | undefined;

  constructor(bus: Pick<Bus, 'publish' | 'listen'>, holder: string) {
    this.#bus = bus;
    this.#holder = holder;
  }

  start(): void {
    this.#listening = this.#bus.listen('turns.cancelled', ({ id }) => {
      const turn = this.#turns.get(id);
      if (turn?.background) turn.cancel();
    });
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#listening?.dispose();
  }

  add(turn: Cancellable): void {
    this.#turns.set(turn.id, turn);
    if (this.#timer) return;
    this.#report();
    this.#timer = setInterval(() => this.#report(), aliveMs).unref();
  }

  remove({ id }: Cancellable): void {
    this.#turns.delete(id);
    if (this.#turns.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #report(): void {
    this.#bus.publish('turns.alive', { holder: this.#holder });
  }
}
