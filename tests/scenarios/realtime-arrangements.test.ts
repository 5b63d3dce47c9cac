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
  const names = ['idle', 'busy', 'moved', 'poor', 'spent', 'banished', 'resettled', 'capped', 'in-capped', 'raised'] as const;
  const keys = Object.fromEntries(names.map((name) => [name, mintAccessKey()])) as Record<(typeof names)[number], string>;
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
        { name: 'leased', protocol: 'alpha_realtime', base_url: fake.url, api_keys: [{ key: 'sk-fake-upstream' }] },
        { name: 'calls', protocol: 'alpha_response', base_url: calls.url, api_keys: [{ key: 'sk-fake-upstream' }] },
      ],
      models: [
        { name: 'voice', upstream: 'up', upstream_model_id: 'talk' },
        { name: 'voice-behind', upstream: 'up', upstream_model_id: 'talk' },
        { name: 'voice-leased', upstream: 'leased', upstream_model_id: 'talk' },
        { name: 'text', upstream: 'calls', upstream_model_id: 'ok' },
      ],
      load_balancers: [{ name: 'voices', strategy: 'priority', entries: [{ model: 'voice-behind' }] }],
    });
    const price = { name: 'sound', model: 'voice', input: '1000', output: '1000', audio_input: '100000', audio_output: '100000' };
    expect((await gateway.console('POST', '/pricing', price)).status).toBe(201);
    expect((await gateway.console('POST', '/pricing', { name: 'text', model: 'text', input: '1000000', output: '1000000' })).status).toBe(201);
    const create = (name: keyof typeof keys, more = {}) => gateway.console('POST', '/access-keys', { name, group: 'everyone', key: keys[name], ...more });
    const groups = [
      { name: 'some', models: ['voice'] },
      { name: 'without', models: ['text'] },
      { name: 'with', models: ['voice'] },
      { name: 'capped', models: ['voice'], ...dollars('1000') },
    ];
    for (const group of groups) expect((await gateway.console('POST', '/key-groups', group)).status).toBe(201);
    const made = [
      await create('idle'),
      await create('busy'),
      await create('moved', { group: 'some' }),
      await create('poor', dollars('0.5')),
      await create('spent', dollars('0.5')),
      await create('banished'),
      await create('resettled'),
      await create('capped'),
      await create('in-capped', { group: 'capped' }),
      await create('raised', dollars('1')),
    ];
    expect(made.map(({ status }) => status)).toEqual(made.map(() => 201));
  });
  afterAll(async () => {
    if (!stopped) await gateway?.stop();
    await fake?.close();
    await calls?.close();
  });

  /** The edge may not have heard of the key yet. */
  const open = (key: string, model = 'voice'): Promise<Talk> =>
    until(async () => {
      const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/v1/realtime?model=${model}`, { headers: { authorization: `Bearer ${key}` } });
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
    const count = () => types.filter((type) => type === end).length;
    const before = count();
    await until(() => count() > before, end);
  };
  const lost = async (closed: Talk['closed'], since: number): Promise<void> => {
    const { code, at } = await closed;
    expect(code).toBe(1008);
    expect(at - since).toBeLessThan(5000 + busyMs);
  };
  const known = (key: string) =>
    until(async () => (await fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })).ok, 'the key to be known');
  const openTurns = async (key: string): Promise<WebSocket> => {
    await known(key);
    const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/v1/responses`, { headers: { authorization: `Bearer ${key}` } });
    await once(socket, 'open');
    return socket;
  };
  const patch = async (path: string, change: object): Promise<number> => {
    expect((await gateway.console('PATCH', path, change)).status).toBe(200);
    return Date.now();
  };
  const sessionsSay = (names: readonly string[], errorCode: string) =>
    until(async () => {
      const found = (await gateway.rows()).filter(({ access_key, kind }) => names.includes(access_key as string) && kind === 'realtime_session');
      return found.length === names.length && found.every(({ error_code }) => error_code === errorCode);
    }, `${errorCode} in the sessions' rows`);
  const dollars = (limit: string) => ({ budget: { limit, currency: 'USD', period: 'total' } });

  test('a disabled key, a grant that is gone and a spent budget close a session with 1008 within five seconds', async () => {
    const [idle, busy, moved, other] = [await open(keys.idle), await open(keys.busy), await open(keys.moved), await open(gateway.key)];
    await respond(busy, 'wait');
    const revoked = Date.now();
    for (const name of ['idle', 'busy']) expect((await gateway.console('PATCH', `/access-keys/${name}`, { enabled: false })).status).toBe(200);
    expect((await gateway.console('PATCH', '/key-groups/some', { models: ['other'] })).status).toBe(200);
    for (const { closed } of [idle, busy, moved]) await lost(closed, revoked);
    // Its caller stayed: the gateway did not wait for the response any longer.
    const cut = await until(
      async () => (await gateway.rows()).find(({ access_key, kind }) => access_key === 'busy' && kind === 'realtime_turn'),
      'the row of the response',
    );
    expect(cut.error_code).toBe('timeout');
    await sessionsSay(['idle', 'busy', 'moved'], 'model_not_granted');
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
    expect(rows.find(({ kind }) => kind === 'realtime_session')).toMatchObject({
      status: 101,
      error_code: 'budget_exhausted',
      session_id: turn?.session_id,
    });
    other.socket.close();
    await other.closed;
  });

  test('a spent budget closes Responses over a WebSocket with 1008 once the turn has ended', async () => {
    const [poor, other] = [await openTurns(keys.spent), await openTurns(gateway.key)];
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

  test('a key that is moved to a group without the model loses its session; in a group with it, responses are that group’s', async () => {
    const [banished, resettled] = [await open(keys.banished), await open(keys.resettled)];
    await respond(resettled, 'say');
    const moved = await patch('/access-keys/banished', { group: 'without' });
    await patch('/access-keys/resettled', { group: 'with' });
    await lost(banished.closed, moved);
    const groupsOf = async () =>
      (await gateway.rows()).filter(({ access_key, kind }) => access_key === 'resettled' && kind === 'realtime_turn').map(({ key_group }) => key_group);
    await until(async () => {
      await respond(resettled, 'say');
      return (await groupsOf()).includes('with');
    }, 'a response of the new group');
    expect(await groupsOf()).toContain('everyone');
    expect(resettled.socket.readyState).toBe(WebSocket.OPEN);
    resettled.socket.close();
    await resettled.closed;
  });

  test('a model that is disabled closes the sessions that it serves for a load balancer', async () => {
    const [idle, busy, other] = [await open(gateway.key, 'voices'), await open(gateway.key, 'voices'), await open(gateway.key)];
    await respond(busy, 'wait');
    const disabled = await patch('/models/voice-behind', { enabled: false });
    for (const { closed } of [idle, busy]) await lost(closed, disabled);
    await until(
      async () => (await gateway.rows()).filter(({ kind, error_code }) => kind === 'realtime_session' && error_code === 'model_not_found').length === 2,
      'the rows of both sessions',
    );
    expect(other.socket.readyState).toBe(WebSocket.OPEN);
    other.socket.close();
    await other.closed;
  });

  test('an upstream that is disabled closes its sessions, and no others', async () => {
    const [idle, busy, other] = [await open(gateway.key, 'voice-leased'), await open(gateway.key, 'voice-leased'), await open(gateway.key)];
    await respond(busy, 'wait');
    const disabled = await patch('/upstreams/leased', { enabled: false });
    for (const { closed } of [idle, busy]) await lost(closed, disabled);
    await until(
      async () => (await gateway.rows()).filter(({ kind, error_code }) => kind === 'realtime_session' && error_code === 'upstream_disabled').length === 2,
      'the rows of both sessions',
    );
    expect(other.socket.readyState).toBe(WebSocket.OPEN);
    other.socket.close();
    await other.closed;
  });

  test('a budget holds as it was edited since the handshake: one that is set or lowered closes what is open, one that is raised does not', async () => {
    const raised = [await open(keys.raised), await openTurns(keys.raised)] as const;
    const [own, shared] = [await open(keys.capped), await open(keys['in-capped'])];
    await patch('/access-keys/raised', dollars('1000'));
    await known(keys.raised);
    for (const talk of [raised[0], own, shared]) await respond(talk, 'say');
    const spentBy = async (name: string) =>
      (await gateway.console('GET', '/rate-limit-status')).body.budgets.find((one: { name: string }) => one.name === name)?.spent_micros ?? 0;
    await until(async () => (await spentBy('raised')) > 1_000_000 && (await spentBy('capped')) > 1_000_000, 'the responses to be counted');
    const set = await patch('/access-keys/capped', dollars('1'));
    await lost(own.closed, set);
    const lowered = await patch('/key-groups/capped', dollars('1'));
    await lost(shared.closed, lowered);
    // Each has been looked at several times meanwhile.
    expect([raised[0].socket.readyState, raised[1].readyState]).toEqual([WebSocket.OPEN, WebSocket.OPEN]);
    raised[0].socket.close();
    raised[1].close();
    await raised[0].closed;
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
    test('the rows of a session that the gateway lost do not say that its caller left', async () => {
      const lost = await open(gateway.key);
      await respond(lost, 'wait');
      const earlier = new Set((await gateway.rows()).map(({ id }) => id));
      await gateway.processes['translator']!.kill('SIGSTOP');
      expect((await lost.closed).code).toBe(1011);
      await gateway.processes['translator']!.kill('SIGCONT');
      const rows = await until(async () => {
        const found = (await gateway.rows()).filter(({ id, authority }) => !earlier.has(id) && authority === 2);
        return found.length === 2 && found;
      }, 'the rows of the translator that woke');
      expect(rows.map(({ kind, status, error_code }) => ({ kind, status, error_code })).sort((one, other) => one.status - other.status)).toEqual([
        { kind: 'realtime_session', status: 101, error_code: 'service_lost' },
        { kind: 'realtime_turn', status: 200, error_code: 'service_lost' },
      ]);
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
