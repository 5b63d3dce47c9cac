/** Side-by-side load runs: `node bench/run.ts [--short] [--only T1,T6] [--reps N] [--duration SECONDS] [--warm SECONDS] [--peers on|off]`. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Case, CaseId } from './src/cases.ts';
import { loadOf } from './src/driver/load-of.ts';
import { type CaseResults, runPaired } from './src/driver/paired.ts';
import { type LoadResult, pause, runLoad } from './src/driver/run-load.ts';
import { type Options, readOptions } from './src/options.ts';
import { caseTable, verdictTable } from './src/report.ts';
import { pinDriver } from './src/spawn.ts';
import { startMock } from './src/targets/floors.ts';
import { starters } from './src/targets/index.ts';
import type { Target, TargetName } from './src/targets/target.ts';

const peers: readonly TargetName[] = ['portkey', 'llms', 'tensorzero'];
const results = join(import.meta.dirname, 'results');

const options = readOptions(process.argv.slice(2));
const scratch = mkdtempSync(join(tmpdir(), 'model-gateway-bench-'));
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));
pinDriver();

const lines: string[] = [];
const say = (text: string): void => {
  lines.push(text);
  process.stdout.write(`${text}\n`);
};
say(
  `${new Date().toISOString().slice(0, 10)}, ${cpus()[0]?.model.trim() ?? 'unknown CPU'}, ${cpus().length} cores, Node ${process.versions.node}; ` +
    `${options.repetitions} repetitions of ${options.duration} s, median (range)\n`,
);
const targets = await startTargets(options);
if (options.warm > 0) for (const target of targets.values()) await warm(target);
const stalls = new Map<TargetName, number[]>();
const measured = new Map<CaseId, CaseResults>();
for (const one of options.cases) {
  const names = one.targets.filter((name) => targets.get(name)?.endpoints[one.passage] !== undefined);
  if (names.length === 0) continue;
  measured.set(one.id, await runPaired(names, options.repetitions + (one.extraRepetitions ?? 0), (name) => measure(one, targets.get(name as TargetName)!)));
  say(caseTable(one, measured.get(one.id)!));
}
for (const [name, values] of stalls) say(`Longest stall of ${name} in each repetition: ${values.map((ms) => ms.toFixed(1)).join(', ')} ms\n`);
say(`${verdictTable(options.verdicts, { results: measured, stalls })}\n`);
mkdirSync(results, { recursive: true });
writeFileSync(join(results, 'last.md'), `${lines.join('\n')}\n`);
await Promise.all([...targets.values()].map((target) => target.stop()));
process.exit(0);

/** Those the cases need. One that cannot start costs its rows, not the run. */
async function startTargets({ cases, peers: withPeers }: Options): Promise<Map<TargetName, Target>> {
  const mock = await startMock();
  const started = new Map<TargetName, Target>([['direct', mock.target]]);
  for (const name of new Set(cases.flatMap((one) => one.targets))) {
    if (name === 'direct' || (!withPeers && peers.includes(name))) continue;
    const folder = join(scratch, name);
    mkdirSync(folder);
    try {
      started.set(name, await starters[name](mock.url, folder));
    } catch (error) {
      say(`Without ${name}: ${error instanceof Error ? error.message : String(error)}\n`);
    }
  }
  return started;
}

/** A fresh process runs its code slowly and translates it beside the load: what is measured is a server that has been up for a moment. */
async function warm(target: Target): Promise<void> {
  const passages = [...new Set(options.cases.filter(({ targets: names }) => names.includes(target.name)).map(({ passage }) => passage))];
  for (const passage of passages) {
    const endpoint = target.endpoints[passage];
    if (!endpoint) continue;
    const loads = options.cases.filter((one) => one.passage === passage && one.targets.includes(target.name));
    const size = Math.min(...loads.map((one) => one.size));
    const streams = loads.some((one) => one.stream);
    for (const stream of streams ? [false, true] : [false])
      await runLoad({
        ...loadOf({ passage, size, stream, connections: stream ? 64 : 16 }, endpoint),
        // Streams are few a second, and what opens and ends one is translated last.
        warmup: stream ? options.warm * 3 : options.warm,
        duration: 0.1,
        pids: target.pids,
      });
  }
}

async function measure(one: Case, target: Target): Promise<LoadResult> {
  const endpoint = target.endpoints[one.passage]!;
  const probed = target.name.endsWith('-probed');
  const result = await runLoad({
    ...loadOf(one, endpoint),
    warmup: options.warmup,
    duration: options.duration,
    pids: target.pids,
    mockPids: targets.get('direct')!.pids,
    // The first signal forgets what the warm-up did.
    ...(probed && { onWindow: () => signalProbe(target) }),
  });
  const lost = target.lost?.() ?? 0;
  if (lost > 0) result.errors['quiet streams lost'] = lost;
  if (probed) {
    signalProbe(target);
    await pause(300);
    const stall = Number(
      readFileSync(join(scratch, target.name, 'stalls'), 'utf8')
        .trim()
        .split('\n')
        .at(-1),
    );
    stalls.set(target.name, [...(stalls.get(target.name) ?? []), stall]);
  }
  return result;
}

function signalProbe(target: Target): void {
  for (const pid of target.pids) process.kill(pid, 'SIGUSR2');
}
