/** The floors: the mock itself, the least proxy in one process, and the least one over NATS. */
import { join } from 'node:path';
import { answers, driverCores, freePorts, pairCores, type Running, type StartOptions, startNode, until } from '../spawn.ts';
import { startNats } from './nats.ts';
import { plainEndpoints, type StartTarget, type Target, type TargetName } from './target.ts';

const servers = join(import.meta.dirname, '../../servers');
const options = ['--max-semi-space-size=16'];

export interface Mock {
  url: string;
  pid: number;
  target: Target;
}

export async function startMock(): Promise<Mock> {
  const [port] = await freePorts(1);
  const url = `http://127.0.0.1:${port}`;
  const running = startNode([...options, join(servers, 'mock-upstream.ts'), '--port', String(port)], { cores: driverCores });
  await until('the mock upstream', [running], answers(url));
  return { url, pid: running.pid, target: { name: 'direct', endpoints: plainEndpoints(url), pids: [running.pid], stop: () => running.stop() } };
}

export const startRaw: StartTarget = async (upstream) => startFloor('raw', upstream);

/** On the cores that several processes have. */
export const startRawOne: StartTarget = async (upstream) => startFloor('raw-one', upstream, { cores: pairCores });

/** Two processes behind one port, which get connections in turn. */
export const startRawTwo: StartTarget = async (upstream) => startFloor('raw-two', upstream, { cores: pairCores, processes: 2 });

/** The same with the stall probe, as the yardstick of the machine's own stalls. */
export const startRawProbed: StartTarget = async (upstream, scratch) =>
  startFloor('raw-probed', upstream, { flags: ['--import', join(servers, 'stall-probe.mjs')], env: { STALL_FILE: join(scratch, 'stalls') } });

interface FloorOptions extends StartOptions {
  /** Of Node. */
  flags?: readonly string[];
  processes?: number;
}

async function startFloor(name: TargetName, upstream: string, { flags = [], processes = 1, ...start }: FloorOptions = {}): Promise<Target> {
  const [port] = await freePorts(1);
  const url = `http://127.0.0.1:${port}`;
  const args = ['--port', String(port), '--up', upstream, '--processes', String(processes)];
  const running = startNode([...options, ...flags, join(servers, 'floor-proxy.ts'), ...args], start);
  await until('the floor proxy', [running], forwards(url));
  return { name, endpoints: plainEndpoints(url), pids: [running.pid], stop: () => running.stop() };
}

export const startDist: StartTarget = async (upstream, scratch) => {
  const nats = await startNats(scratch);
  const [port] = await freePorts(1);
  const url = `http://127.0.0.1:${port}`;
  const role = (name: string): Running =>
    startNode([...options, join(servers, 'dist-proxy.ts'), '--role', name, '--nats', nats.url, '--port', String(port), '--up', upstream]);
  const processes = ['router', 'translator', 'edge'].map(role);
  await until('the split floor', processes, forwards(url));
  const all = [nats.running, ...processes];
  const { same } = plainEndpoints(url);
  return {
    name: 'dist',
    endpoints: { same },
    pids: all.map(({ pid }) => pid),
    stop: async () => void (await Promise.all(all.map((running) => running.stop()))),
  };
};

/** Whether a request gets through to the mock and back. */
const forwards = (url: string) => async (): Promise<boolean> => (await fetch(`${url}/v1/chat/completions`, { method: 'POST', body: '{"model":"gpt-4o"}' })).ok;
