/** One outage in the log: a line for each reason however often it is met, and one when it is over. */

/** What is said of an outage. */
export interface OutageLines {
  begins(reason: string, error?: unknown): void;
  ends(): void;
}

/** Reasons of a server are a few texts; beyond this many they say nothing new. */
const maxReasons = 8;

export class Outage {
  readonly #lines: OutageLines;
  readonly #reasons = new Set<string>();

  constructor(lines: OutageLines) {
    this.#lines = lines;
  }

  /** Whether it has begun and is not over. */
  get lasts(): boolean {
    return this.#reasons.size > 0;
  }

  /** A try has failed. */
  met(reason: string, error?: unknown): void {
    if (this.#reasons.has(reason) || this.#reasons.size >= maxReasons) return;
    this.#reasons.add(reason);
    this.#lines.begins(reason, error);
  }

  /** A try has succeeded. */
  over(): void {
    if (!this.lasts) return;
    this.#reasons.clear();
    this.#lines.ends();
  }
}
