/** Counters and leases that processes share: in memory, or in Redis. */
export { AdmissionQueue, free } from './admission/admission-queue.ts';
export { FairQueue } from './admission/fair-queue.ts';
export type { Admission, GateAsk, Lease, Place } from './admission/lease.ts';
export type { Attempts } from './attempts/attempts.ts';
export { MemoryAttempts, type MemoryAttemptsOptions } from './attempts/memory-attempts.ts';
export { RedisAttempts, type RedisAttemptsOptions } from './attempts/redis-attempts.ts';
export { BudgetReservations, type ReservationResult, type WaitOptions } from './budget-reservations.ts';
export type { StateLogger } from './logger.ts';
export { MemoryState, type MemoryStateOptions } from './memory/memory-state.ts';
export { Permits } from './permits.ts';
export { LeaseKeeper } from './process/lease-keeper.ts';
export { ProcessLink, type ProcessLinkOptions } from './process/process-link.ts';
export { LeasedState, type LeasedStateOptions, RedisState, type RedisStateOptions } from './redis/redis-state.ts';
export { leaseMs, type MaybePromise, renewMs, type SharedState, type StateStatus, type TakeAsk } from './state.ts';
export type { StateLink } from './state-link.ts';
