/**
 * A6 by hand: `node tests/load/slow-readers.ts [embedded|split] [readers] [seconds] [clients]` lets so many callers read an endless reply at 1 KiB/s, after a
 * first load that lets the heaps take their size, and prints one line of JSON: by how much each process grew, how much of it is heap, what each
 * upstream has sent, and slow consumers.
 */
import { startFakeUpstream } from '../fake-upstream/index.ts';
import { Callers, clientNames, scriptedModels, until } from '../support/callers.ts';
import { type Arrangement, startGateway } from '../support/gateway.ts';
import { slowConsumers, watchGrowth } from '../support/gauges.ts';
import { underLoadFor } from '../support/pauses.ts';

const [arrangement = 'split', readers = '200', seconds = '10', clients = clientNames.join()] = process.argv.slice(2);
const speak = clients.split(',') as (typeof clientNames)[number][];
const count = Number(readers);
const MiB = 1024 * 1024;

const upstream = await startFakeUpstream();
const gateway = await startGateway({ arrangement: arrangement as Arrangement, toml: { streaming: { max_concurrent_streams: count + 10 } } });
const figures = async (): Promise<Record<string, Record<string, number>>> => {
  const all: Record<string, Record<string, number>> = {};
  for (const [name, one] of Object.entries(gateway.processes)) {
    const lines = [...(await one.metrics()).matchAll(/^process_(\w+)_bytes(?:\{[^}]*\})? (\S+)/gm)];
    all[name] = Object.fromEntries(lines.map(([, what, value]) => [what, Number(value) / MiB]));
  }
  return all;
};
try {
  await gateway.configure(scriptedModels(upstream.url, ['pump']));
  const callers = new Callers(gateway);
  const model = (at: number): string => `${clientNames[(at >> 2) % 4]} pump`;
  const warm = Array.from({ length: 16 }, (_, at) => callers.ask(speak[at % speak.length]!, model(at), { keepText: false, ownConnection: true }));
  await underLoadFor(5000);
  for (const one of warm) one.leave();
  await until(() => upstream.requests.every(({ closed }) => closed !== null), 'the first load to be over');
  const received = upstream.requests.length;
  const before = await figures();
  const growth = watchGrowth(gateway);
  const slow = Array.from({ length: count }, (_, at) => callers.ask(speak[at % speak.length]!, model(at), { bytesPerSecond: 1024, ownConnection: true }));
  await underLoadFor(Number(seconds) * 1000);
  const after = await figures();
  const sent = upstream.requests.slice(received).map(({ bytesWritten }) => bytesWritten);
  const report = {
    arrangement,
    readers: count,
    peak_growth_mib: growth(),
    growth_after_mib: Object.fromEntries(
      Object.entries(after).map(([name, of]) => [
        name,
        Object.fromEntries(Object.entries(of).map(([what, now]) => [what, Math.round(now - (before[name]?.[what] ?? 0))])),
      ]),
    ),
    sent_mib: { max: Math.max(...sent) / MiB, mean: sent.reduce((sum, one) => sum + one, 0) / sent.length / MiB },
    slow_consumers: await slowConsumers(gateway),
  };
  process.stdout.write(`${JSON.stringify(report)}\n`);
  for (const one of slow) one.leave();
  callers.close();
} finally {
  await gateway.stop();
  await upstream.close();
}
