/** A disk that is full under the process's output neither keeps it from starting nor from ending well. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { freePort } from '../../../tests/support/free-port.ts';
import { compileCache, gatewayEntry } from '../../../tests/support/gateway-entry.ts';

test('a gateway whose output goes to a full disk serves, and ends with 0', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-full-'));
  const full = openSync('/dev/full', 'w');
  const [port, probe] = [await freePort(), await freePort()];
  writeFileSync(join(folder, 'gateway.toml'), '[server]\nlame_duck_seconds = 0\n');
  const child = spawn(process.execPath, ['--no-warnings', await gatewayEntry(), 'up'], {
    env: {
      PATH: process.env['PATH'] ?? '',
      ...compileCache,
      CONFIG_FILE: join(folder, 'gateway.toml'),
      DATA_DIR: join(folder, 'data'),
      HOST: '127.0.0.1',
      PORT: String(port),
      PROMETHEUS_PORT: String(probe),
    },
    stdio: ['ignore', full, full],
  });
  const ended = once(child, 'close');
  try {
    const isReady = () =>
      fetch(`http://127.0.0.1:${probe}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
    for (const deadline = Date.now() + 100_000; !(await isReady()) && child.exitCode === null && Date.now() < deadline; )
      await new Promise((resolve) => setTimeout(resolve, 50));
    expect(child.exitCode).toBeNull();
    expect((await fetch(`http://127.0.0.1:${port}/v1/models`)).status).toBe(401);
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  } finally {
    child.kill('SIGKILL');
    await ended;
    closeSync(full);
    rmSync(folder, { recursive: true, force: true });
  }
});
