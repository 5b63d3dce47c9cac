/** Where the gateway's time goes: `node bench/profile.ts [--case same-c16] [--seconds 5] [--top 40] [--stored]` prints time by package and by function. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { cases } from './src/cases.ts';
import { loadOf } from './src/driver/load-of.ts';
import { runLoad } from './src/driver/run-load.ts';
import { pinDriver } from './src/spawn.ts';
import { startMock } from './src/targets/floors.ts';
import { startOneProcess } from './src/targets/gateway.ts';

interface Profile {
  nodes: readonly { id: number; children?: readonly number[]; callFrame: { functionName: string; url: string; lineNumber: number } }[];
  samples: readonly number[];
  timeDeltas: readonly number[];
}

const root = join(import.meta.dirname, '..');
const { values } = parseArgs({
  options: {
    case: { type: 'string', default: 'same-c16' },
    seconds: { type: 'string', default: '5' },
    top: { type: 'string', default: '40' },
    stored: { type: 'boolean', default: false },
  },
});
const one = cases.find(({ id }) => id === values.case);
if (!one) throw new Error(`--case ${values.case} is not known; accepted: ${cases.map(({ id }) => id).join(', ')}`);

const scratch = mkdtempSync(join(tmpdir(), 'model-gateway-profile-'));
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }));
pinDriver();
const profiles = join(scratch, 'profiles');
mkdirSync(profiles);
const mock = await startMock();
const startedAt = Date.now();
let windowMs = 0;
const target = await startOneProcess(
  values.stored ? 'embedded-stored' : 'embedded',
  mock.url,
  scratch,
  // Of a bundle all functions would be in one file.
  { flags: ['--cpu-prof', `--cpu-prof-dir=${profiles}`], entry: join(root, 'deploy/cli/src/main.ts') },
);
const endpoint = target.endpoints[one.passage]!;
const result = await runLoad({
  ...loadOf(one, endpoint),
  warmup: 2,
  duration: Number(values.seconds),
  pids: target.pids,
  onWindow() {
    windowMs = Date.now() - startedAt;
  },
});
await target.stop();
await mock.target.stop();
process.stdout.write(`${one.id}: ${result.rps.toFixed(0)} rps under the profiler, errors ${JSON.stringify(result.errors)}\n\n`);
report(JSON.parse(readFileSync(join(profiles, readdirSync(profiles)[0]!), 'utf8')) as Profile);
process.exit(0);

function report({ nodes, samples, timeDeltas }: Profile): void {
  const byId = new Map(nodes.map((node) => [node.id, node.callFrame]));
  const callers = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)));
  const functions = new Map<string, number>();
  const inclusive = new Map<string, number>();
  const packages = new Map<string, number>();
  let busy = 0;
  let at = 0;
  const label = ({ functionName, url, lineNumber }: Profile['nodes'][number]['callFrame']): string =>
    `${functionName || '(anonymous)'} ${fileOf(url)}:${lineNumber + 1}`;
  samples.forEach((id, index) => {
    const frame = byId.get(id)!;
    const time = timeDeltas[index] ?? 0;
    at += time;
    // The start and the warm-up are not what is asked about.
    if (at < windowMs * 1000 || frame.functionName === '(idle)') return;
    busy += time;
    add(functions, label(frame), time);
    add(packages, packageOf(frame.functionName, fileOf(frame.url)), time);
    const stack = new Set<string>();
    for (let node: number | undefined = id; node !== undefined; node = callers.get(node)) stack.add(label(byId.get(node)!));
    for (const caller of stack) add(inclusive, caller, time);
  });
  const print = (title: string, times: ReadonlyMap<string, number>, top: number): void => {
    const rows = [...times].sort((a, b) => b[1] - a[1]).slice(0, top);
    process.stdout.write(`${title}\n${rows.map(([name, time]) => `${((100 * time) / busy).toFixed(1).padStart(6)} %  ${name}`).join('\n')}\n\n`);
  };
  print('self time by package', packages, 30);
  print('self time by function', functions, Number(values.top));
  const ours = (times: ReadonlyMap<string, number>) => new Map([...times].filter(([name]) => / (?:packages|services|deploy)\//.test(name)));
  print('self time by function of this repository', ours(functions), Number(values.top));
  print('time of this repository’s functions with all they call', ours(inclusive), Number(values.top));
}

function fileOf(url: string): string {
  return url.startsWith('file://') ? relative(root, url.slice(7)) : url || '(native)';
}

function packageOf(name: string, file: string): string {
  if (file === '(native)') return name.startsWith('(') ? name : '(native)';
  const dependency = file.lastIndexOf('node_modules/');
  if (dependency >= 0) return file.slice(dependency).split('/').slice(0, 2).join('/');
  return file.startsWith('node:') ? file : file.split('/').slice(0, 2).join('/');
}

function add(times: Map<string, number>, key: string, time: number): void {
  times.set(key, (times.get(key) ?? 0) + time);
}
