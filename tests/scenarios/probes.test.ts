/** The probe says one thing in one shape, on whichever port it is asked. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { until } from '../support/in-process.ts';
import type { GatewayProcess } from '../support/managed-process.ts';

describe('in one process whose database takes no rows', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-probes-'));
  let gateway: TestGateway;
  let upstream: FakeUpstream;
  beforeAll(async () => {
    upstream = await startFakeUpstream();
    gateway = await startGateway({ arrangement: 'embedded', env: { DATA_DIR: folder } });
    await gateway.configure({
      upstreams: [{ name: 'fake', protocol: 'alpha', base_url: upstream.url, api_keys: [{ key: 'sk-upstream' }] }],
      models: [{ name: 'm', upstream: 'fake', upstream_model_id: 'ok' }],
    });
  });
  afterAll(async () => {
    await gateway?.stop();
    await upstream?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const readiness = async (url: string) => {
    const reply = await fetch(`${url}/readyz`);
    return { status: reply.status, body: await reply.json() };
  };

  test('both ports say so in the same words, and both take it back', async () => {
    const ports = [gateway.url, `http://127.0.0.1:${(gateway.processes['gateway'] as GatewayProcess).ports[1]}`];
    const both = async () => {
      const [first, second] = await Promise.all(ports.map(readiness));
      return { first, second };
    };
    const well = await both();
    expect(well.first).toEqual({ status: 200, body: { status: 'ready', ready: true, reasons: [] } });
    expect(well.second).toEqual(well.first);
    // As a disk does that has no more room: nothing is written, all is read.
    const blocker = new DatabaseSync(join(folder, 'gateway.db'));
    blocker.exec('begin immediate');
    try {
      const reply = await fetch(`${gateway.url}/v1/messages`, {
        method: 'POST',
        headers: { 'x-api-key': gateway.key, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'hello' }] }),
      });
      expect(reply.status).toBe(200);
      const ill = await until(async () => {
        const said = await both();
        return said.first?.status === 503 && said.second?.status === 503 && said;
      }, 'both probes to say so');
      expect(ill.first!.body).toEqual({ status: 'not ready', ready: false, reasons: expect.arrayContaining(['stats:storage']) });
      expect(ill.second!.body).toEqual(ill.first!.body);
    } finally {
      blocker.exec('rollback');
      blocker.close();
    }
    await until(async () => {
      const said = await both();
      return said.first?.status === 200 && said.second?.status === 200;
    }, 'both probes to take it back');
  });
});
