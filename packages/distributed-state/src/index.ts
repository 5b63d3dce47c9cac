/** Counters and leases that processes share: in memory, or in Redis. */
export type { Attempts } from './attempts/attempts.ts';
export { MemoryAttempts, type MemoryAttemptsOptions } from './attempts/memory-attempts.ts';
export { RedisAttempts, type RedisAttemptsOptions } from './attempts/redis-attempts.ts';
export { BudgetReservations, type ReservationResult, type WaitOptions } from './budget-reservations.ts';
export type { StateLogger } from './logger.ts';
export { MemoryState, type MemoryStateOptions } from './memory/memory-state.ts';
export { Permits } from './permits.ts';
export { RedisState, type RedisStateOptions } from './redis/redis-state.ts';
export { leaseMs, type MaybePromise, renewMs, type SharedState, type StateStatus, type TakeAsk } from './state.ts';
