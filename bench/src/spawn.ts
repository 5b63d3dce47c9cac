/** Starts the processes of a run on fixed cores, waits until they answer, and ends exactly those at the end. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { availableParallelism } from 'node:os';
import { pause } from './driver/run-load.ts';

/** Whether two cores are left for mock and driver where servers under test have two. */
export const hasFourCores = availableParallelism() >= 4;
/** Servers under test on one core, mock and driver on others: otherwise they would measure each other. */
export const serverCores = '0';
export const driverCores = hasFourCores ? '2,3' : '1';
/** For servers of several processes, and those that they are compared with. */
export const pairCores = hasFourCores ? '0,1' : serverCores;

const canPin = process.platform === 'linux' && availableParallelism() > 1 && spawnSync('taskset', ['-V']).status === 0;
const stopMs = 5000;

/** Whatever ends this process takes along what it started. */
const children = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

export interface Running {
  pid: number;
  /** Everything the process wrote to stderr, for the message when it failed. */
  complaints(): string;
  readonly ended: boolean;
  stop(): Promise<void>;
}

export interface StartOptions {
  cores?: string;
  env?: Record<string, string>;
  cwd?: string;
}

export function start(command: string, args: readonly string[], { cores = serverCores, env = {}, cwd }: StartOptions = {}): Running {
  const [program, ...rest] = canPin ? ['taskset', '-c', cores, command, ...args] : [command, ...args];
  const child: ChildProcess = spawn(program!, rest, {
    ...(cwd !== undefined && { cwd }),
    env: { ...cleanEnvironment(), ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let complaints = '';
  child.stderr?.on('data', (bytes: Buffer) => {
    complaints = (complaints + bytes.toString()).slice(-4000);
  });
  child.on('error', (error) => {
    complaints += error.message;
  });
  children.add(child);
  child.on('exit', () => children.delete(child));
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null || child.pid === undefined;
  return {
    pid: child.pid ?? -1,
    complaints: () => complaints.trim(),
    get ended() {
      return hasEnded();
    },
    async stop() {
      if (hasEnded()) return;
      const exit = once(child, 'exit');
      child.kill('SIGTERM');
      await Promise.race([exit, pause(stopMs)]);
      if (hasEnded()) return;
      child.kill('SIGKILL');
      await exit;
    },
  };
}

/** Starts a script of this repository (or of a peer) on the Node that runs the bench. */
export const startNode = (args: readonly string[], options?: StartOptions): Running => start(process.execPath, args, options);

/** Moves this process, the driver, to its own cores. */
export function pinDriver(): void {
  if (canPin) spawnSync('taskset', ['-acp', driverCores, String(process.pid)]);
}

/** Ports that were free a moment ago. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer().listen(0, '127.0.0.1');
      await once(server, 'listening');
      return server;
    }),
  );
  const ports = servers.map((server) => (server.address() as { port: number }).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

/** Waits until `check` holds; fails early when a process it depends on ended. */
export async function until(what: string, processes: readonly Running[], check: () => Promise<boolean>, ms = 20_000): Promise<void> {
  for (const deadline = Date.now() + ms; Date.now() < deadline; await pause(100)) {
    const dead = processes.find((running) => running.ended);
    if (dead) throw new Error(`${what} ended: ${dead.complaints() || 'without a word'}`);
    if (await check().catch(() => false)) return;
  }
  throw new Error(`${what} was not ready in ${ms / 1000} s: ${processes.map((running) => running.complaints()).join(' ') || 'without a word'}`);
}

export const answers =
  (url: string): (() => Promise<boolean>) =>
  async () =>
    (await fetch(url)).status < 500;

/** The gateway's own settings in the caller's environment would make two runs differ. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const kept = ['PATH', 'HOME', 'TMPDIR', 'LANG'];
  return Object.fromEntries(kept.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])));
}
