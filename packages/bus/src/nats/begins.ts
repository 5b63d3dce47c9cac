/**
 * When a callee begins with what it was opened for. An opener that receives nothing for half a second opens elsewhere, so a process that was stopped, or
 * reads late for any other reason, must not begin with what it finds: it asks the opener first, which declines when it has opened elsewhere. The same where the
 * opening itself was long on its way.
 */
import type { RoundTrips } from './round-trips.ts';

/** A callee's stream whose handler has not been called yet. */
export interface Beginner {
  readonly live: boolean;
  /** Sends `accept`: the handler begins. */
  accept(): void;
  /** Sends `accept` with a number, and begins with the opener's `go`. */
  awaitGo(begin: () => void): void;
}

interface Ready {
  stream: Beginner;
  readAt: number;
  begin: () => void;
}

/** Starts the handlers of streams that are ready. */
export class Begins {
  private readonly trips: RoundTrips;
  private ready: Ready[] = [];

  constructor(trips: RoundTrips) {
    this.trips = trips;
  }

  /** All that belongs to the opening is here. `readAt` (by `performance.now()`): when it was read; `fresh`: it left its opener a moment before. */
  add(stream: Beginner, { readAt, fresh }: { readAt: number; fresh: boolean }, begin: () => void): void {
    if (!fresh || !this.trips.fresh || !this.trips.stillFresh(readAt)) return stream.awaitGo(begin);
    stream.accept();
    this.ready.push({ stream, readAt, begin });
    // What was read in one turn begins at its end, after one write: a process that is stopped now has either accepted or not begun.
    if (this.ready.length === 1) setImmediate(() => this.beginAll());
  }

  private beginAll(): void {
    const ready = this.ready;
    this.ready = [];
    this.trips.flush();
    for (const { stream, readAt, begin } of ready) {
      if (!stream.live) continue;
      if (this.trips.stillFresh(readAt)) begin();
      else stream.awaitGo(begin);
    }
  }
}
