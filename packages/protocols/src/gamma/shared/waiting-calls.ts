/** First-come queues of tool calls that wait for their results, under several names at once; constant time however many a caller sends. */
export class WaitingCalls<T extends object> {
  readonly #queues = new Map<string, { items: T[]; head: number }>();
  readonly #taken = new Set<T>();

  add(item: T, keys: readonly string[]): void {
    for (const key of keys) {
      const queue = this.#queues.get(key);
      if (queue) queue.items.push(item);
      else this.#queues.set(key, { items: [item], head: 0 });
    }
  }

  /** The oldest item under `key` that was not taken under any name. */
  take(key: string): T | undefined {
    const queue = this.#queues.get(key);
    while (queue && queue.head < queue.items.length) {
      const item = queue.items[queue.head++]!;
      if (this.#taken.has(item)) continue;
      this.#taken.add(item);
      return item;
    }
    return undefined;
  }
}
