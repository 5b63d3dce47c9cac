/**
 * What a change costs: two checkouts of this repository under the same load, in turn, at the same time on the same core.
 *
 *   node bench/compare.ts [--case same-c16,stream-c64] [--mode embedded|embedded-stored|split] [--reps 20] [--seconds 0.3] [--warm 8000] <before> [<after>]
 *
 * Two modes (`--mode embedded,embedded-stored`) are one for each side: with the same checkout twice that is what an arrangement costs.
 *
 * `before` and `after` are checkouts with their dependencies installed, `after` is this one unless said otherwise. Each is bundled and configured by its own
 * bench, then loaded by this one's driver. In every repetition each version has one window, and then `raw`; the versions take turns in being first, so that
 * what else happens on the machine, and what the window before left to do, meets both alike. Compared is CPU time of all threads, as the kernel counts
 * it, per request: ratios are made repetition by repetition, and their median is what counts; half of all ratios lie in the range beside it.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { type Case, cases } from './src/cases.ts';
import { loadOf } from './src/driver/load-of.ts';
import { type LoadResult, runLoad } from './src/driver/run-load.ts';
import { pinDriver } from './src/spawn.ts';
import { startMock, startRaw } from './src/targets/floors.ts';
import type { Endpoint, Passage, StartTarget, Target } from './src/targets/target.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    case: { type: 'string', default: 'same-c16' },
    mode: { type: 'string', default: 'embedded' },
    reps: { type: 'string', default: '20' },
    seconds: { type: 'string', default: '0.3' },
    warm: { type: 'string', default: '8000' },
  },
});
const [before, after = join(import.meta.dirname, '..')] = positionals;
if (before === undefined) throw new Error('which checkout is to be compared with: node bench/compare.ts <before> [<after>]');
const [start, startAfter = start] = values.mode.split(',').map((mode) => {
  const found = { embedded: 'startEmbedded', 'embedded-stored': 'startEmbeddedStored', split: 'startSplit' }[mode];
  if (found === undefined) throw new Error(`--mode "${mode}": accepted: embedded, embedded-stored, split`);
  return found;
});
const chosen = values.case.split(',').map((id) => {
  const found = cases.find((one) => one.id === id);
  if (!found) throw new Error(`--case ${id} is not known; accepted: ${cases.map((one) => one.id).join(', ')}`);
  return found;
});

const scratch = mkdtempSync(join(tmpdir(), 'model-gateway-compare-'));
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }));
// So that the handlers of 'exit' run, which end what was started.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));
// Before this process moves to its own core: each checkout's bench counts the cores when it is loaded, and pins nothing where there is but one.
const starters = { before: await starterOf(before, start!), after: await starterOf(after, startAfter!) };
pinDriver();
const mock = await startMock();
const targets = new Map<string, Target>([
  ['before', await startGateway('before')],
  ['after', await startGateway('after')],
  ['raw', await startRaw(mock.url, scratch)],
]);
for (const one of chosen) await warmUp(one);
for (const one of chosen) report(one, await measure(one));
for (const target of targets.values()) await target.stop();
await mock.target.stop();
process.exit(0);

async function starterOf(checkout: string, start: string): Promise<StartTarget> {
  const gateway = (await import(pathToFileURL(join(resolve(checkout), 'bench/src/targets/gateway.ts')).href)) as Record<string, StartTarget>;
  return gateway[start]!;
}

async function startGateway(name: 'before' | 'after'): Promise<Target> {
  const folder = join(scratch, name, 'data');
  mkdirSync(folder, { recursive: true });
  return starters[name](mock.url, folder);
}

/** A fresh process runs slow code and compiles beside the load. */
async function warmUp(one: Case): Promise<void> {
  for (const target of targets.values()) for (let done = 0; done < Number(values.warm); ) done += (await load(one, target, 1.5)).requests;
}

async function measure(one: Case): Promise<Map<string, LoadResult[]>> {
  const results = new Map<string, LoadResult[]>([...targets.keys()].map((name) => [name, []]));
  for (let repetition = 0; repetition < Number(values.reps); repetition++) {
    for (const name of repetition % 2 === 0 ? ['before', 'after', 'raw'] : ['after', 'before', 'raw']) {
      const result = await load(one, targets.get(name)!, Number(values.seconds), 0.05);
      if (Object.keys(result.errors).length > 0) process.stderr.write(`${name}: errors ${JSON.stringify(result.errors)}\n`);
      results.get(name)!.push(result);
    }
  }
  return results;
}

function load(one: Case, target: Target, duration: number, warmup = 0): Promise<LoadResult> {
  // Older revisions call their endpoints doors.
  const { [one.passage]: endpoint } = target.endpoints ?? (target as unknown as { doors: Record<Passage, Endpoint> }).doors;
  return runLoad({ ...loadOf(one, endpoint!), warmup, duration, pids: target.pids });
}

function report({ id, title, connections }: Case, results: ReadonlyMap<string, readonly LoadResult[]>): void {
  const cpu = (name: string): number[] => results.get(name)!.map((result) => result.cpu);
  const ratios = (name: string, to: string): number[] => {
    const divisors = cpu(to);
    return cpu(name)
      .map((value, repetition) => value / divisors[repetition]!)
      .filter(Number.isFinite);
  };
  process.stdout.write(`${id} (${values.mode}; ${title}, C=${connections}), ${values.reps} repetitions of ${values.seconds} s\n`);
  for (const name of ['before', 'after']) {
    const rss = Math.max(...results.get(name)!.map((result) => result.rssMib));
    const p50 = results.get(name)!.map((result) => result.p50);
    process.stdout.write(
      `  ${name.padEnd(6)} CPU µs ${at(cpu(name), 0.5).toFixed(0).padStart(5)}  / raw ${spread(ratios(name, 'raw'))}  p50 ms ${at(p50, 0.5).toFixed(2)}  RSS MiB ${rss.toFixed(0)}\n`,
    );
  }
  process.stdout.write(
    `  after / before ${spread(ratios('after', 'before'))}; of lower quartiles ${(at(cpu('after'), 0.25) / at(cpu('before'), 0.25)).toFixed(3)}\n`,
  );
}

function spread(ratios: readonly number[]): string {
  return `${at(ratios, 0.5).toFixed(3)} (${at(ratios, 0.25).toFixed(2)}..${at(ratios, 0.75).toFixed(2)})`;
}

/** The value below which this share of them lies; between two, their mean in proportion. */
function at(values: readonly number[], share: number): number {
  const sorted = values.filter(Number.isFinite).sort((a, b) => a - b);
  const place = (sorted.length - 1) * share;
  const low = sorted[Math.floor(place)] ?? Number.NaN;
  const high = sorted[Math.ceil(place)] ?? Number.NaN;
  return low + (high - low) * (place - Math.floor(place));
}
