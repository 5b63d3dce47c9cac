import { createServer } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { ListenError } from './listen.ts';
import { createProbeServer, type ProbeServer } from './probe-server.ts';
import type { Health } from './service.ts';

let server: ProbeServer | undefined;
afterEach(async () => server?.stop());

async function open(health: () => Health, text: () => Promise<string> = async () => 'a 1\n'): Promise<string> {
  server = createProbeServer({ port: 0, host: '127.0.0.1', health, metrics: { text } });
  return `http://127.0.0.1:${await server.start()}`;
}

describe('probe server', () => {
  test('answers liveness, readiness and metrics', async () => {
    let health: Health = { ready: true, reasons: [] };
    const url = await open(() => health);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    health = { ready: false, reasons: ['bus', 'draining'] };
    const notReady = await fetch(`${url}/readyz`);
    expect(notReady.status).toBe(503);
    expect(await notReady.json()).toEqual({ status: 'not ready', ready: false, reasons: ['bus', 'draining'] });
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    const metrics = await fetch(`${url}/metrics?x=1`);
    expect(metrics.headers.get('content-type')).toContain('version=0.0.4');
    expect(await metrics.text()).toBe('a 1\n');
  });

  test('refuses other paths and methods, and survives failing metrics', async () => {
    const url = await open(
      () => ({ ready: true, reasons: [] }),
      async () => {
        throw new Error('no');
      },
    );
    expect((await fetch(`${url}/__proto__`)).status).toBe(404);
    const posted = await fetch(`${url}/readyz`, { method: 'POST', body: 'x' });
    expect(posted.status).toBe(405);
    expect(posted.headers.get('allow')).toBe('GET, HEAD');
    expect((await fetch(`${url}/metrics`)).status).toBe(500);
    expect((await fetch(`${url}/healthz`, { method: 'HEAD' })).status).toBe(200);
  });

  test('a port in use is one clear line', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as { port: number };
    const taken = createProbeServer({ port, host: '127.0.0.1', health: () => ({ ready: true, reasons: [] }), metrics: { text: async () => '' } });
    const error = await taken.start().catch((one) => one);
    other.close();
    expect(error).toBeInstanceOf(ListenError);
    expect(error.message).toBe(`127.0.0.1:${port} is already in use; change PROMETHEUS_PORT`);
  });

  test('an address of another machine names the setting that holds it', async () => {
    const elsewhere = createProbeServer({ port: 0, host: '192.0.2.1', health: () => ({ ready: true, reasons: [] }), metrics: { text: async () => '' } });
    const error = await elsewhere.start().catch((one) => one);
    expect(error.message).toBe('192.0.2.1:0 is not an address of this machine; change HOST');
  });
});
