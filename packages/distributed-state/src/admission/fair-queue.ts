/** Waiters in fair order: access keys take turns, and callers of one key are served first come, first served. */
export interface InLine {
  readonly key: string;
}

export class FairQueue<W extends InLine> {
  /** Keys with somebody in line, the next one first. */
  readonly #turns: string[] = [];
  readonly #lines = new Map<string, W[]>();
  size = 0;

  push(waiter: W): void {
    const line = this.#lines.get(waiter.key);
    if (line) line.push(waiter);
    else {
      this.#lines.set(waiter.key, [waiter]);
      this.#turns.push(waiter.key);
    }
    this.size++;
  }

  /** The next `most` in order; they stay in line. */
  peek(max: number): W[] {
    const next: W[] = [];
    for (let round = 0; next.length < Math.min(max, this.size); round++) {
      for (const key of this.#turns) {
        const waiter = this.#lines.get(key)?.[round];
        if (waiter && next.length < max) next.push(waiter);
      }
    }
    return next;
  }

  /** Removes one from the queue after its turn, so that its key goes behind the others. false: it had left. */
  serve(waiter: W): boolean {
    if (!this.remove(waiter)) return false;
    const turn = this.#turns.indexOf(waiter.key);
    if (turn >= 0) {
      this.#turns.splice(turn, 1);
      this.#turns.push(waiter.key);
    }
    return true;
  }

  /** Leaves without having had a turn. */
  remove(waiter: W): boolean {
    const line = this.#lines.get(waiter.key);
    const at = line?.indexOf(waiter) ?? -1;
    if (!line || at < 0) return false;
    line.splice(at, 1);
    this.size--;
    if (line.length === 0) {
      this.#lines.delete(waiter.key);
      this.#turns.splice(this.#turns.indexOf(waiter.key), 1);
    }
    return true;
  }

  *[Symbol.iterator](): Generator<W> {
    for (const line of this.#lines.values()) yield* line;
  }
}
