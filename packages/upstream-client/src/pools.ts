/** One undici Pool per origin and way out, kept bounded: those that nobody uses any more are closed, the longest unused first when there are too many. */
import { Pool } from 'undici';
import { ConnectionShares } from './connection-shares.ts';
import { createDialer, type DialerOptions, type Dialing } from './dialer.ts';
import type { Egress } from './egress/egress.ts';
import { createResolvers } from './egress/resolvers.ts';

const maxPools = 256;
/** A pool that nobody used for one to two of these is closed: its upstream was changed or given up. */
const unusedMs = 60_000;
/** Idle sockets are closed before common servers do it (a shorter `Keep-Alive` hint of the server wins). */
const keepAliveMs = 30_000;
/** Above every sensible reply head; calls may ask for less. */
export const maxHeaderBytes = 64 * 1024;

export interface OriginPool {
  pool: Pool;
  /** Calls under way. */
  active: number;
  /** Which access key holds how many of its connections. */
  shares: ConnectionShares;
  lastUsed: number;
  /** `lastUsed` when the last sweep came by. */
  swept: number;
  egress: Egress | undefined;
  /** The call that undici dials for right now; set only while `dispatch` runs. */
  current: Dialing | undefined;
}

export interface Pools {
  /** `egress` undefined: the ordinary way. */
  get(origin: string, egress: Egress | undefined): OriginPool;
  /** Ends idle connections at once and the others when their calls have ended. */
  close(): Promise<void>;
  /** Closes what nobody used since the last sweep; a timer calls it. */
  sweep(): void;
  readonly size: number;
}

/** `maxConnections`: to one origin; further calls wait inside their connect time. */
export function createPools({ maxConnections, ...options }: Omit<DialerOptions, 'current' | 'egress'> & { maxConnections: number }): Pools {
  const pools = new Map<string, OriginPool>();
  const closing = new Set<Promise<void>>();
  const resolvers = createResolvers(options);
  let uses = 0;
  let timer: NodeJS.Timeout | undefined;

  function close(key: string, one: OriginPool): void {
    pools.delete(key);
    const closed = one.pool
      .close()
      .then(() => resolvers.release(one.egress))
      .finally(() => closing.delete(closed));
    closing.add(closed);
    if (pools.size === 0) stopTimer();
  }
  function stopTimer(): void {
    clearInterval(timer);
    timer = undefined;
  }
  function sweep(): void {
    for (const [key, one] of [...pools]) {
      if (one.active === 0 && one.lastUsed === one.swept) close(key, one);
      one.swept = one.lastUsed;
    }
  }
  function evictIdle(): void {
    let oldest: [string, OriginPool] | undefined;
    for (const entry of pools) if (entry[1].active === 0 && (oldest === undefined || entry[1].lastUsed < oldest[1].lastUsed)) oldest = entry;
    if (oldest !== undefined) close(...oldest);
  }
  function create(key: string, origin: string, egress: Egress | undefined): OriginPool {
    if (pools.size >= maxPools) evictIdle();
    const shares = new ConnectionShares(maxConnections);
    const made: OriginPool = { pool: undefined as unknown as Pool, active: 0, shares, lastUsed: 0, swept: -1, egress, current: undefined };
    made.pool = new Pool(origin, {
      connections: maxConnections,
      pipelining: 1,
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: 10 * keepAliveMs,
      // Every time-out is the sweeper's: undici's would fire while we hold the call back.
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: maxHeaderBytes,
      allowH2: false,
      connect: createDialer({ ...options, resolve: resolvers.acquire(egress), egress, current: () => made.current }),
    });
    pools.set(key, made);
    timer ??= setInterval(sweep, unusedMs).unref();
    return made;
  }

  return {
    get(origin, egress) {
      const key = egress === undefined ? origin : `${egress.id} ${origin}`;
      const one = pools.get(key) ?? create(key, origin, egress);
      one.lastUsed = ++uses;
      return one;
    },
    async close() {
      for (const [key, one] of [...pools]) close(key, one);
      await Promise.all(closing);
    },
    sweep,
    get size() {
      return pools.size;
    },
  };
}
