/** Counters and leases that processes share: in memory, or in Redis. */
export type { StateLogger } from './logger.ts';
export { MemoryState, type MemoryStateOptions } from './memory/memory-state.ts';
export { Permits } from './permits.ts';
export { Purse } from './purse.ts';
export { RedisState, type RedisStateOptions } from './redis/redis-state.ts';
export { leaseMs, renewMs, type SharedState, type Soon, type StateStatus, type TakeAsk } from './state.ts';
