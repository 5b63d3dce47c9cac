/**
 * What one event of a stream costs: `node bench/events.ts [--streams 32] [--words 200] [--windows 12] [--targets raw,embedded] [--passages same,openai-to-anthropic]`.
 * The next event is sent when the one before has reached the caller, so that a crowded machine joins none and figures of one run compare.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type SteppedUpstream, startSteppedUpstream } from './servers/stepped-upstream.ts';
import { makeBody } from './src/driver/bodies.ts';
import { cpuByThread, cpuDifference, processTree } from './src/driver/processes.ts';
import { pause } from './src/driver/run-load.ts';
import { pinDriver } from './src/spawn.ts';
import { starters } from './src/targets/index.ts';
import { dialectOf, type Endpoint, type Passage, type Target } from './src/targets/target.ts';

const windowMs = 400;
/** The first load makes the server compile what it runs most. */
const warmMs = 4000;
const settleMs = 150;

const { values } = parseArgs({
  options: {
    streams: { type: 'string', default: '32' },
    words: { type: 'string', default: '200' },
    windows: { type: 'string', default: '12' },
    targets: { type: 'string', default: 'raw,embedded' },
    passages: { type: 'string', default: 'same,openai-to-anthropic' },
  },
});
const scratch = mkdtempSync(join(tmpdir(), 'model-gateway-events-'));
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }));
pinDriver();

/** Callers that ask again as soon as a stream has ended, until `on` is false. */
interface Load {
  on: boolean;
  events: number;
}

function wireOf(name: string, endpoint: Endpoint, passage: Passage): Buffer {
  const url = new URL(endpoint.url);
  const plain = makeBody({ dialect: dialectOf[passage], size: 1024, stream: true, model: endpoint.model }).toString('utf8');
  const body = Buffer.from(plain.replace('You are', `You ${name} are`));
  const headers = {
    host: url.host,
    'content-type': 'application/json',
    accept: 'text/event-stream',
    ...endpoint.headers,
    'content-length': String(body.length),
  };
  const lines = Object.entries(headers).map(([key, value]) => `${key}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`POST ${url.pathname} HTTP/1.1\r\n${lines.join('')}\r\n`), body]);
}

function call(number: number, endpoint: Endpoint, passage: Passage, upstream: SteppedUpstream, load: Load): void {
  const name = `stream-${number}-`;
  const wire = wireOf(name, endpoint, passage);
  const url = new URL(endpoint.url);
  const socket = connect(Number(url.port), url.hostname);
  socket.setNoDelay(true);
  socket.write(wire);
  socket.on('error', (error) => process.stderr.write(`a caller failed: ${error.message}\n`));
  socket.on('data', (bytes) => {
    if (!bytes.includes('0\r\n\r\n')) {
      load.events++;
      upstream.step(name);
    } else if (load.on) socket.write(wire);
    else socket.destroy();
  });
}

/** Microseconds of CPU for an event, in one window. */
async function measure(target: Target, passage: Passage, upstream: SteppedUpstream, warm: number): Promise<number> {
  const load: Load = { on: true, events: 0 };
  for (let number = 0; number < Number(values.streams); number++) call(number, target.endpoints[passage]!, passage, upstream, load);
  await pause(warm);
  const pids = processTree(target.pids);
  const [events, before] = [load.events, cpuByThread(pids)];
  await pause(windowMs);
  const cost = cpuDifference(before, cpuByThread(pids)) / 1000 / (load.events - events);
  load.on = false;
  for (const until = Date.now() + 3000; upstream.open > 0 && Date.now() < until; ) await pause(5);
  return cost;
}

const upstream = await startSteppedUpstream(Number(values.words));
const targets: Target[] = [];
for (const name of values.targets.split(',')) {
  const start = starters[name as keyof typeof starters];
  if (!start) throw new Error(`--targets ${name} is not known; accepted: ${Object.keys(starters).join(', ')}`);
  mkdirSync(join(scratch, name));
  targets.push(await start(upstream.url, join(scratch, name)));
}
for (const passage of values.passages.split(',') as Passage[]) {
  const costs = new Map<string, number[]>(targets.map(({ name }) => [name, []]));
  for (const target of targets) await measure(target, passage, upstream, warmMs);
  for (let window = 0; window < Number(values.windows); window++)
    for (const target of window % 2 === 0 ? targets : targets.toReversed()) costs.get(target.name)!.push(await measure(target, passage, upstream, settleMs));
  const lower = (list: number[]): number => list.filter(Number.isFinite).sort((a, b) => a - b)[Math.floor(list.length / 4)] ?? Number.NaN;
  const base = lower(costs.get(targets[0]!.name)!);
  for (const [name, figures] of costs) {
    const low = lower(figures);
    process.stdout.write(`${passage.padEnd(20)} ${name.padEnd(10)} ${low.toFixed(1)} µs an event, ${(low / base).toFixed(2)} × ${targets[0]!.name}\n`);
  }
}
for (const target of targets) await target.stop();
process.exit(0);
