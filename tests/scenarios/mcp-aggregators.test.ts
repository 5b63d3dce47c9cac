/** Two MCP aggregators with one Redis: limits are exact over both, and one that is frozen or killed costs its callers the calls under way, which no other repeats. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { RequestRow } from '@model-gateway/contracts';
import { ToolServer } from '../fake-mcp/tool-server.ts';
import { splitAvailable, startGateway, type TestGateway, until } from '../support/gateway.ts';
import type { ManagedProcess } from '../support/managed-process.ts';
import { openSessionOfEach, postMcp, toolNames } from '../support/mcp-posts.ts';
import { type RedisServer, redisAvailable, startRedisServer } from '../support/redis-server.ts';

const possible = splitAvailable('two MCP aggregators') && redisAvailable('two MCP aggregators');

(possible ? describe : describe.skip)('two MCP aggregators, one Redis', () => {
  const server = new ToolServer('modern');
  let redis: RedisServer;
  let gateway: TestGateway;
  /** A session of each aggregator. */
  let sessions: string[] = [];

  const call = (session: string, name: string, args: object = {}, { signal, id }: { signal?: AbortSignal; id?: string } = {}) =>
    postMcp(
      gateway,
      { method: 'tools/call', params: { name, arguments: args } },
      { session, ...(signal && { signal }), ...(id !== undefined && { headers: { 'z-request-id': id } }) },
    );
  const rowsOf = async (id: string): Promise<RequestRow[]> => (await gateway.rows()).filter(({ client_request_id }) => client_request_id === id);
  const namesOf = (session: string): Promise<string[]> => toolNames(gateway, { session });

  async function openSessions(): Promise<void> {
    sessions = await openSessionOfEach(gateway, 2);
    for (const session of sessions) await until(async () => (await namesOf(session)).includes('narrow.wait'), 'each aggregator to know the tools');
  }

  const activeOf = async (one: ManagedProcess): Promise<number> => Number(/^gateway_mcp_exchanges_active(?:\{[^}]*\})? (\d+)/m.exec(await one.metrics())?.[1]);

  /** The process that has the only exchange under way. */
  async function busyOne(): Promise<ManagedProcess> {
    const both = ['mcp-aggregator', 'mcp-aggregator-2'].map((name) => gateway.processes[name]!);
    let busy: ManagedProcess | undefined;
    await until(async () => {
      const counts = await Promise.all(both.map(activeOf));
      busy = both.filter((_one, at) => counts[at] === 1).length === 1 ? both[counts.indexOf(1)] : undefined;
      return busy !== undefined;
    }, 'one aggregator to be busy');
    return busy!;
  }

  /** Twenty calls of one key at once, half of them through each. */
  async function mostAtOnce(): Promise<number> {
    server.most = 0;
    const answers = await Promise.all(Array.from({ length: 20 }, (_, at) => call(sessions[at % 2]!, 'narrow.slow', { steps: 1 })));
    expect(answers.map(({ body }) => body?.result?.content?.[0]?.text ?? body)).toEqual(Array.from({ length: 20 }, () => 'done'));
    return server.most;
  }

  beforeAll(async () => {
    await server.start();
    redis = await startRedisServer({ own: true });
    gateway = await startGateway({
      arrangement: 'split',
      mcp: true,
      twice: ['mcp-aggregator'],
      env: { REDIS_URL: redis.url },
      // A busy machine makes Redis slow, which is not what is tested.
      toml: { server: { redis_timeout_ms: 20_000 } },
    });
    const health_check = { interval_secs: 600, timeout_secs: 20 };
    await gateway.configure({
      mcp_servers: [
        { name: 'narrow', endpoint: server.url, max_concurrency: 2, health_check },
        { name: 'rated', endpoint: server.url, rate_limit: { requests_per_second: 0.001 }, health_check },
      ],
      key_groups: [{ name: 'everyone', models: ['*'], mcp_tool_acl: { allowed_tools: ['*'] } }],
    });
    await openSessions();
  });
  afterAll(async () => {
    await gateway?.stop();
    server.stop();
    await redis?.dispose();
  });

  test('no more calls of a key run at a time than the server allows, through whichever they come', async () => {
    expect(await mostAtOnce()).toBe(2);
  });

  test('a place that is taken through one is waited for at the other', async () => {
    const leave = sessions.map(() => new AbortController());
    const waiting = sessions.map((session, at) => call(session, 'narrow.wait', {}, leave[at]!).catch(() => undefined));
    await until(async () => server.waiting === 2, 'both places to be taken');
    let done = 0;
    const others = sessions.map((session) => call(session, 'narrow.get_weather', { city: 'Oslo' }).finally(() => done++));
    for (const session of sessions) await call(session, 'search_tools', { query: 'weather' });
    expect([done, server.calls('get_weather')]).toEqual([0, 0]);
    leave[0]!.abort();
    for (const other of others) expect((await other).body).toMatchObject({ result: { structuredContent: { celsius: 21 } } });
    leave[1]!.abort();
    await Promise.all(waiting);
    await until(async () => server.waiting === 0, 'the calls to be cancelled');
  });

  test('calls in a while are counted together', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, (_, at) => call(sessions[at % 2]!, 'rated.get_weather', { city: 'Oslo' })));
    expect(answers.filter(({ body }) => body.result).length).toBe(1);
    for (const { body } of answers.filter(({ body: { error } }) => error))
      expect(body.error).toMatchObject({ code: -32000, data: { code: 'rate_limited', retry_after_ms: expect.any(Number) } });
  });

  test('one that is frozen: its calls end in time and are not made twice, its sessions go on, and limits are exact once it wakes', async () => {
    const before = server.calls('wait');
    const held = call(sessions[0]!, 'narrow.wait', {}, { id: 'frozen' });
    await until(async () => server.waiting === 1, 'the call to be under way');
    const frozen = await busyOne();
    await frozen.kill('SIGSTOP');
    try {
      expect(await held).toMatchObject({ status: 503, body: { error: { code: -32000, data: { code: 'service_lost' } } } });
      // Lists, and calls that come now, are the other's.
      expect(await namesOf(sessions[0]!)).toContain('narrow.wait');
      expect((await call(sessions[0]!, 'narrow.get_weather', { city: 'Rome' })).body).toMatchObject({ result: { structuredContent: { celsius: 21 } } });
      expect(server.calls('wait') - before).toBe(1);
    } finally {
      await frozen.kill('SIGCONT');
    }
    await until(async () => server.waiting === 0, 'what it had begun to be cancelled');
    expect(server.calls('wait') - before).toBe(1);
    expect(await mostAtOnce()).toBe(2);
    // The row of the one that woke, which alone knows the server, takes the place of the edge's.
    await until(async () => (await rowsOf('frozen')).some(({ upstream }) => upstream === 'narrow'), 'the row of the one that woke');
    expect(await rowsOf('frozen')).toMatchObject([{ kind: 'mcp_call', requested_model: 'narrow.wait', access_key: 'caller' }]);
  });

  test('one that is killed: its calls end and are not made twice, its places are given back, its sessions go on', async () => {
    const before = server.calls('wait');
    const held = [1, 2].map(() => call(sessions[1]!, 'narrow.wait', { city: 'Oslo' }, { id: 'killed' }));
    await until(async () => server.waiting === 2, 'both calls to be under way');
    const both = [gateway.processes['mcp-aggregator']!, gateway.processes['mcp-aggregator-2']!];
    const counts = await Promise.all(both.map(activeOf));
    await both[counts.indexOf(2)]!.kill('SIGKILL');
    for (const one of held) expect(await one).toMatchObject({ status: 503, body: { id: 1, error: { code: -32000, data: { code: 'service_lost' } } } });
    // Nobody but the edge can tell of them.
    await until(async () => (await rowsOf('killed')).length === 2, 'the rows of the calls');
    const row = { kind: 'mcp_call', requested_model: 'narrow.wait', status: 503, error_code: 'service_lost', input_tokens: 4, session_id: expect.any(String) };
    expect(await rowsOf('killed')).toMatchObject([row, row]);
    await until(
      async () => (await call(sessions[1]!, 'narrow.get_weather', { city: 'Rome' })).body.result?.structuredContent?.celsius === 21,
      'its places to be given back',
    );
    expect(server.calls('wait') - before).toBe(2);
    expect(await mostAtOnce()).toBe(2);
    await both[counts.indexOf(2)]!.restart();
    await openSessions();
    expect(await mostAtOnce()).toBe(2);
  });

  test('an edge that leaves answers the calls under way, and their rows say that it left', async () => {
    const held = call(sessions[0]!, 'narrow.wait');
    await until(async () => server.waiting === 1, 'the call to be under way');
    const since = Date.now();
    await gateway.processes['edge']!.kill('SIGTERM');
    expect(await held).toMatchObject({ status: 503, body: { id: 1, error: { code: -32000, data: { code: 'draining' } } } });
    await until(async () => server.waiting === 0, 'the server to learn of it');
    await gateway.processes['edge']!.restart();
    let row: RequestRow | undefined;
    await until(async () => {
      row = (await gateway.rows()).find(({ kind, started_at, duration_ms }) => kind === 'mcp_call' && started_at + (duration_ms ?? 0) >= since);
      return row !== undefined;
    }, 'the row of the call');
    expect(row).toMatchObject({ status: 503, error_code: 'draining' });
  });
});
