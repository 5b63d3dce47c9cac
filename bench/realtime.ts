/**
 * What a frame of a realtime session costs beside the least proxy of WebSockets: 64 callers send sound at its pace, and an upstream answers each frame with as much.
 * `node bench/realtime.ts [--sessions 64] [--frame-ms 40] [--windows 8] [--window-ms 2500] [--targets raw,embedded,split]`; ends with 1 when a promise is broken
 * (one process: CPU of a frame ≤ 1.5 × raw, ≤ 1 ms more at p50). Both halves of a way there and back count as frames.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { WebSocket, WebSocketServer } from 'ws';
import { cpuByThread, cpuDifference, processTree } from './src/driver/processes.ts';
import { pause } from './src/driver/run-load.ts';
import { answers, freePorts, pinDriver, startNode, until } from './src/spawn.ts';
import { startForSessions } from './src/targets/gateway.ts';

const { values } = parseArgs({
  options: {
    sessions: { type: 'string', default: '64' },
    'frame-ms': { type: 'string', default: '40' },
    windows: { type: 'string', default: '8' },
    'window-ms': { type: 'string', default: '2500' },
    targets: { type: 'string', default: 'raw,embedded,split' },
  },
});
const sessions = Number(values.sessions);
const frameMs = Number(values['frame-ms']);
const windowMs = Number(values['window-ms']);
const warmMs = 4000;
/** Of one process: CPU of a frame beside raw, and milliseconds more at p50. */
const promised = { cpu: 1.5, addedMs: 1 };
/** Base64 of 16-bit samples at 24 kHz, as long as a frame lasts. */
const sound = Buffer.alloc((24 * frameMs * 2 * 4) / 3, 'A').toString('latin1');

interface Target {
  readonly name: string;
  readonly url: string;
  readonly key: string;
  readonly pids: readonly number[];
  stop(): Promise<void>;
}

const scratch = mkdtempSync(join(tmpdir(), 'model-gateway-realtime-'));
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }));
pinDriver();

const upstream = createServer((_request, response) => void response.end('{}'));
const sockets = new WebSocketServer({ server: upstream, perMessageDeflate: false });
sockets.on('connection', (socket) => {
  socket.send('{"type":"session.created","event_id":"e","session":{"type":"realtime","id":"s","model":"m"}}');
  socket.on('message', (data: Buffer) => {
    const number = /"event_id":"(\d+)"/.exec(data.toString('latin1', 0, 80))?.[1] ?? '';
    socket.send(
      `{"type":"response.output_audio.delta","event_id":"${number}","response_id":"r","item_id":"i","output_index":0,"content_index":0,"delta":"${sound}"}`,
    );
  });
});
await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
const up = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;

/** Frames there and back so far, and how long each pair took. */
interface Load {
  frames: number;
  readonly times: number[];
  stop(): void;
}

async function startLoad({ url, key }: Target): Promise<Load> {
  const load: Load = { frames: 0, times: [], stop: () => undefined };
  const open: WebSocket[] = [];
  const timers: NodeJS.Timeout[] = [];
  for (let at = 0; at < sessions; at++) {
    const socket = new WebSocket(`${url}/v1/realtime?model=voice`, { perMessageDeflate: false, headers: { authorization: `Bearer ${key}` } });
    open.push(socket);
    const sent = new Map<string, number>();
    let number = 0;
    socket.on('message', (data: Buffer) => {
      const id = /"event_id":"(\d+)"/.exec(data.toString('latin1', 0, 80))?.[1];
      const since = id === undefined ? undefined : sent.get(id);
      if (id === undefined || since === undefined) return;
      sent.delete(id);
      load.frames += 2;
      load.times.push(performance.now() - since);
    });
    await new Promise<void>((resolve, reject) => {
      socket.once('message', () => resolve());
      socket.once('error', reject);
    });
    const speak = (): void => {
      const id = String(++number);
      sent.set(id, performance.now());
      socket.send(`{"type":"input_audio_buffer.append","event_id":"${id}","audio":"${sound}"}`);
    };
    // Callers do not speak in step.
    timers.push(setTimeout(() => timers.push(setInterval(speak, frameMs)), (at * frameMs) / sessions));
  }
  load.stop = () => {
    for (const timer of timers) clearTimeout(timer);
    for (const socket of open) socket.close();
  };
  return load;
}

