/** Workers that never come to serve: one that hangs before anybody on the bus could miss it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from '@jest/globals';
import type { Logger } from '@model-gateway/telemetry';
import { until } from '../../../../tests/support/callers.ts';
import { freePort } from '../../../../tests/support/free-port.ts';
import { SettingsFile } from './settings-file.ts';
import { Supervisor } from './supervisor.ts';

const program = process.argv[1]!;
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-workers-'));
});
afterEach(() => {
  process.argv[1] = program;
  rmSync(folder, { recursive: true, force: true });
});

test('a worker that is frozen before it is on the bus is killed and replaced', async () => {
  process.argv[1] = join(folder, 'worker.mjs');
  // The first one freezes; those after it get ready.
  writeFileSync(
    process.argv[1],
    `if (process.argv[4] === 'worker-1') process.kill(process.pid, 'SIGSTOP');
process.on('SIGTERM', () => process.exit(0));
process.send({ type: 'ready' });`,
  );
  const supervisor = new Supervisor({
    count: 1,
    port: await freePort(),
    host: '127.0.0.1',
    logger: { info() {}, warn() {}, error() {} } as unknown as Logger,
    worker: { socketPath: join(folder, 'socket'), argv: [], env: process.env },
    settings: new SettingsFile(join(folder, 'none.toml'), join(folder, 'copy.toml')),
    joinMs: 2_000,
  });
  const started = supervisor.start();
  const nameOf = () => [...supervisor.workers].map(({ name }) => name).join();
  try {
    await until(() => nameOf() === 'worker-2' && supervisor.health().ready, 'another worker to be ready');
    supervisor.onPeer('worker-2', true);
    await started;
  } finally {
    await supervisor.stop();
  }
});
