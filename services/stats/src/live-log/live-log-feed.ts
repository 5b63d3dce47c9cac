/** Publishes committed rows while a live log viewer is open, and nothing otherwise. */
import type { Bus, Disposable } from '@model-gateway/bus';
import type { RequestRow } from '@model-gateway/contracts';

/** Publishes committed rows to live log viewers. */
export interface LiveLogFeed extends Disposable {
  publish(rows: readonly RequestRow[]): void;
}

/** A watcher says so every few seconds. */
const watchedMs = 15_000;
/** Nobody reads more than that. */
const maxPerSecond = 500;
/** Fits into one message of the bus whatever the rows hold. */
const rowsPerMessage = 20;

/** `now`: a monotonic clock in ms. */
export function createLiveLogFeed(bus: Bus, now: () => number = () => performance.now()): LiveLogFeed {
  let watchedUntil = Number.NEGATIVE_INFINITY;
  let second = 0;
  let published = 0;
  const listening = bus.listen('logs.watch', () => {
    watchedUntil = now() + watchedMs;
  });
  return {
    publish(rows) {
      const at = now();
      if (at > watchedUntil) return;
      if (Math.floor(at / 1_000) !== second) {
        second = Math.floor(at / 1_000);
        published = 0;
      }
      const shown = rows.slice(0, Math.max(0, maxPerSecond - published));
      published += rows.length;
      const dropped = rows.length - shown.length;
      for (let start = 0; start < shown.length; start += rowsPerMessage)
        bus.publish('logs.rows', { rows: shown.slice(start, start + rowsPerMessage), dropped: 0 });
      if (dropped > 0) bus.publish('logs.rows', { rows: [], dropped });
    },
    dispose: () => listening.dispose(),
  };
}
