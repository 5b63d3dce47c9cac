/** Runs that wait for a slot: owners take turns, and there is an end to how many wait and how much they hold. */

export interface Waiting {
  owner: string;
  bytes: number;
}

export class WaitingLine<T extends Waiting> {
  readonly #max: number;
  readonly #maxBytes: number;
  readonly #owners = new Map<string, T[]>();
  #length = 0;
  #bytes = 0;

  constructor(max: number, maxBytes: number) {
    this.#max = max;
    this.#maxBytes = maxBytes;
  }

  get length(): number {
    return this.#length;
  }

  /** false: the queue is full. */
  enter(item: T): boolean {
    if (this.#length >= this.#max || (this.#length > 0 && this.#bytes + item.bytes > this.#maxBytes)) return false;
    const line = this.#owners.get(item.owner);
    if (line) line.push(item);
    else this.#owners.set(item.owner, [item]);
    this.#count(item, 1);
    return true;
  }

  /** The next one: of the owner who has waited longest for a turn, the first. */
  next(): T | undefined {
    for (const [owner, line] of this.#owners) {
      const item = line.shift();
      // To the end of the round.
      this.#owners.delete(owner);
      if (line.length > 0) this.#owners.set(owner, line);
      if (!item) continue;
      this.#count(item, -1);
      return item;
    }
    return undefined;
  }

  /** false: it was not in line any more. */
  leave(item: T): boolean {
    const line = this.#owners.get(item.owner);
    const at = line?.indexOf(item) ?? -1;
    if (!line || at < 0) return false;
    line.splice(at, 1);
    if (line.length === 0) this.#owners.delete(item.owner);
    this.#count(item, -1);
    return true;
  }

  #count(item: T, by: 1 | -1): void {
    this.#length += by;
    this.#bytes += by * item.bytes;
  }
}
