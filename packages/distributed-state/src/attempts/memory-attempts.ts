/** Attempts and bans of this process. */
import type { LRUCache } from 'lru-cache';
import { boundedMap } from '../bounded-map.ts';
import type { Attempts } from './attempts.ts';

interface Entry {
  count: number;
  /** By the clock of the options. */
  until: number;
}

/** Clock and capacity of the counters; the defaults suit one process. */
export interface MemoryAttemptsOptions {
  /** A clock in ms. Default: a monotonic one, so that no correction of the system time lifts or extends a ban. */
  now?: () => number;
  /** Maximum number of names of each kind; the least recently used are forgotten first. */
  capacity?: number;
}

export class MemoryAttempts implements Attempts {
  readonly #now: () => number;
  readonly #counts: LRUCache<string, Entry>;
  /** Separate from the counters, so that a flood of names cannot push a ban out. */
  readonly #bans: LRUCache<string, Entry>;

  constructor({ now = () => performance.now(), capacity = 100_000 }: MemoryAttemptsOptions = {}) {
    this.#now = now;
    this.#counts = boundedMap(capacity);
    this.#bans = boundedMap(capacity);
  }

  async add(key: string, keepMs: number): Promise<number> {
    const now = this.#now();
    const known = this.#counts.get(key);
    const count = known && known.until > now ? known.count + 1 : 1;
    this.#counts.set(key, { count, until: now + keepMs });
    return count;
  }

  async count(key: string): Promise<number> {
    const known = this.#counts.get(key);
    return known && known.until > this.#now() ? known.count : 0;
  }

  async clear(key: string): Promise<void> {
    this.#counts.delete(key);
  }

  async forgive(whole: string, part: string): Promise<void> {
    const [known, forgiven] = [this.#counts.get(whole), await this.count(part)];
    this.#counts.delete(part);
    if (!known) return;
    known.count -= forgiven;
    if (known.count <= 0) this.#counts.delete(whole);
  }

  async ban(key: string, ms: number): Promise<void> {
    this.#bans.set(key, { count: 1, until: this.#now() + ms });
  }

  async bannedMs(key: string): Promise<number> {
    const left = (this.#bans.get(key)?.until ?? 0) - this.#now();
    if (left > 0) return left;
    this.#bans.delete(key);
    return 0;
  }
}
