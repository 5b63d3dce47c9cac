/** One coarse timer for the time-outs of all calls, since a timer per call and chunk would cost more than the chunk. */
import { type DenseMember, DenseSet } from '@model-gateway/collections';

export interface Sweepable extends DenseMember {
  /** Called at every tick with the clock; ends the call when one of its limits has passed. */
  sweep(now: number): void;
}

const coarsest = 250;
const finest = 10;

export interface Sweeper<T extends Sweepable> {
  /** `shortestMs`: the smallest limit that matters to this call; limits are kept to about an eighth of it, or a quarter of a second. */
  add(call: T, shortestMs: number): void;
  remove(call: T): void;
  forEach(visit: (call: T) => void): void;
  readonly size: number;
}

/** The timer runs only while there are calls. `now` is a monotonic clock in ms. */
export function createSweeper<T extends Sweepable>(now: () => number = () => performance.now()): Sweeper<T> {
  const calls = new DenseSet<T>();
  let timer: NodeJS.Timeout | undefined;
  let interval = coarsest;

  const sweepAll = (): void => {
    const time = now();
    calls.forEach((call) => call.sweep(time));
  };
  function tick(): void {
    if (calls.size === 0) {
      clearInterval(timer);
      timer = undefined;
      interval = coarsest;
      return;
    }
    // After the poll phase: bytes that arrived while the process was busy are read before silence is judged.
    setImmediate(sweepAll);
  }
  return {
    add(call, shortestMs) {
      calls.add(call);
      const wanted = Math.max(finest, Math.min(coarsest, shortestMs / 8));
      if (timer !== undefined && wanted >= interval) return;
      interval = Math.min(interval, wanted);
      clearInterval(timer);
      timer = setInterval(tick, interval);
      timer.unref();
    },
    remove: (call) => calls.remove(call),
    forEach: (visit) => calls.forEach(visit),
    get size() {
      return calls.size;
    },
  };
}
