/**
 * A3 by hand: `node tests/load/streams.ts [embedded|split] [streams] [seconds]` runs that many streams of 20 events a second on a gateway of its
 * own and prints one line of JSON: exact texts, time to the first byte, gaps between arrivals, growth of memory, slow consumers.
 */
import { startFakeUpstream } from '../fake-upstream/index.ts';
import { Callers, onEach, scriptedModels, textOf, words } from '../support/callers.ts';
import { type Arrangement, startGateway } from '../support/gateway.ts';
import { slowConsumers, watchGrowth } from '../support/gauges.ts';

const eventMs = 50;
const [arrangement = 'split', streamCount = '200', seconds = '60'] = process.argv.slice(2);
const events = Math.round((Number(seconds) * 1000) / eventMs);
const script = `text:${events}+slow:${eventMs}`;

const upstream = await startFakeUpstream();
const gateway = await startGateway({ arrangement: arrangement as Arrangement, toml: { streaming: { max_concurrent_streams: Number(streamCount) + 10 } } });
try {
  await gateway.configure(scriptedModels(upstream.url, [script]));
  const callers = new Callers(gateway);
  await callers.untilServed(onEach(script)[0]!, 60_000);
  const growth = watchGrowth(gateway);
  const streams = await callers.streams(Number(streamCount), onEach(script), { times: true });
  await Promise.all(streams.map((one) => one.done));
  const first = streams.map((one) => one.firstByteAt! - one.startedAt).sort((a, b) => a - b);
  const gaps = streams.flatMap(({ arrivals }) => arrivals.slice(1).map((time, at) => time - arrivals[at]!)).sort((a, b) => a - b);
  const at = (sorted: number[], part: number): number => Math.round(sorted[Math.floor((sorted.length - 1) * part)] ?? Number.NaN);
  const report = {
    arrangement,
    streams: streams.length,
    seconds: Number(seconds),
    exact: streams.filter((one) => one.status === 200 && one.ending === 'complete' && textOf(one) === words(events)).length,
    first_byte_ms: { p50: at(first, 0.5), p99: at(first, 0.99) },
    gap_ms: { p50: at(gaps, 0.5), p99: at(gaps, 0.99) },
    growth_mib: growth(),
    slow_consumers: await slowConsumers(gateway),
  };
  process.stdout.write(`${JSON.stringify(report)}\n`);
  await callers.checkRows(30_000);
  callers.close();
  if (report.exact !== streams.length) process.exitCode = 1;
} finally {
  await gateway.stop();
  await upstream.close();
}
