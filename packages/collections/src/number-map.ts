/** A map of what is under way, keyed by an integer that is minted for each entry. */

const smallest = 16;

/** Where the search for a key begins: spreads keys that were minted one after another over the table. */
function hash(key: number): number {
  const mixed = Math.imul((key >>> 0) ^ Math.floor(key / 0x20_0000), 0x9e37_79b1);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}

/**
 * A `Map` from safe integers (0 and up) for entries that come and go with every request, for the reason that `DenseSet` gives: open addressing in two
 * arrays, which leaves no chain of old tables behind.
 */
export class NumberMap<V> {
  #keys = new Float64Array(smallest).fill(-1);
  #values: (V | undefined)[] = new Array(smallest).fill(undefined);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(key: number): V | undefined {
    return this.#values[this.#find(key)];
  }

  has(key: number): boolean {
    return this.#keys[this.#find(key)] === key;
  }

  set(key: number, value: V): void {
    let at = this.#find(key);
    if (this.#keys[at] !== key) {
      if (2 * (this.#size + 1) > this.#keys.length) {
        this.#resize(2 * this.#keys.length);
        at = this.#find(key);
      }
      this.#keys[at] = key;
      this.#size++;
    }
    this.#values[at] = value;
  }

  /** Returns whether it was there. */
  delete(key: number): boolean {
    const mask = this.#keys.length - 1;
    let gap = this.#find(key);
    if (this.#keys[gap] !== key) return false;
    this.#size--;
    // Entries displaced by the deleted one move up, so that every search still ends at the first empty slot.
    for (let at = (gap + 1) & mask; this.#keys[at] !== -1; at = (at + 1) & mask) {
      const home = hash(this.#keys[at]!) & mask;
      if (((at - home) & mask) < ((at - gap) & mask)) continue;
      this.#keys[gap] = this.#keys[at]!;
      this.#values[gap] = this.#values[at];
      gap = at;
    }
    this.#keys[gap] = -1;
    this.#values[gap] = undefined;
    if (this.#keys.length > smallest && 8 * this.#size < this.#keys.length) this.#resize(this.#keys.length / 2);
    return true;
  }

  clear(): void {
    this.#keys = new Float64Array(smallest).fill(-1);
    this.#values = new Array(smallest).fill(undefined);
    this.#size = 0;
  }

  /** A copy: what is added or deleted meanwhile changes nothing in it. */
  values(): V[] {
    const values: V[] = [];
    this.#keys.forEach((key, at) => {
      if (key !== -1) values.push(this.#values[at] as V);
    });
    return values;
  }

  /** The slot of the key, or the empty slot where it would go. */
  #find(key: number): number {
    const mask = this.#keys.length - 1;
    let at = hash(key) & mask;
    while (this.#keys[at] !== key && this.#keys[at] !== -1) at = (at + 1) & mask;
    return at;
  }

  #resize(length: number): void {
    const keys = this.#keys;
    const values = this.#values;
    this.#keys = new Float64Array(length).fill(-1);
    this.#values = new Array(length).fill(undefined);
    keys.forEach((key, from) => {
      if (key === -1) return;
      const to = this.#find(key);
      this.#keys[to] = key;
      this.#values[to] = values[from];
    });
  }
}
