/** What can happen to the processes of a gateway, and the seeded order in which it does. */
import type { TestGateway } from '../support/gateway.ts';
import type { RedisServer } from '../support/redis-server.ts';

/** Something that is done to one process, and undone. */
export interface Fault {
  /** `freeze translator 8 s`. */
  name: string;
  /** Whose connections may break: everybody's, those of callers of one edge (its address), or nobody's. */
  hits: 'all' | 'none' | { edge: string };
  /** A translator dies with what it runs, so that nobody is left to tell of it. */
  losesRuns?: true;
  /** Resolves when it is over, and the process is back. */
  run(pause: (ms: number) => Promise<void>): Promise<void>;
}

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
export function drawsOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const awayMs = 1500;

/** Stops, freezes and kills of each process and server; each as often as any other. */
export function faultsOf(gateway: TestGateway, redis: RedisServer, freezes: readonly number[]): Fault[] {
  const faults: Fault[] = [];
  for (const [name, one] of Object.entries(gateway.processes)) {
    const edge = ['edge', 'edge-2'].indexOf(name);
    const hits = edge === -1 ? 'none' : { edge: gateway.edgeUrls[edge]! };
    faults.push({ name: `stop ${name}`, hits, run: () => one.restart() });
    faults.push({
      name: `kill ${name}`,
      hits,
      ...(name.startsWith('translator') && { losesRuns: true }),
      async run() {
        await one.kill('SIGKILL');
        await one.restart();
      },
    });
    faults.push(...frozen(name, freezes, { hits, signal: (signal) => one.kill(signal) }));
  }
  return [...faults, ...serverFaults(gateway, redis, freezes)];
}

/** What a freeze is done to, and whom it reaches. */
interface Freezable {
  hits: Fault['hits'];
  signal(name: 'SIGSTOP' | 'SIGCONT'): unknown;
}

const frozen = (name: string, freezes: readonly number[], { hits, signal }: Freezable): Fault[] =>
  freezes.map((ms) => ({
    name: `freeze ${name} ${ms / 1000} s`,
    hits,
    async run(pause) {
      await signal('SIGSTOP');
      await pause(ms);
      await signal('SIGCONT');
    },
  }));

/** Everything waits for the bus, so its faults reach callers too; those of the database and of Redis reach nobody. */
function serverFaults({ nats, postgres }: TestGateway, redis: RedisServer, freezes: readonly number[]): Fault[] {
  const killed = (name: string, hits: Fault['hits'], kill: () => Promise<void>, start: () => Promise<void>): Fault => ({
    name: `kill ${name}`,
    hits,
    async run(pause) {
      await kill();
      await pause(awayMs);
      await start();
    },
  });
  const faults = [
    killed(
      'nats',
      'all',
      () => nats!.kill(),
      () => nats!.start(),
    ),
    killed(
      'redis',
      'none',
      () => redis.kill(),
      () => redis.start(),
    ),
    ...frozen('nats', freezes, { hits: 'all', signal: (name) => nats!.signal(name) }),
    ...frozen('redis', freezes, { hits: 'none', signal: (name) => redis.signal(name) }),
  ];
  if (postgres?.kill && postgres.restart) faults.push(killed('postgres', 'none', postgres.kill, postgres.restart));
  if (postgres?.signal) faults.push(...frozen('postgres', freezes, { hits: 'none', signal: postgres.signal }));
  return faults;
}
