/** One transport per origin and way out, kept bounded: those that nobody uses any more are closed, the longest unused first when there are too many. */
import { ConnectionShares } from './connection-shares.ts';
import type { Egress } from './egress/egress.ts';
import { createResolvers } from './egress/resolvers.ts';
import { OriginTransport, type TransportOptions } from './origin-transport.ts';

const maxPools = 256;
/** A pool that nobody used for one to two of these is closed: its upstream was changed or given up. */
const unusedMs = 60_000;
export interface OriginPool {
  transport: OriginTransport;
  /** Calls under way. */
  active: number;
  /** Which access key holds how many of its connections. */
  shares: ConnectionShares;
  lastUsed: number;
  /** `lastUsed` when the last sweep came by. */
  swept: number;
  egress: Egress | undefined;
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
export function createPools({ maxConnections, ...options }: Omit<TransportOptions, 'egress'>): Pools {
  const pools = new Map<string, OriginPool>();
  const closing = new Set<Promise<void>>();
  const resolvers = createResolvers(options);
  let uses = 0;
  let timer: NodeJS.Timeout | undefined;

  function close(key: string, one: OriginPool): void {
    pools.delete(key);
    const closed = one.transport
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
    const transport = new OriginTransport(origin, {
      ...options,
      maxConnections,
      http2: egress?.http2 ?? options.http2,
      resolve: resolvers.acquire(egress),
      egress,
    });
    const made: OriginPool = { transport, active: 0, shares, lastUsed: 0, swept: -1, egress };
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
