/** The bus's coarse clock: one shared interval, monotonic, and blind to our own stalls so that a process that was stopped does not blame its peers. */

export const tickMs = 100;
/** Most that one tick may count for. */
const maxTickMs = 250;

/** Calls `tick` ten times a second and counts the time that the process was awake. */
export class Clock {
  /** Milliseconds of awake time, at most `tickMs` old. */
  now = 0;
  private last = performance.now();
  private readonly timer: NodeJS.Timeout;

  /** `onTick` must not throw. */
  constructor(onTick: () => void) {
    this.timer = setInterval(() => {
      const wall = performance.now();
      this.now += Math.min(maxTickMs, wall - this.last);
      this.last = wall;
      onTick();
    }, tickMs);
    this.timer.unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }
}
