/**
 * How long an opening was on its way. Our own pings tell what waited between the server and us; what waited before the server, in the opener's process or on its
 * connection, is told by the opener's clock. Clocks of two processes have nothing in common but their pace: how far apart they are is known from an answer that
 * came back at once, and from every opening that was faster than that.
 */
import { freshMs } from './round-trips.ts';

/** Our clock as a frame carries it: milliseconds, 32 bits that begin anew. 0 stands for none. */
export const sentNow = (): number => Math.floor(performance.now()) >>> 0 || 1;

/** The clock of one peer. */
export class PeerClock {
  /** How far apart the clocks are, with the way of the fastest message known. null: not known. */
  private apart: number | null = null;

  /** Whether an opening that we read now left its opener a moment ago. false too where that cannot be told yet. */
  isFresh(sentAt: number): boolean {
    // Of a version that does not say.
    if (sentAt === 0) return true;
    if (this.apart === null) return false;
    const apart = (sentNow() - sentAt) | 0;
    const later = (apart - this.apart) | 0;
    if (later < 0) this.apart = apart;
    return later < freshMs;
  }

  /** An answer that left its sender at `sentAt`, so long after it was asked for. */
  learn(sentAt: number, roundTripMs: number): void {
    if (sentAt !== 0 && roundTripMs < freshMs) this.apart = (sentNow() - sentAt) | 0;
  }
}