const median = (list: readonly number[]): number => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)] ?? Number.NaN;

/** Of one window: microseconds of CPU for a frame, and milliseconds there and back at p50. */
async function measure(target: Target, warm: number): Promise<{ cpu: number; trip: number }> {
  const load = await startLoad(target);
  await pause(warm);
  const pids = processTree(target.pids);
  const [frames, before] = [load.frames, cpuByThread(pids)];
  load.times.length = 0;
  await pause(windowMs);
  const cpu = cpuDifference(before, cpuByThread(pids)) / 1000 / (load.frames - frames);
  const trip = median(load.times);
  load.stop();
  await until('the upstream to be left', [], async () => sockets.clients.size === 0);
  return { cpu, trip };
}

async function startRaw(): Promise<Target> {
  const [port] = await freePorts(1);
  const url = `http://127.0.0.1:${port}`;
  const flags = ['--max-semi-space-size=16'];
  const running = startNode([...flags, join(import.meta.dirname, 'servers/raw-socket-proxy.ts'), '--port', String(port), '--up', up.replace('http', 'ws')]);
  await until('the raw proxy', [running], answers(url));
  return { name: 'raw', url: url.replace('http', 'ws'), key: 'none', pids: [running.pid], stop: () => running.stop() };
}

async function startGateway(name: string): Promise<Target> {
  const folder = join(scratch, name);
  mkdirSync(folder);
  const { base, secret, pids, stop } = await startForSessions(name === 'split', folder);
  const post = async (path: string, body: object): Promise<Record<string, unknown>> => {
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
    const reply = await fetch(`${base}/console/api/${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!reply.ok) throw new Error(`configuring ${path} gave ${reply.status}: ${await reply.text()}`);
    return (await reply.json()) as Record<string, unknown>;
  };
  await post('upstreams', { name: 'mock', protocol: 'alpha_realtime', base_url: up, api_keys: [{ key: 'sk-mock' }] });
  await post('models', { name: 'voice', upstream: 'mock', upstream_model_id: 'voice' });
  await post('key-groups', { name: 'bench', models: ['*'] });
  const { key } = await post('access-keys', { name: 'bench', group: 'bench' });
  await until('the key to be known', [], async () =>
    (await (await fetch(`${base}/v1/models`, { headers: { authorization: `Bearer ${key}` } })).text()).includes('voice'),
  );
  return { name, url: base.replace('http', 'ws'), key: String(key), pids, stop };
}

const targets: Target[] = [];
try {
  for (const name of values.targets.split(',')) targets.push(await (name === 'raw' ? startRaw() : startGateway(name)));
  for (const target of targets) await measure(target, warmMs);
  const seen = new Map(targets.map(({ name }) => [name, [] as { cpu: number; trip: number }[]]));
  for (let window = 0; window < Number(values.windows); window++)
    for (const target of window % 2 === 0 ? targets : targets.toReversed()) seen.get(target.name)!.push(await measure(target, 500));
  const raw = seen.get('raw') ?? [];
  console.log(`${sessions} sessions, a frame of ${sound.length} bytes each way every ${frameMs} ms\n`);
  console.log('| target | CPU µs a frame | × raw | there and back ms, p50 | more than raw, a frame |\n| --- | --- | --- | --- | --- |');
  for (const [name, figures] of seen) {
    const ratios = figures.map(({ cpu }, at) => cpu / (raw[at]?.cpu ?? Number.NaN));
    const added = median(figures.map(({ trip }, at) => (trip - (raw[at]?.trip ?? Number.NaN)) / 2));
    const range = `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`;
    const row = [
      name,
      median(figures.map(({ cpu }) => cpu)).toFixed(1),
      `${median(ratios).toFixed(2)} (${range})`,
      median(figures.map(({ trip }) => trip)).toFixed(2),
      `${added.toFixed(2)} ms`,
    ];
    console.log(`| ${row.join(' | ')} |`);
    if (name === 'embedded' && (median(ratios) > promised.cpu || added > promised.addedMs)) {
      console.log(`broken: promised are ${promised.cpu} × raw and ${promised.addedMs} ms`);
      process.exitCode = 1;
    }
  }
} finally {
  for (const target of targets) await target.stop();
  upstream.closeAllConnections();
  upstream.close();
}
