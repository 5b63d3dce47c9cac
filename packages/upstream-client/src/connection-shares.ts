/** How many of an origin's connections each access key holds, so that one key's slow calls cannot keep everybody else from an upstream. */

/** The part of an origin's connections that one access key may hold at most. */
const shareOfOneKey = 0.8;

/** Connections of one origin that one access key may hold, of `limit` in all; at least one. */
export const connectionShare = (limit: number): number => Math.max(1, Math.floor(limit * shareOfOneKey));

/** The limit of an origin at which one access key may hold `connections`. */
export const limitForShare = (connections: number): number => Math.ceil(connections / shareOfOneKey);

export class ConnectionShares {
  readonly #share: number;
  readonly #held = new Map<string, number>();

  constructor(limit: number) {
    this.#share = connectionShare(limit);
  }

  /** False: this key holds its share already. */
  take(key: string): boolean {
    const held = this.#held.get(key) ?? 0;
    if (held >= this.#share) return false;
    this.#held.set(key, held + 1);
    return true;
  }

  giveBack(key: string): void {
    const held = this.#held.get(key) ?? 0;
    if (held > 1) this.#held.set(key, held - 1);
    else this.#held.delete(key);
  }
}
