/** Coarse deadlines for many waiters on one shared interval, because a timer for each costs more than the call it guards. */

export interface Deadline {
  at: number;
  expire: () => void;
}

export class Deadlines {
  private readonly waiting = new Set<Deadline>();
  private readonly stepMs: number;
  private timer: NodeJS.Timeout | null = null;

  constructor(stepMs = 50) {
    this.stepMs = stepMs;
  }

  add(afterMs: number, expire: () => void): Deadline {
    const deadline = { at: performance.now() + afterMs, expire };
    this.waiting.add(deadline);
    this.timer ??= setInterval(() => this.sweep(), this.stepMs);
    return deadline;
  }

  delete(deadline: Deadline): void {
    this.waiting.delete(deadline);
  }

  private sweep(): void {
    const now = performance.now();
    for (const deadline of this.waiting) {
      if (deadline.at > now) continue;
      this.waiting.delete(deadline);
      deadline.expire();
    }
    if (this.waiting.size > 0 || !this.timer) return;
    clearInterval(this.timer);
    this.timer = null;
  }
}
