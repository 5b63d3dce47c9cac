/**
 * How long an opening was on its way. Our own pings measure the way from the server to us; how long it waited before that, in its opener's process or connection,
 * only the opener's clock can say. Clocks of two processes share nothing but their pace: the offset between them is learnt from an answer that came back at once,
 * and from every opening that was faster than that.
 */
import { freshMs } from './round-trips.ts';

/** Our clock as a frame carries it: milliseconds, 32 bits that begin anew. 0 stands for none. */
export const sentNow = (): number => Math.floor(performance.now()) >>> 0 || 1;

/** The clock of one peer. */
export class PeerClock {
  /** Our clock less the peer's, and the way of the fastest message known. null: not known. */
  private offset: number | null = null;

  /** Whether an opening that we read now left its opener a moment ago. false too while the offset is unknown. */
  isFresh(sentAt: number): boolean {
    // Of a version that does not say.
    if (sentAt === 0) return true;
    if (this.offset === null) return false;
    const offset = (sentNow() - sentAt) | 0;
    const later = (offset - this.offset) | 0;
    if (later < 0) this.offset = offset;
    return later < freshMs;
  }

  /** An answer that left its sender at `sentAt`, so long after it was asked for. */
  learn(sentAt: number, roundTripMs: number): void {
    if (sentAt !== 0 && roundTripMs < freshMs) this.offset = (sentNow() - sentAt) | 0;
  }
}
