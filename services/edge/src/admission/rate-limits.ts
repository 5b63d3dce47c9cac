/** Requests in a window of time: of each access key, and of each address. Each refusal has the very form that the specification gives it. */

import type { EdgeConfig } from '@model-gateway/config';
import type { CounterPart } from '@model-gateway/contracts';
import { addressKey } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import type { SharedState } from '@model-gateway/distributed-state';
import type { Hit, WindowLimit } from '@model-gateway/limits';
import { LRUCache } from 'lru-cache';
import type { Principal } from './credentials.ts';

/** Used for one of the two settings when only the other is given. */
const defaultRpm = 120;
const defaultWindowSecs = 60;
const minuteMs = 60_000;
/** Callers remembered for the status. */
const maxShown = 200;

export class RateLimits {
  readonly #state: SharedState;
  readonly #keys: WindowLimit | null;
  readonly #addresses: WindowLimit | null;
  /** Who came of late, with the limit that held: what the status looks at. */
  readonly #seen = { keys: new LRUCache<string, WindowLimit>({ max: maxShown }), ips: new LRUCache<string, WindowLimit>({ max: maxShown }) };

  constructor(
    { rateLimitRpm, rateLimitWindowSecs, ipRateLimitRpm }: Pick<EdgeConfig, 'rateLimitRpm' | 'rateLimitWindowSecs' | 'ipRateLimitRpm'>,
    state: SharedState,
  ) {
    this.#state = state;
    const off = (rateLimitRpm === null && rateLimitWindowSecs === null) || rateLimitRpm === 0;
    this.#keys = off ? null : { limit: rateLimitRpm ?? defaultRpm, windowMs: (rateLimitWindowSecs ?? defaultWindowSecs) * 1000 };
    this.#addresses = ipRateLimitRpm === null || ipRateLimitRpm === 0 ? null : { limit: ipRateLimitRpm, windowMs: minuteMs };
  }

  /** Throws (or rejects with) the 429; nothing to wait for where no limit is set. */
  admitAddress(address: string | null): void | Promise<void> {
    if (!this.#addresses || address === null) return;
    return this.#admit('ips', addressKey(address), this.#addresses, refuseAddress);
  }

  /** The key's own limit, else its group's, else that of all keys. */
  admitKey({ key, group }: Principal): void | Promise<void> {
    const own = key.rate_limit !== undefined && key.rate_limit !== 'inherit' ? key.rate_limit : group.rate_limit;
    const limit = own !== undefined && own !== 'inherit' ? { limit: own.rpm, windowMs: own.window_secs * 1000 } : this.#keys;
    if (!limit) return;
    return this.#admit('keys', key.name, limit, refuseKey);
  }

  /** The most used first. */
  async shown(kind: 'keys' | 'ips'): Promise<CounterPart[]> {
    const parts: CounterPart[] = [];
    for (const [name, limit] of this.#seen[kind]) {
      const hit = await this.#state.lookAtWindow(scopeOf(kind, name), limit);
      if (hit && hit.used > 0) parts.push({ name, used: hit.used, limit: limit.limit, window_secs: limit.windowMs / 1000 });
    }
    return parts.sort((a, b) => b.used / b.limit - a.used / a.limit);
  }

  #admit(kind: 'keys' | 'ips', name: string, limit: WindowLimit, refuse: (limit: WindowLimit, hit: Hit) => never): void | Promise<void> {
    const seen = this.#seen[kind];
    seen.set(name, limit);
    const hit = this.#state.hit(scopeOf(kind, name), limit);
    if (hit instanceof Promise) return hit.then((later) => check(later, limit, refuse));
    check(hit, limit, refuse);
  }
}

const scopeOf = (kind: 'keys' | 'ips', name: string): string => `${kind}:${name}`;

function check(hit: Hit, limit: WindowLimit, refuse: (limit: WindowLimit, hit: Hit) => never): void {
  if (!hit.allowed) refuse(limit, hit);
}

/** There is no Retry-After header beside it: callers go by these words. */
const limitAndWait = ({ limit, windowMs }: WindowLimit, { retryMs }: Hit): string =>
  `(${limit} requests per ${windowMs / 1000}s). Retry after ${Math.max(1, Math.ceil(retryMs / 1000))}s`;

/** Plain text, and no Retry-After header. */
function refuseKey(window: WindowLimit, hit: Hit): never {
  const text = `Rate limit exceeded ${limitAndWait(window, hit)}`;
  throw new GatewayError('rate_limited', { message: text, body: text, headers: { 'content-type': 'text/plain; charset=utf-8' } });
}

/** JSON in the caller's shape, and no Retry-After header. */
function refuseAddress(window: WindowLimit, hit: Hit): never {
  throw new GatewayError('rate_limited', { message: `Too many requests from this address ${limitAndWait(window, hit)}` });
}
