/** Realtime sessions, and Responses over a WebSocket, through real processes, in both arrangements: what ends them, what they cost, and a gateway that leaves. */
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mintAccessKey } from '@model-gateway/secrets';
import { WebSocket } from 'ws';
import { type FakeRealtime, type FakeUpstream, startFakeRealtime, startFakeUpstream } from '../fake-upstream/index.ts';
import { arrangements, startGateway, type TestGateway } from '../support/gateway.ts';
import { until } from '../support/in-process.ts';

/** What a busy machine adds to the promised five seconds. */
const busyMs = 5000;

interface Talk {
  socket: WebSocket;
  types: string[];
  closed: Promise<{ code: number; at: number }>;
}

describe.each(arrangements('realtime-arrangements'))('a %s gateway', (arrangement) => {
  const keys = { idle: mintAccessKey(), busy: mintAccessKey(), moved: mintAccessKey(), poor: mintAccessKey(), spent: mintAccessKey() };
  let fake: FakeRealtime;
  let calls: FakeUpstream;
  let gateway: TestGateway;
  let stopped = false;
  beforeAll(async () => {
    fake = await startFakeRealtime();
    calls = await startFakeUpstream();
    gateway = await startGateway({ arrangement });
    await gateway.configure({
      upstreams: [
        { name: 'up', protocol: 'alpha_realtime', base_url: fake.url, api_keys: [{ key: 'sk-fake-upstream' }] },
        { name: 'calls', protocol: 'alpha_response', base_url: calls.url, api_keys: [{ key: 'sk-fake-upstream' }] },
      ],
      models: [
        { name: 'voice', upstream: 'up', upstream_model_id: 'talk' },
        { name: 'text', upstream: 'calls', upstream_model_id: 'ok' },
      ],
    });
    const price = { name: 'sound', model: 'voice', input: '1000', output: '1000', audio_input: '100000', audio_output: '100000' };
    expect((await gateway.console('POST', '/pricing', price)).status).toBe(201);
    expect((await gateway.console('POST', '/pricing', { name: 'text', model: 'text', input: '1000000', output: '1000000' })).status).toBe(201);
    const create = (name: keyof typeof keys, more = {}) => gateway.console('POST', '/access-keys', { name, group: 'everyone', key: keys[name], ...more });
    expect((await gateway.console('POST', '/key-groups', { name: 'some', models: ['voice'] })).status).toBe(201);
    const made = [
      await create('idle'),
      await create('busy'),
      await create('moved', { group: 'some' }),
      await create('poor', { budget: { limit: '0.5', currency: 'USD', period: 'total' } }),
      await create('spent', { budget: { limit: '0.5', currency: 'USD', period: 'total' } }),
    ];
    expect(made.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201]);
  });
  afterAll(async () => {
    if (!stopped) await gateway?.stop();
    await fake?.close();
    await calls?.close();
  });

  /** The edge may not have heard of the key yet. */
  const open = (key: string): Promise<Talk> =>
    until(async () => {
      const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/v1/realtime?model=voice`, { headers: { authorization: `Bearer ${key}` } });
      const types: string[] = [];
      socket.on('message', (data) => types.push(JSON.parse(data.toString()).type));
      const closed = new Promise<{ code: number; at: number }>((resolve) => socket.on('close', (code) => resolve({ code, at: Date.now() })));
      const opened = await once(socket, 'open').then(
        () => true,
        () => false,
      );
      return opened && { socket, types, closed };
    }, 'the session');
  const respond = async ({ socket, types }: Talk, instructions: string): Promise<void> => {
    socket.send(JSON.stringify({ type: 'response.create', response: { instructions } }));
    const end = instructions === 'wait' ? 'response.created' : 'response.done';
    await until(() => types.includes(end), end);
  };

  test('a disabled key, a grant that is gone and a spent budget close a session with 1008 within five seconds', async () => {
    const [idle, busy, moved, other] = [await open(keys.idle), await open(keys.busy), await open(keys.moved), await open(gateway.key)];
    await respond(busy, 'wait');
    const revoked = Date.now();
    for (const name of ['idle', 'busy']) expect((await gateway.console('PATCH', `/access-keys/${name}`, { enabled: false })).status).toBe(200);
    expect((await gateway.console('PATCH', '/key-groups/some', { models: ['other'] })).status).toBe(200);
    for (const { closed } of [idle, busy, moved]) {
      const { code, at } = await closed;
      expect(code).toBe(1008);
      expect(at - revoked).toBeLessThan(5000 + busyMs);
    }
    const poor = await open(keys.poor);
    await respond(poor, 'say');
    expect((await poor.closed).code).toBe(1008);
    expect(other.socket.readyState).toBe(WebSocket.OPEN);
    const rows = await until(async () => {
      const found = (await gateway.rows()).filter(({ access_key }) => access_key === 'poor');
      return found.length === 2 && found;
    }, 'the rows');
    const turn = rows.find(({ kind }) => kind === 'realtime_turn');
    expect(turn).toMatchObject({ input_tokens: 8, cache_read_tokens: 4, audio_input_tokens: 8, output_tokens: 3, audio_output_tokens: 7, currency: 'USD' });
    // Sound by its own price: (8 + 7) × 0.1, and text, cached or not, by 0.001 at most.
    expect(turn?.cost_micros).toBeGreaterThanOrEqual(1_500_000);
    expect(turn?.cost_micros).toBeLessThanOrEqual(1_515_000);
    expect(rows.find(({ kind }) => kind === 'realtime_session')).toMatchObject({ status: 101, session_id: turn?.session_id });
    other.socket.close();
    await other.closed;
  });

  test('a spent budget closes Responses over a WebSocket with 1008 once the turn has ended', async () => {
    await until(async () => {
      const headers = { authorization: `Bearer ${keys.spent}` };
      return (await fetch(`${gateway.url}/v1/models`, { headers })).ok;
    }, 'the key to be known');
    const connect = (key: string) => new WebSocket(`${gateway.url.replace('http', 'ws')}/v1/responses`, { headers: { authorization: `Bearer ${key}` } });
    const [poor, other] = [connect(keys.spent), connect(gateway.key)];
    await Promise.all([once(poor, 'open'), once(other, 'open')]);
    const types: string[] = [];
    poor.on('message', (data) => types.push(JSON.parse(data.toString()).type));
    const closed = once(poor, 'close');
    poor.send(JSON.stringify({ type: 'response.create', model: 'text', input: 'hi', max_output_tokens: 1, store: false }));
    const [code, reason] = await closed;
    expect([code, reason.toString(), types.at(-1)]).toEqual([1008, 'The budget of this access key is exhausted.', 'response.completed']);
    expect(other.readyState).toBe(WebSocket.OPEN);
    other.close();
    await once(other, 'close');
  });

  test('each response, and the session at its end, is shown by the live log', async () => {
    const abort = new AbortController();
    const headers = { authorization: `Bearer ${gateway.consoleKey}` };
    const tail = await fetch(`${gateway.consoleUrl}/logs/stream?model=voice`, { headers, signal: abort.signal });
    let text = '';
    const reading = (async () => {
      for await (const part of tail.body!.pipeThrough(new TextDecoderStream())) text += part;
    })().catch(() => undefined);
    // What ends before the tail has begun is not in it: so one session after another, until one is shown.
    await until(async () => {
      const talk = await open(gateway.key);
      await respond(talk, 'say');
      talk.socket.close(1000);
      await talk.closed;
      await new Promise((resolve) => setTimeout(resolve, 300));
      return text.includes('"kind":"realtime_turn"') && text.includes('"kind":"realtime_session"');
    }, 'both in the live log');
    abort.abort();
    await reading;
  });

  if (arrangement === 'split')
    test.each(['translator', 'edge'])('a %s that is told to end closes its sessions with 1001 and ends in time', async (name) => {
      const [idle, busy] = [await open(gateway.key), await open(gateway.key)];
      await respond(busy, 'wait');
      const told = Date.now();
      await gateway.processes[name]!.kill('SIGTERM');
      // The drain of this suite's gateways takes two seconds.
      expect(Date.now() - told).toBeLessThan(2000 + 5000 + busyMs);
      expect([(await idle.closed).code, (await busy.closed).code]).toEqual([1001, 1001]);
      await gateway.processes[name]!.restart();
    });

  if (arrangement === 'split')
    test('sessions outlive a router, and statistics; a translator that dies ends its sessions with 1011', async () => {
      const talk = await open(gateway.key);
      await until(() => talk.types.length > 0, 'the session');
      for (const name of ['router', 'stats', 'console']) await gateway.processes[name]!.kill('SIGKILL');
      await respond(talk, 'say');
      expect(talk.socket.readyState).toBe(WebSocket.OPEN);
      const killed = Date.now();
      await gateway.processes['translator']!.kill('SIGKILL');
      const { code, at } = await talk.closed;
      expect([code, talk.types.at(-1)]).toEqual([1011, 'error']);
      expect(at - killed).toBeLessThan(3000 + busyMs);
    });

  test('a gateway that leaves says 1001', async () => {
    const talk = arrangement === 'split' ? undefined : await open(gateway.key);
    stopped = true;
    await gateway.stop();
    if (talk) expect((await talk.closed).code).toBe(1001);
  });
});
