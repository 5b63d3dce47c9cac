/** `npm start` in the background: whichever process of its chain (npm, the bootstrap, the gateway) is ended by whatever signal, none is left behind. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { freePort } from '../../../tests/support/free-port.ts';
import { until } from '../../../tests/support/gateway.ts';

const root = join(import.meta.dirname, '../../..');
let npm: ChildProcess | undefined;
let folder = '';

afterEach(() => {
  // It leads its own process group: what a failed case left goes with it.
  try {
    if (npm?.pid !== undefined) process.kill(-npm.pid, 'SIGKILL');
  } catch {
    // Nothing is left of the group.
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
});

interface Listed {
  pid: number;
  command: string;
}

/** The process and all below it, the top one first. */
function chainOf(pid: number): Listed[] {
  const all = execFileSync('ps', ['-A', '-o', 'pid=', '-o', 'ppid=', '-o', 'args='], { encoding: 'utf8' })
    .split('\n')
    .flatMap((line) => {
      const [, id, parent, command = ''] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
      return id === undefined ? [] : [{ pid: Number(id), ppid: Number(parent), command }];
    });
  const below = (parent: number): Listed[] => all.filter(({ ppid }) => ppid === parent).flatMap((one) => [one, ...below(one.pid)]);
  return [...all.filter((one) => one.pid === pid), ...below(pid)];
}

const lives = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

async function start(): Promise<Listed[]> {
  folder = mkdtempSync(join(tmpdir(), 'npm-start-'));
  const [port, probe] = [await freePort(), await freePort()];
  writeFileSync(join(folder, 'gateway.toml'), '[server]\nlame_duck_seconds = 0\ndrain_seconds = 1\n');
  let output = '';
  npm = spawn('npm', ['start'], {
    cwd: root,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: process.env['HOME'] ?? '/',
      CONFIG_FILE: join(folder, 'gateway.toml'),
      DATA_DIR: join(folder, 'data'),
      HOST: '127.0.0.1',
      PORT: `${port}`,
      PROMETHEUS_PORT: `${probe}`,
    },
  });
  for (const stream of [npm.stdout, npm.stderr]) stream?.on('data', (text) => (output += text));
  try {
    await until(async () => (await fetch(`http://127.0.0.1:${probe}/readyz`)).ok, 'npm start to be ready', 200_000);
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : error}\n${output}`, { cause: error });
  }
  const chain = chainOf(npm.pid as number);
  expect(chain.map(({ command }) => command)).toEqual(
    expect.arrayContaining([
      expect.stringContaining('npm'),
      expect.stringMatching(/^\S*node.* scripts\/bootstrap\.mjs/),
      expect.stringContaining('main.ts up'),
    ]),
  );
  return chain;
}

test.each([
  ['npm', 'SIGTERM'],
  ['npm', 'SIGINT'],
  ['npm', 'SIGHUP'],
  ['npm', 'SIGKILL'],
  ['the bootstrap', 'SIGTERM'],
  ['the bootstrap', 'SIGHUP'],
  ['the bootstrap', 'SIGKILL'],
] as const)(
  '%s gets %s: every process of it ends',
  async (who, signal) => {
    const chain = await start();
    const [top] = chain;
    const bootstrap = chain.find(({ command }) => /^\S*node.* scripts\/bootstrap\.mjs/.test(command));
    process.kill((who === 'npm' ? top : bootstrap)?.pid as number, signal);
    await until(async () => !chain.some(({ pid }) => lives(pid)), 'the processes to end').catch((error: Error) => {
      const left = chain.filter(({ pid }) => lives(pid)).map(({ pid, command }) => `${pid} ${command}`);
      throw new Error(`${error.message}; still there:\n${left.join('\n')}`);
    });
  },
  240_000,
);
