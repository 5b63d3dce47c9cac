/** Coarse deadlines for many waiters on one shared interval, because a timer for each costs more than the call it guards. */
import { type DenseMember, DenseSet } from '@model-gateway/collections';

/** Something that expires. */
export interface Deadline extends DenseMember {
  /** Set by `Deadlines`, on the clock of `performance.now()`. */
  endsAt: number;
  expire(): void;
}

/** Deadlines on one interval, which runs while there are any. */
export class Deadlines {
  private readonly waiting = new DenseSet<Deadline>();
  private readonly stepMs: number;
  private timer: NodeJS.Timeout | null = null;

  constructor(stepMs = 50) {
    this.stepMs = stepMs;
  }

  add(afterMs: number, deadline: Deadline): void {
    deadline.endsAt = performance.now() + afterMs;
    this.waiting.add(deadline);
    this.timer ??= setInterval(() => this.sweep(), this.stepMs);
  }

  delete(deadline: Deadline): void {
    this.waiting.remove(deadline);
  }

  private sweep(): void {
    const now = performance.now();
    this.waiting.forEach((deadline) => {
      if (deadline.endsAt > now) return;
      this.waiting.remove(deadline);
      deadline.expire();
    });
    if (this.waiting.size > 0 || !this.timer) return;
    clearInterval(this.timer);
    this.timer = null;
  }
}
