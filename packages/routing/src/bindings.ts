/** Which key of an upstream each access key is bound to: in memory, bounded, forgotten after an idle time. */
import { pickKey, type Weighted } from './pick-key.ts';

interface Binding {
  /** Position of the key. */
  index: number;
  fingerprint: string;
  /** Milliseconds of the router's clock. */
  usedAt: number;
}

/** Bounds of the binding table. */
export interface BindingOptions {
  /** Idle time after which a binding is forgotten, in ms; 0 = never. */
  ttlMs: number;
  /** Most bindings kept; the one that was bound longest ago leaves first. */
  max?: number;
}

/** One binding, as lists of an access key's bindings show it. */
export interface BoundKey {
  accessKey: string;
  upstream: string;
  index: number;
  fingerprint: string;
  usedAt: number;
}

/** Positions and weights; values do not count, so that a key rotated in place keeps its callers. */
const fingerprints = new WeakMap<readonly Weighted[], string>();
export function fingerprintOf(keys: readonly Weighted[]): string {
  let known = fingerprints.get(keys);
  if (known === undefined) {
    known = keys.map(({ weight }) => weight).join(',');
    fingerprints.set(keys, known);
  }
  return known;
}

export class KeyBindings {
  readonly #ttlMs: number;
  readonly #max: number;
  /**
   * Upstream → access key → binding: no text is joined on the request path. Not an LRU cache: that would need one key for both, and lists by upstream
   * and by access key.
   */
  readonly #byUpstream = new Map<string, Map<string, Binding>>();
  #size = 0;

  constructor({ ttlMs, max = 200_000 }: BindingOptions) {
    this.#ttlMs = ttlMs;
    this.#max = max;
  }

  get size(): number {
    return this.#size;
  }

  /** The key this caller is bound to, bound now if it is not; -1 when no key has a weight (standbys are never bound). */
  bind(keys: readonly Weighted[], accessKey: string, upstream: string, now: number): number {
    const fingerprint = fingerprintOf(keys);
    const known = this.#byUpstream.get(upstream)?.get(accessKey);
    if (known && known.fingerprint === fingerprint && !this.#isIdle(known, now)) {
      known.usedAt = now;
      return known.index;
    }
    const index = pickKey(keys, accessKey, upstream);
    if (index >= 0) this.#set(upstream, accessKey, { index, fingerprint, usedAt: now });
    else this.#delete(upstream, accessKey);
    return index;
  }

  /** What `bind` would return, without changing anything. */
  peek(keys: readonly Weighted[], accessKey: string, upstream: string, now: number): { index: number; source: 'binding' | 'prediction'; stale: boolean } {
    const known = this.find(accessKey, upstream, now);
    const stale = known !== null && known.fingerprint !== fingerprintOf(keys);
    if (known && !stale) return { index: known.index, source: 'binding', stale };
    return { index: pickKey(keys, accessKey, upstream), source: 'prediction', stale };
  }

  /** The binding as it stands, fitting the present keys or not. */
  find(accessKey: string, upstream: string, now: number): BoundKey | null {
    const known = this.#byUpstream.get(upstream)?.get(accessKey);
    return known && !this.#isIdle(known, now) ? { accessKey, upstream, ...known } : null;
  }

  /** All bindings of one access key. */
  of(accessKey: string, now: number): BoundKey[] {
    const found: BoundKey[] = [];
    for (const upstream of this.#byUpstream.keys()) {
      const bound = this.find(accessKey, upstream, now);
      if (bound) found.push(bound);
    }
    return found;
  }

  /** Forgets bindings that are idle or whose upstream or access key no longer exists. */
  sweep(now: number, isKnown: (upstream: string) => boolean): void {
    for (const [upstream, bound] of this.#byUpstream) {
      const gone = !isKnown(upstream);
      for (const [accessKey, binding] of bound) if (gone || this.#isIdle(binding, now)) this.#delete(upstream, accessKey);
    }
  }

  #isIdle(binding: Binding, now: number): boolean {
    return this.#ttlMs > 0 && now - binding.usedAt > this.#ttlMs;
  }

  #set(upstream: string, accessKey: string, binding: Binding): void {
    let bound = this.#byUpstream.get(upstream);
    if (!bound) {
      bound = new Map();
      this.#byUpstream.set(upstream, bound);
    }
    if (!bound.delete(accessKey)) this.#size++;
    bound.set(accessKey, binding);
    if (this.#size > this.#max) this.#dropOldest(upstream, bound);
  }

  /** The oldest of the largest table: exact age over all is not worth a second index. */
  #dropOldest(upstream: string, bound: ReadonlyMap<string, Binding>): void {
    let [name, largest] = [upstream, bound];
    for (const [other, table] of this.#byUpstream) if (table.size > largest.size) [name, largest] = [other, table];
    const [oldest] = largest.keys();
    if (oldest !== undefined) this.#delete(name, oldest);
  }

  #delete(upstream: string, accessKey: string): void {
    const bound = this.#byUpstream.get(upstream);
    if (!bound?.delete(accessKey)) return;
    this.#size--;
    if (bound.size === 0) this.#byUpstream.delete(upstream);
  }
}
