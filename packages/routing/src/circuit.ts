/** A circuit breaker: closed while its target works, open when it does not, and then admitting one probe at a time until one succeeds. */

export interface CircuitPolicy {
  /** Consecutive failures that open it. */
  consecutive: number;
  /** Or this share of failures, once `volume` attempts were seen within the window. */
  rate: number;
  volume: number;
  windowMs: number;
  /** Time it stays open at first; doubles with each failed probe, up to `maxOpenMs`. */
  openMs: number;
  maxOpenMs: number;
  /** A probe without an outcome for this long is considered lost. */
  probeMs: number;
}

export const circuitPolicy: CircuitPolicy = {
  consecutive: 5,
  rate: 0.5,
  volume: 20,
  windowMs: 30_000,
  openMs: 1_000,
  maxOpenMs: 30_000,
  probeMs: 30_000,
};

export type CircuitState = 'closed' | 'open' | 'half-open' | 'probing';

/** The open time is spread by this share either way, so that many routers do not probe at once. */
const jitter = 0.2;
const buckets = 6;

export class Circuit {
  readonly #policy: CircuitPolicy;
  /** Attempts and failures in slices of the window; the slice's number tells whether it is still the present one's. */
  readonly #slices: { at: number; ok: number; failed: number }[] = Array.from({ length: buckets }, () => ({ at: -1, ok: 0, failed: 0 }));
  #inRow = 0;
  #openings = 0;
  #openedAt = 0;
  #openUntil = 0;
  #probeUntil = 0;
  #open = false;
  #touchedAt = 0;

  constructor(policy: CircuitPolicy = circuitPolicy) {
    this.#policy = policy;
  }

  state(now: number): CircuitState {
    if (!this.#open) return 'closed';
    if (now < this.#openUntil) return 'open';
    return now < this.#probeUntil ? 'probing' : 'half-open';
  }

  get openedAt(): number {
    return this.#openedAt;
  }

  /** Milliseconds until a probe may go; 0 when closed or due. */
  waitMs(now: number): number {
    return this.#open ? Math.max(0, this.#openUntil - now) : 0;
  }

  /** In its initial state: the breaker may be dropped. */
  isQuiet(now: number): boolean {
    return !this.#open && now - this.#touchedAt > this.#policy.windowMs;
  }

  /** Takes the one probe of a breaker that is due. false: another request has it, or it is not due. */
  takeProbe(now: number): boolean {
    if (this.state(now) !== 'half-open') return false;
    this.#probeUntil = now + this.#policy.probeMs;
    return true;
  }

  /** `count` attempts succeeded. Any success shows that the target works. */
  succeed(count: number, now: number): void {
    this.#touchedAt = now;
    this.#slice(now).ok += count;
    this.#inRow = 0;
    if (!this.#open) return;
    this.#open = false;
    for (const slice of this.#slices) slice.at = -1;
  }

  /** `random` is between 0 and 1. */
  fail(now: number, random: number, probe: boolean): void {
    if (now - this.#touchedAt > this.#policy.windowMs && !this.#open) this.#openings = 0;
    this.#touchedAt = now;
    this.#inRow++;
    this.#slice(now).failed++;
    // Attempts already under way when it opened bring no news; only a probe does.
    if (this.#open ? probe : this.#mustOpen(now)) this.#trip(now, random);
  }

  #mustOpen(now: number): boolean {
    const { consecutive, rate, volume } = this.#policy;
    if (this.#inRow >= consecutive) return true;
    const oldest = this.#number(now) - buckets;
    let ok = 0;
    let failed = 0;
    for (const slice of this.#slices) {
      if (slice.at <= oldest) continue;
      ok += slice.ok;
      failed += slice.failed;
    }
    return ok + failed >= volume && failed / (ok + failed) >= rate;
  }

  #trip(now: number, random: number): void {
    const { openMs, maxOpenMs } = this.#policy;
    if (!this.#open) this.#openedAt = now;
    const length = Math.min(maxOpenMs, openMs * 2 ** this.#openings);
    this.#open = true;
    this.#openings = Math.min(this.#openings + 1, 30);
    this.#openUntil = now + length * (1 - jitter + 2 * jitter * random);
    this.#probeUntil = 0;
  }

  #number(now: number): number {
    return Math.floor((now * buckets) / this.#policy.windowMs);
  }

  #slice(now: number): { at: number; ok: number; failed: number } {
    const number = this.#number(now);
    const slice = this.#slices[((number % buckets) + buckets) % buckets]!;
    if (slice.at !== number) {
      slice.at = number;
      slice.ok = 0;
      slice.failed = 0;
    }
    return slice;
  }
}
