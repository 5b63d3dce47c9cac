/** `up --workers 2` that is told to end while one of its workers hangs. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterEach, expect, test } from '@jest/globals';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { until } from '../support/in-process.ts';

let gateway: TestGateway;
let hung: number | undefined;

/** One that has ended may still be listed, as a zombie. */
const lives = (pid: number): boolean => {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
};

/** Starts one of which all workers are ready, and resolves with their process ids. */
async function start(drainSeconds: number): Promise<number[]> {
  gateway = await startGateway({ arrangement: 'workers', toml: { server: { lame_duck_seconds: 0.3, drain_seconds: drainSeconds } } });
  const { ports } = gateway.processes['gateway']!;
  await until(async () => {
    const { notes = [] } = (await (await fetch(`http://127.0.0.1:${ports[1]}/readyz`)).json()) as { notes?: string[] };
    return notes.length === 0;
  }, 'all workers to be ready');
  return workers();
}

async function workers(): Promise<number[]> {
  const { stdout } = await promisify(execFile)('pgrep', ['-P', `${gateway.processes['gateway']!.pid}`]);
  return stdout.trim().split('\n').map(Number);
}

afterEach(async () => {
  if (hung !== undefined && lives(hung)) process.kill(hung, 'SIGKILL');
  await gateway?.stop();
});

const says = (text: string): boolean => gateway.processes['gateway']!.logs().some((line) => line.includes(text));

test.each([
  ['is known to hang', 20],
  ['has just begun to hang', 20],
  ['hangs from its start on', 0.5],
])('a worker that %s ends with the gateway', async (what, drainSeconds) => {
  const before = await start(drainSeconds);
  hung = before[0]!;
  if (what === 'hangs from its start on') {
    process.kill(hung, 'SIGKILL');
    hung = await until(async () => (await workers()).find((pid) => !before.includes(pid)), 'another worker');
  }
  process.kill(hung, 'SIGSTOP');
  if (what === 'is known to hang') await until(() => says('counts as gone'), 'the worker to count as gone');
  // The worker holds the outputs of the process that started it: this resolves when both have ended.
  await gateway.processes['gateway']!.kill('SIGTERM');
  expect(lives(hung)).toBe(false);
  expect(says('did not stop in time')).toBe(what === 'hangs from its start on');
});
