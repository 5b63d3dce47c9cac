/**
 * How old a message may be that we read now. The server sends us everything in one order, its answers to our pings too: what we read after an answer
 * was handed to us after that ping was sent. So a process that was stopped, or one behind a server that was, knows by itself that what it reads may
 * be stale: the newest ping that was answered is old.
 */

/** Younger than this, an opening is begun at once: its opener waits twice as long before it goes elsewhere. */
export const freshMs = 250;
/** A server that leaves a ping unanswered for this long (of awake time) hangs. */
const hungMs = 1000;
/** After this long it is given up: by then all that was under way over it has ended. */
const givenUpMs = 4000;

/** What round trips need of their bus. */
export interface RoundTripsHost {
  /** Awake milliseconds. */
  readonly now: number;
  /** Writes out all that was published so far, and a ping behind it; resolves with the answer. null: there is no connection. */
  ping(): Promise<void> | null;
  /** The server stopped answering, or answers again. */
  hangs(hung: boolean): void;
  /** The server has not answered for so long that another is to be tried; said once for each connection. */
  giveUp(): void;
}

/** Pings to the server: how fresh what we read is, and whether the server hangs. */
export class RoundTrips {
  hung = false;
  private readonly host: RoundTripsHost;
  /** By `performance.now()`: when the newest ping was sent that was answered. */
  private answered = Number.NEGATIVE_INFINITY;
  /** Awake time at which the oldest ping was sent that waits. */
  private waitingSince: number | null = null;
  private waiting = 0;
  /** Of one connection. */
  private era = 0;
  private givenUp = false;

  constructor(host: RoundTripsHost) {
    this.host = host;
  }

  /** Whether what is read now was sent to us a moment ago. */
  get fresh(): boolean {
    return performance.now() - this.answered < freshMs;
  }

  /** Whether less time has passed since `readAt` (by `performance.now()`) than lets a message become stale. */
  stillFresh(readAt: number): boolean {
    return performance.now() - readAt < freshMs;
  }

  /** Sends out what waits to be sent, now. */
  flush(): void {
    const sentAt = performance.now();
    const answer = this.host.ping();
    if (!answer) return;
    const { era } = this;
    this.waiting++;
    this.waitingSince ??= this.host.now;
    answer.then(
      () => this.receive(sentAt, era),
      () => undefined,
    );
  }

  tick(): void {
    if (this.waiting === 0) this.flush();
    const silentMs = this.waitingSince === null ? 0 : this.host.now - this.waitingSince;
    if (!this.hung && silentMs > hungMs) this.change(true);
    if (this.givenUp || silentMs <= givenUpMs) return;
    this.givenUp = true;
    this.host.giveUp();
  }

  /** The connection is another one, or none. */
  reset(): void {
    this.era++;
    this.waiting = 0;
    this.waitingSince = null;
    this.givenUp = false;
    this.answered = Number.NEGATIVE_INFINITY;
    // Changes of the connection itself are reported by the connection.
    this.hung = false;
  }

  private receive(sentAt: number, era: number): void {
    if (era !== this.era) return;
    this.answered = Math.max(this.answered, sentAt);
    this.waiting--;
    this.waitingSince = this.waiting === 0 ? null : this.host.now;
    if (this.hung) this.change(false);
  }

  private change(hung: boolean): void {
    this.hung = hung;
    this.host.hangs(hung);
  }
}
