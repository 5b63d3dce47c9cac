/** What can happen to the processes of a gateway, and the seeded order in which it does. */
import type { TestGateway } from '../support/gateway.ts';
import type { RedisServer } from '../support/redis-server.ts';

/** Something that is done to one process, and undone. */
export interface Fault {
  /** `freeze translator 8 s`. */
  name: string;
  /** Callers of the one edge they use may see their connections break. */
  hitsCallers: boolean;
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
    const hitsCallers = name === 'edge';
    faults.push({ name: `stop ${name}`, hitsCallers, run: () => one.restart() });
    faults.push({
      name: `kill ${name}`,
      hitsCallers,
      async run() {
        await one.kill('SIGKILL');
        await one.restart();
      },
    });
    for (const ms of freezes) {
      faults.push({
        name: `freeze ${name} ${ms / 1000} s`,
        hitsCallers,
        async run(pause) {
          await one.kill('SIGSTOP');
          await pause(ms);
          await one.kill('SIGCONT');
        },
      });
    }
  }
  return [...faults, ...serverFaults(gateway, redis, freezes)];
}

/** Everything waits for the bus, so its faults reach callers too. */
function serverFaults({ nats, postgres }: TestGateway, redis: RedisServer, freezes: readonly number[]): Fault[] {
  const killed = (name: string, hitsCallers: boolean, kill: () => Promise<void>, start: () => Promise<void>): Fault => ({
    name: `kill ${name}`,
    hitsCallers,
    async run(pause) {
      await kill();
      await pause(awayMs);
      await start();
    },
  });
  const faults = [
    killed(
      'nats',
      true,
      () => nats!.kill(),
      () => nats!.start(),
    ),
    killed(
      'redis',
      false,
      () => redis.kill(),
      () => redis.start(),
    ),
  ];
  if (postgres?.kill && postgres.restart) {
    const { kill, restart } = postgres;
    faults.push(killed('postgres', false, kill, restart));
  }
  for (const ms of freezes) {
    faults.push({
      name: `freeze nats ${ms / 1000} s`,
      hitsCallers: true,
      async run(pause) {
        await nats!.signal('SIGSTOP');
        await pause(ms);
        await nats!.signal('SIGCONT');
      },
    });
  }
  return faults;
}
