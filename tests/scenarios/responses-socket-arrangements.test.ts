/** Responses over a WebSocket through real processes, in both arrangements: turns go on from one another, and a gateway that leaves says so. */
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { RequestRow } from '@model-gateway/contracts';
import { mintAccessKey } from '@model-gateway/secrets';
import { WebSocket } from 'ws';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { arrangements, startGateway, type TestGateway } from '../support/gateway.ts';
import { until } from '../support/in-process.ts';

describe.each(arrangements('responses-socket-arrangements'))('a %s gateway', (arrangement) => {
  let fake: FakeUpstream;
  let gateway: TestGateway;
  let stopped = false;
  beforeAll(async () => {
    fake = await startFakeUpstream();
    gateway = await startGateway({ arrangement });
    await gateway.configure({
      upstreams: [{ name: 'up', protocol: 'beta', base_url: fake.url, api_keys: [{ key: 'sk-fake-upstream' }] }],
      models: [
        { name: 'smart', upstream: 'up', upstream_model_id: 'ok' },
        { name: 'endless', upstream: 'up', upstream_model_id: 'pump+slow:50' },
      ],
    });
  });
  afterAll(async () => {
    if (!stopped) await gateway?.stop();
    await fake?.close();
  });

  test('a connection whose key is disabled or expires is closed within five seconds, also in the middle of a turn', async () => {
    const keys = { idle: mintAccessKey(), busy: mintAccessKey(), expiring: mintAccessKey() };
    const create = (name: keyof typeof keys, more = {}) => gateway.console('POST', '/access-keys', { name, group: 'everyone', key: keys[name], ...more });
    for (const answer of [await create('idle'), await create('busy'), await create('expiring', { expires_at: new Date(Date.now() + 8000).toISOString() })])
      expect(answer.status).toBe(201);
    const open = async (key: string) => {
      let socket: WebSocket | undefined;
      // The edge may not have heard of the key yet.
      await until(async () => {
        socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/v1/responses`, { headers: { authorization: `Bearer ${key}` } });
        return once(socket, 'open').then(
          () => true,
          () => false,
        );
      }, 'the connection to open');
      return socket!;
    };
    const [idle, busy, expiring, other] = [await open(keys.idle), await open(keys.busy), await open(keys.expiring), await open(gateway.key)];
    const codes = [idle, busy, expiring].map(async (socket) => {
      const [code] = await once(socket, 'close');
      return { code, at: Date.now() };
    });
    const begun = once(busy, 'message');
    busy.send(JSON.stringify({ type: 'response.create', model: 'endless', input: 'go on' }));
    await begun;
    const revoked = Date.now();
    for (const name of ['idle', 'busy']) expect((await gateway.console('PATCH', `/access-keys/${name}`, { enabled: false })).status).toBe(200);
    const [first, second] = await Promise.all([codes[0]!, codes[1]!]);
    expect([first.code, second.code]).toEqual([1008, 1008]);
    // Five seconds, and what a busy machine adds.
    expect(Math.max(first.at, second.at) - revoked).toBeLessThan(10_000);
    expect((await codes[2]!).code).toBe(1008);
    await until(() => fake.requests.every(({ closed }) => closed !== null), 'the cut turn to leave its upstream');
    expect(other.readyState).toBe(WebSocket.OPEN);
    other.close();
  });

  test('two turns on one connection, each with its row; then 1001', async () => {
    const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/v1/responses`, { headers: { authorization: `Bearer ${gateway.key}` } });
    // biome-ignore lint/suspicious/noExplicitAny: assertions look into it freely.
    const ends: any[] = [];
    socket.on('message', (data) => {
      const frame = JSON.parse(data.toString());
      if (frame.type === 'response.completed' || frame.type === 'error') ends.push(frame);
    });
    await once(socket, 'open');
    socket.send(JSON.stringify({ type: 'response.create', model: 'smart', input: 'first words' }));
    await until(() => ends.length === 1, 'the first turn');
    expect(ends[0]).toMatchObject({ type: 'response.completed', response: { model: 'smart' } });
    socket.send(JSON.stringify({ type: 'response.create', input: 'second words', previous_response_id: ends[0].response.id }));
    await until(() => ends.length === 2, 'the second turn');
    expect(ends[1].type).toBe('response.completed');
    expect(fake.requests.at(-1)?.body.toString('utf8')).toMatch(/first words.*second words/s);
    // Rows are written in small batches, soon after the turns.
    let rows: RequestRow[] = [];
    for (const deadline = Date.now() + 30_000; rows.length < 2 && Date.now() < deadline; await new Promise((resolve) => setTimeout(resolve, 100)))
      rows = (await gateway.rows()).filter(({ model }) => model === 'smart');
    expect(rows.map(({ status, stream, client_protocol }) => [status, stream, client_protocol])).toEqual([
      [200, true, 'alpha_response'],
      [200, true, 'alpha_response'],
    ]);
    const closing = once(socket, 'close');
    stopped = true;
    await gateway.stop();
    expect((await closing)[0]).toBe(1001);
  });
});
