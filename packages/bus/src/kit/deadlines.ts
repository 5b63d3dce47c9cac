/** Coarse deadlines for many waiters on one shared interval, because a timer for each costs more than the call it guards. */
import { Roster, type Rostered } from '@model-gateway/roster';

export interface Deadline extends Rostered {
  /** On the clock of `performance.now()`. */
  at: number;
  expire: () => void;
}

export class Deadlines {
  private readonly waiting = new Roster<Deadline>();
  private readonly stepMs: number;
  private timer: NodeJS.Timeout | null = null;

  constructor(stepMs = 50) {
    this.stepMs = stepMs;
  }

  add(afterMs: number, expire: () => void): Deadline {
    const deadline = { at: performance.now() + afterMs, expire, place: -1 };
    this.waiting.add(deadline);
    this.timer ??= setInterval(() => this.sweep(), this.stepMs);
    return deadline;
  }

  delete(deadline: Deadline): void {
    this.waiting.remove(deadline);
  }

  private sweep(): void {
    const now = performance.now();
    this.waiting.forEach((deadline) => {
      if (deadline.at > now) return;
      this.waiting.remove(deadline);
      deadline.expire();
    });
    if (this.waiting.size > 0 || !this.timer) return;
    clearInterval(this.timer);
    this.timer = null;
  }
}
