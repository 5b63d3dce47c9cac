import type { Bus } from '../bus.ts';
import type { NatsBusOptions } from './nats-bus.ts';

/**
 * Resolves without waiting for the server, also when it is away: the bus connects by itself; see `connected` and `onConnection`. Loads the library of NATS,
 * which a gateway in one process does without.
 */
export async function connectNatsBus(options: NatsBusOptions): Promise<Bus> {
  const { NatsBus } = await import('./nats-bus.ts');
  return new NatsBus(options);
}
