/** Pauses that are themselves under test. Everything else is waited for by polling (`until`). */
import { setTimeout as sleep } from 'node:timers/promises';

/** A process stays frozen for so long. */
export const frozenFor = (ms: number): Promise<void> => sleep(ms);

/** Load runs for so long before somebody looks at what it did. */
export const underLoadFor = (ms: number): Promise<void> => sleep(ms);

/** Time in which nothing may happen; what must not have happened is checked after it. */
export const nothingFor = (ms: number): Promise<void> => sleep(ms);
