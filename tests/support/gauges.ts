/** Figures of running processes, for suites that bound them: memory, and the bus's slow consumers. */
import { readFileSync } from 'node:fs';
import type { TestGateway } from './gateway.ts';

const pageKib = 4;

/** Resident memory in MiB; 0 where the system does not tell (only Linux does). */
export function residentMib(pid: number | null): number {
  if (pid === null) return 0;
  try {
    return (Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * pageKib) / 1024;
  } catch {
    return 0;
  }
}

/** Of each process of the gateway, by name. */
export const residents = (gateway: TestGateway): Record<string, number> =>
  Object.fromEntries(Object.entries(gateway.processes).map(([name, { pid }]) => [name, residentMib(pid)]));

/** Samples until stopped; gives the most that each process grew beyond the start, in MiB. */
export function watchGrowth(gateway: TestGateway): () => Record<string, number> {
  const start = residents(gateway);
  const max = { ...start };
  const sample = (): void => {
    for (const [name, now] of Object.entries(residents(gateway))) max[name] = Math.max(max[name] ?? 0, now);
  };
  const timer = setInterval(sample, 100);
  return () => {
    clearInterval(timer);
    sample();
    return Object.fromEntries(Object.entries(max).map(([name, peak]) => [name, Math.round(peak - (start[name] ?? 0))]));
  };
}

/** How much memory (MiB) these processes grow by together, from now on: the most at one moment. */
export function watchTogether(gateway: TestGateway, names: readonly string[]): () => number {
  const together = (): number => Object.entries(residents(gateway)).reduce((sum, [name, now]) => sum + (names.includes(name) ? now : 0), 0);
  const start = together();
  let most = start;
  const sample = (): void => {
    most = Math.max(most, together());
  };
  const timer = setInterval(sample, 50);
  return () => {
    clearInterval(timer);
    sample();
    return Math.round(most - start);
  };
}

/** Until the bus server has noticed that a process is gone it takes messages for it, which then reach nobody. */
export async function leftTheBus(gateway: TestGateway, name: string): Promise<boolean> {
  if (!gateway.nats?.monitorUrl) return true;
  const reply = await fetch(`${gateway.nats.monitorUrl}/connz`);
  return ((await reply.json()) as { connections: { name?: string }[] }).connections.every((one) => one.name !== name);
}

/** What nats-server's monitor counts; null without a bus server of our own. */
export async function slowConsumers(gateway: TestGateway): Promise<number | null> {
  if (!gateway.nats?.monitorUrl) return null;
  const reply = await fetch(`${gateway.nats.monitorUrl}/varz`);
  return ((await reply.json()) as { slow_consumers: number }).slow_consumers;
}
