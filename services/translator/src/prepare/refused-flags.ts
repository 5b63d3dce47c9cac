/**
 * Feature flags that upstreams refused: asked once more without them at once, and not sent again for a while. An upstream learns new flags, and a
 * refusal may be about one account, so nothing is remembered for long.
 */

import type { Route } from '@model-gateway/routing';
import { LRUCache } from 'lru-cache';

const rememberedMs = 60 * 60 * 1000;
const maxPositions = 1000;
const maxFlags = 64;

interface Refused {
  flags: ReadonlySet<string>;
  until: number;
}

export class RefusedFlags {
  readonly #places = new LRUCache<string, Refused>({ max: maxPositions });
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** undefined for nearly all, at the cost of one comparison. */
  of(route: Route): ReadonlySet<string> | undefined {
    if (this.#places.size === 0) return undefined;
    const id = idOf(route);
    const place = this.#places.get(id);
    if (!place) return undefined;
    if (place.until > this.#now()) return place.flags;
    this.#places.delete(id);
    return undefined;
  }

  learn(route: Route, flags: readonly string[]): void {
    const known = this.of(route) ?? [];
    this.#places.set(idOf(route), { flags: new Set([...flags, ...known].slice(0, maxFlags)), until: this.#now() + rememberedMs });
  }
}

const idOf = ({ upstream, model }: Route): string => `${model.name}\u0000${upstream.name}`;
