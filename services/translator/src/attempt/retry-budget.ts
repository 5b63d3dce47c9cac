/** How many requests may go on to another node: enough for a node that fails, too few to multiply the load when all of them do. */

export interface RetryBudgetOptions {
  /** Of the requests of the last ten seconds. */
  share: number;
  /** A second, whatever the number of requests. */
  floor: number;
}

const windowMs = 10_000;
const buckets = 10;

export class RetryBudget {
  readonly #options: RetryBudgetOptions;
  readonly #now: () => number;
  readonly #slices = Array.from({ length: buckets }, () => ({ at: -1, requests: 0, retries: 0 }));

  constructor(options: RetryBudgetOptions, now: () => number = () => performance.now()) {
    this.#options = options;
    this.#now = now;
  }

  /** A request that could go on to another node began. */
  enter(): void {
    this.#slice().requests++;
  }

  /** Takes one retry; false when there is none left. */
  take(): boolean {
    if (!this.hasLeft()) return false;
    this.#slice().retries++;
    return true;
  }

  hasLeft(): boolean {
    const slice = this.#slice();
    let requests = 0;
    let retries = 0;
    for (const one of this.#slices) {
      if (one.at <= slice.at - buckets) continue;
      requests += one.requests;
      retries += one.retries;
    }
    const { share, floor } = this.#options;
    return retries < requests * share + (floor * windowMs) / 1000;
  }

  #slice(): { at: number; requests: number; retries: number } {
    const at = Math.floor((this.#now() * buckets) / windowMs);
    const slice = this.#slices[at % buckets]!;
    if (slice.at !== at) {
      slice.at = at;
      slice.requests = 0;
      slice.retries = 0;
    }
    return slice;
  }
}
