/**
 * Separate services, two edges, routers and translators, on NATS, PostgreSQL and Redis under 50 streams and 50 requests a second, while each process and server is stopped, frozen and killed
 * in a seeded order; prints what was promised and what happened. `CHAOS_MINUTES` (10), `CHAOS_SEED`, `CHAOS_STREAMS` (50), `CHAOS_RATE` (50),
 * `CHAOS_FREEZES` (3000,8000,15000,60000 ms).
 */
import { startFakeUpstream } from '../fake-upstream/index.ts';
import { Callers, clientNames, type Exchange, onEach, scriptedModels, sleep } from '../support/callers.ts';
import { startGateway } from '../support/gateway.ts';
import { startRedisServer } from '../support/redis-server.ts';
import { drawsOf, type Fault, faultsOf } from './faults.ts';
import { judgeAnswers, judgeCheck, judgeEndings, judgeRefusals, type Verdict, type Window } from './judge.ts';

const { CHAOS_MINUTES = '10', CHAOS_STREAMS = '50', CHAOS_RATE = '50', CHAOS_FREEZES = '3000,8000,15000,60000' } = process.env;
const seed = Number(process.env['CHAOS_SEED'] ?? Math.floor(Math.random() * 1e6));
const minutes = Number(CHAOS_MINUTES);
const streamCount = Number(CHAOS_STREAMS);
const perSecond = Number(CHAOS_RATE);
const freezes = CHAOS_FREEZES.split(',').map(Number);
const script = 'text:60+slow:100';
const settleMs = 1000;
const recoverMs = 60_000;
/** What was sent just before a fault may still be under way when it begins, and what is broken is seen a little after it. */
const marginMs = 5000;

// What it started ends with it, also where it is stopped half-way.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

const say = (line: string): void => void process.stdout.write(`${line}\n`);
say(`chaos: seed ${seed}, ${minutes} minutes, ${streamCount} streams, ${perSecond} requests a second`);

const upstream = await startFakeUpstream();
const redis = await startRedisServer({ own: true });
const gateway = await startGateway({
  arrangement: 'split',
  twice: ['edge', 'router', 'translator'],
  env: { REDIS_URL: redis.url },
  toml: { streaming: { max_concurrent_streams: streamCount * 4 } },
});
const callers = new Callers(gateway);
const verdicts: Verdict[] = [];
try {
  await gateway.configure(scriptedModels(upstream.url, ['ok', script]));
  await callers.untilServed('alpha ok', recoverMs);
  const load = startLoad();
  const windows = await runFaults();
  await load.stop();
  const all = load.made.map(({ one }) => one);
  verdicts.push(
    judgeEndings(all, windows),
    judgeAnswers(all, windows),
    await judgeRefusals(load.made, windows, { upstream, gateway }),
    await judgeCheck('every answered request has one row', all.length, () => callers.checkRows(recoverMs)),
    await judgeCheck('the sums of models say what the rows say', all.length, () => callers.checkSums(recoverMs)),
  );
  const statuses = new Map<string, number>();
  for (const one of all) statuses.set(`${one.status ?? 'none'}`, (statuses.get(`${one.status ?? 'none'}`) ?? 0) + 1);
  say(`answers: ${[...statuses].map(([status, count]) => `${status}: ${count}`).join(', ')}`);
  for (const { promise, tries, broken } of verdicts) {
    say(`${broken.length === 0 ? 'kept  ' : 'BROKEN'} ${promise} (${tries} tries${broken.length === 0 ? '' : `, ${broken.length} broken`})`);
    for (const line of broken.slice(0, 5)) say(`         ${line}`);
  }
} finally {
  callers.close();
  await gateway.stop().catch((error: unknown) => say(`processes: ${String(error)}`));
  await redis.dispose();
  await upstream.close();
}
process.exitCode = verdicts.length > 0 && verdicts.every(({ broken }) => broken.length === 0) ? 0 : 1;
setTimeout(() => {
  say(`all is stopped, and something is left that keeps this process from ending: ${process.getActiveResourcesInfo().join(', ')}`);
  process.exit(1);
}, 30_000).unref();

/** As many streams as asked at any time, and calls at an even pace, each with a word of its own. */
function startLoad(): { made: { one: Exchange; nonce: string }[]; stop(): Promise<void> } {
  const made: { one: Exchange; nonce: string }[] = [];
  let stopped = false;
  let calls = 0;
  const ask = (model: string, stream: boolean): Exchange => {
    const nonce = `nonce-${made.length}-nonce`;
    const one = callers.ask(clientNames[made.length % 4]!, model, { stream, content: nonce, edge: gateway.edgeUrls[(made.length >> 2) % 2]! });
    made.push({ one, nonce });
    return one;
  };
  const streams = Array.from({ length: streamCount }, async (_, at) => {
    while (!stopped) {
      const one = await ask(onEach(script)[at % 4]!, true).done;
      // A refusal is answered at once: another try needs no hurry.
      if (one.status !== 200) await sleep(500);
    }
  });
  const began = performance.now();
  const timer = setInterval(() => {
    while (calls < ((performance.now() - began) * perSecond) / 1000) ask(onEach('ok')[calls++ % 4]!, calls % 3 === 0);
  }, 20);
  return {
    made,
    async stop() {
      stopped = true;
      clearInterval(timer);
      await Promise.all([...streams, ...made.map(({ one }) => one.done)]);
    },
  };
}

/** One fault after another, drawn without looking back, until the time is over; says how long each took to recover from. */
async function runFaults(): Promise<Window[]> {
  const draw = drawsOf(seed);
  const end = performance.now() + minutes * 60_000;
  const windows: Window[] = [];
  const left: Fault[] = [];
  while (performance.now() < end) {
    // All of them once, in another order each time.
    if (left.length === 0) left.push(...faultsOf(gateway, redis, freezes).filter((fault) => !isLong(fault, end)));
    const [fault] = left.splice(Math.floor(draw() * left.length), 1);
    const from = performance.now();
    await fault!.run(sleep);
    const over = performance.now();
    const edges = gateway.edgeUrls.map((edge) => callers.untilServed('beta ok', recoverMs, edge));
    const served = await Promise.all(edges).then(
      (times) => Math.max(...times),
      () => null,
    );
    say(`${fault!.name}: ${Math.round(over - from)} ms, served again after ${served === null ? `more than ${recoverMs}` : Math.round(served)} ms`);
    if (served === null) verdicts.push({ promise: 'calls are served again within a minute', tries: 1, broken: [fault!.name] });
    windows.push({ from: from - marginMs, to: performance.now() + marginMs, hits: fault!.hits, losesRuns: fault!.losesRuns === true });
    await sleep(settleMs);
  }
  return windows;
}

/** A freeze that would outlast the run. */
function isLong({ name }: Fault, end: number): boolean {
  const seconds = Number(/ (\d+(?:\.\d+)?) s$/.exec(name)?.[1] ?? 0);
  return performance.now() + seconds * 1000 > end;
}
