/** The test gateway itself: both arrangements start, answer, keep rows, restart a process, and stop clean. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { allArrangements, startGateway, type TestGateway, until } from '../support/gateway.ts';

describe.each(allArrangements('gateway smoke'))('a %s gateway', (arrangement) => {
  let upstream: FakeUpstream;
  let gateway: TestGateway;

  beforeAll(async () => {
    upstream = await startFakeUpstream();
    gateway = await startGateway({ arrangement });
    await gateway.configure({
      upstreams: [{ name: 'fake', protocol: 'alpha', base_url: upstream.url, api_keys: [{ key: 'sk-fake' }] }],
      models: [{ name: 'hello', upstream: 'fake', upstream_model_id: 'ok' }],
    });
  });
  afterAll(async () => {
    await gateway?.stop();
    await upstream?.close();
  });

  const ask = (id: string) =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', 'z-request-id': id },
      body: JSON.stringify({ model: 'hello', messages: [{ role: 'user', content: 'Hi there' }] }),
    });

  test('answers, and its row can be found by both ids', async () => {
    const reply = await ask('smoke-1');
    expect(reply.status).toBe(200);
    expect(await reply.json()).toMatchObject({ model: 'hello', choices: [{ message: { content: 'Hi there' }, finish_reason: 'stop' }] });
    const row = await gateway.row('smoke-1');
    expect(row).toMatchObject({ status: 200, model: 'hello', access_key: 'caller', upstream: 'fake', upstream_model_id: 'ok' });
    expect((await gateway.row(reply.headers.get('x-request-id') ?? '')).client_request_id).toBe('smoke-1');
    expect((await gateway.rows()).map(({ id }) => id)).toContain(row.id);
  });

  test('goes on after a process was killed and started again', async () => {
    const one = (gateway.processes['translator'] ?? gateway.processes['data-plane'] ?? gateway.processes['gateway'])!;
    const before = one.pid;
    await one.kill();
    await one.restart();
    expect(one.pid).not.toBe(before);
    await until(async () => (await ask('smoke-2')).status === 200, 'it to be served again');
    expect(one.logs().length).toBeGreaterThan(0);
  });
});

test('an end that nobody asked for is a fault, and everything is cleaned up all the same', async () => {
  const gateway = await startGateway({ arrangement: 'embedded' });
  const { pid } = gateway.processes['gateway']!;
  gateway.checkProcesses();
  process.kill(pid!, 'SIGKILL');
  await until(async () => gateway.processes['gateway']!.pid === null, 'the end of the process');
  expect(() => gateway.checkProcesses()).toThrow('ended by itself (SIGKILL)');
  await expect(gateway.stop()).rejects.toThrow('ended by itself');
});

test('a gateway that cannot start says why', async () => {
  const start = startGateway({ arrangement: 'embedded', env: { LOG_LEVEL: 'loud' } });
  await expect(start).rejects.toThrow('LOG_LEVEL');
});

test('a borrowed gateway that was given back ends with a worker that is killed', async () => {
  const support = join(import.meta.dirname, '../support/gateway.ts');
  const script = `const gateway = await (await import(${JSON.stringify(support)})).borrowGateway({ arrangement: 'embedded' });
    await gateway.stop();
    console.log(JSON.stringify([gateway.processes.gateway.pid, gateway.home]));
    setInterval(() => undefined, 1000);`;
  const worker = spawn(process.execPath, ['--no-warnings', '--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [pid, home] = JSON.parse(await new Promise<string>((resolve) => worker.stdout.once('data', (data) => resolve(String(data))))) as [number, string];
  expect([isRunning(pid), existsSync(home)]).toEqual([true, true]);
  worker.kill('SIGKILL');
  await until(async () => !isRunning(pid) && !existsSync(home), 'the gateway to end');
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
