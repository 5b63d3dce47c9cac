/** One undici Pool per origin, kept bounded: the longest unused idle one leaves first. */
import { Pool } from 'undici';
import { createDialer, type DialerOptions, type Dialing } from './dialer.ts';

/** Connections per origin; further calls wait inside their connect time. */
const mostConnections = 512;
const mostPools = 256;
/** Idle sockets are closed before common servers do it (a shorter `Keep-Alive` hint of the server wins). */
const keepAliveMs = 30_000;
/** Above every sensible reply head; calls may ask for less. */
export const mostHeaderBytes = 64 * 1024;

export interface OriginPool {
  pool: Pool;
  /** Calls under way. */
  active: number;
  lastUsed: number;
  /** The call that undici dials for right now; set only while `dispatch` runs. */
  current: Dialing | undefined;
}

export interface Pools {
  get(origin: string): OriginPool;
  /** Ends idle connections at once and the others when their calls have ended. */
  close(): Promise<void>;
  readonly size: number;
}

export function createPools(options: Omit<DialerOptions, 'current'>): Pools {
  const pools = new Map<string, OriginPool>();
  const closing = new Set<Promise<void>>();
  let uses = 0;

  function close(origin: string, one: OriginPool): void {
    pools.delete(origin);
    const closed = one.pool.close().finally(() => closing.delete(closed));
    closing.add(closed);
  }
  function evictIdle(): void {
    let oldest: [string, OriginPool] | undefined;
    for (const entry of pools) if (entry[1].active === 0 && (oldest === undefined || entry[1].lastUsed < oldest[1].lastUsed)) oldest = entry;
    if (oldest !== undefined) close(...oldest);
  }
  function create(origin: string): OriginPool {
    if (pools.size >= mostPools) evictIdle();
    const made: OriginPool = { pool: undefined as unknown as Pool, active: 0, lastUsed: 0, current: undefined };
    made.pool = new Pool(origin, {
      connections: mostConnections,
      pipelining: 1,
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: 10 * keepAliveMs,
      // Every time-out is the sweeper's: undici's would fire while we hold the call back.
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: mostHeaderBytes,
      allowH2: false,
      connect: createDialer({ ...options, current: () => made.current }),
    });
    pools.set(origin, made);
    return made;
  }

  return {
    get(origin) {
      const one = pools.get(origin) ?? create(origin);
      one.lastUsed = ++uses;
      return one;
    },
    async close() {
      for (const [origin, one] of [...pools]) close(origin, one);
      await Promise.all(closing);
    },
    get size() {
      return pools.size;
    },
  };
}
