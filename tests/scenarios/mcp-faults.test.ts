/** MCP servers that forget sessions, hang, or are slow to get ready, among others that do not: how long who waits for what, and what callers see of it. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mintAccessKey } from '@model-gateway/secrets';
import { type ServerEra, serverEras, ToolServer } from '../fake-mcp/tool-server.ts';
import { arrangements, startGateway, type TestGateway, until } from '../support/gateway.ts';
import { callTool, openSession, openSessionOfEach, postMcp, toolNames } from '../support/mcp-posts.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests look into replies freely.
type Json = any;

/** What a busy machine adds to the promised times. */
const busyMs = 3000;
const noProbes = { interval_secs: 600, timeout_secs: 300 };

describe.each(arrangements('faults of MCP servers'))('faults of MCP servers, %s', (arrangement) => {
  const aggregators = arrangement === 'split' ? 2 : 1;
  const servers: ToolServer[] = [];
  let gateway: TestGateway;

  const started = async (era: ServerEra): Promise<ToolServer> => {
    const server = new ToolServer(era);
    await server.start();
    servers.push(server);
    return server;
  };
  const entry = (name: string, { url, era }: ToolServer, more: object = {}) => ({
    ...{ name, endpoint: url, health_check: noProbes, ...(era === 'events' && { transport: 'sse' as const }) },
    ...more,
  });
  /** Waits until every aggregator lists the tool. */
  const listedByAll = async (name: string): Promise<void> => {
    for (const session of await openSessionOfEach(gateway, aggregators))
      await until(async () => (await toolNames(gateway, { session })).includes(name), `every aggregator to list ${name}`);
  };
  const timed = async <T>(work: Promise<T>): Promise<{ ms: number; answer: T }> => {
    const began = performance.now();
    const answer = await work;
    return { ms: performance.now() - began, answer };
  };
  const list = async (session?: string): Promise<Json> => (await postMcp(gateway, { method: 'tools/list' }, { session })).body.result;
  const serversIn = ({ tools }: Json): string[] => [...new Set<string>(tools.map(({ name }: Json) => name.split('.')[0]))];
  const staleIn = ({ _meta }: Json): string[] => _meta?.['model-gateway/stale'] ?? [];

  beforeAll(async () => {
    gateway = await startGateway({ arrangement, mcp: true, ...(arrangement === 'split' && { twice: ['mcp-aggregator' as const] }) });
    await gateway.configure({ key_groups: [{ name: 'everyone', models: ['*'], mcp_tool_acl: { allowed_tools: ['*'] } }] });
  });
  afterAll(async () => {
    await gateway?.stop();
    for (const server of servers) server.stop();
  });

  test('a server that forgot its sessions: one handshake for each caller, whose calls all succeed', async () => {
    const server = await started('stateful');
    const other = mintAccessKey();
    await gateway.configure({
      mcp_servers: [entry('forgetful', server, { connection_type: 'stateful' })],
      access_keys: [{ name: 'other', group: 'everyone', key: other }],
    });
    await listedByAll('forgetful.increment');
    const callers = [{ session: await openSession(gateway) }, { key: other, session: await openSession(gateway, { key: other }) }];
    for (const caller of callers) expect(await callTool(gateway, 'forgetful.increment', {}, caller)).toMatchObject({ result: { content: [{ text: '1' }] } });
    const handshakes = (): number => server.received.filter(({ body }) => body.includes('"method":"initialize"')).length;
    const before = handshakes();
    server.forget();
    const counted = await Promise.all(
      callers.map((caller) => Promise.all(Array.from({ length: 10 }, async () => (await callTool(gateway, 'forgetful.increment', {}, caller)).result))),
    );
    for (const results of counted) expect(results.map((one) => Number(one?.content[0].text)).sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(handshakes() - before).toBe(2);
    await gateway.console('DELETE', '/mcp-servers/forgetful');
  });

  test('who waits for a turn, or for a server to get ready, waits ten seconds and no longer', async () => {
    const [narrow, late] = [await started('modern'), await started('modern')];
    late.hangsAt = 'tools/list';
    await gateway.configure({
      mcp_servers: [entry('narrow', narrow, { max_concurrency: 2 }), entry('late', late, { defer_loading: true }), entry('well', await started('modern'))],
    });
    await listedByAll('narrow.wait');
    await listedByAll('well.get_weather');
    // One session: all calls come to one aggregator, since without Redis each counts by itself.
    const session = await openSession(gateway);
    const leave = new AbortController();
    const holding = [1, 2].map(() => callTool(gateway, 'narrow.wait', {}, { session, signal: leave.signal }).catch(() => undefined));
    await until(async () => narrow.waiting === 2, 'both places to be taken');
    const waits = [timed(callTool(gateway, 'narrow.get_weather', { city: 'Oslo' }, { session }))];
    const calls = Array.from({ length: 5 }, () => timed(callTool(gateway, 'late.get_weather', { city: 'Oslo' }, { session })));
    expect((await callTool(gateway, 'well.get_weather', { city: 'Oslo' }, { session })).result.structuredContent).toEqual({ celsius: 21 });
    const [third] = await Promise.all(waits);
    expect(third!.answer).toMatchObject({ error: { code: -32000, data: { code: 'rate_limited', retry_after_ms: expect.any(Number) } } });
    for (const { answer } of await Promise.all(calls)) {
      expect(answer).toMatchObject({ error: { code: -32000, message: 'The MCP server late is not available.', data: { code: 'server_unavailable' } } });
    }
    expect(third!.ms).toBeGreaterThan(9_900);
    // A list may have asked the late one before these calls.
    for (const { ms } of [third!, ...(await Promise.all(calls))]) expect(ms).toBeLessThan(10_000 + busyMs);
    leave.abort();
    await Promise.all(holding);
    // Five calls have failed: nobody waits any more, until a probe succeeds.
    const next = await timed(callTool(gateway, 'late.get_weather', { city: 'Oslo' }, { session }));
    expect(next.answer).toMatchObject({ error: { code: -32000, data: { code: 'server_unavailable' } } });
    expect(next.ms).toBeLessThan(busyMs);
    for (const name of ['narrow', 'late', 'well']) await gateway.console('DELETE', `/mcp-servers/${name}`);
  });

  test('one of twenty hangs: the tools of the others are listed within five seconds and called at once, and the list says whose are missing', async () => {
    const all = await Promise.all(Array.from({ length: 20 }, (_, at) => started(serverEras[at % serverEras.length]!)));
    const nameOf = (at: number): string => `one-of-${String(at).padStart(2, '0')}`;
    const hung = 4;
    all[hung]!.frozen = true;
    const others = all.flatMap((_server, at) => (at === hung ? [] : [nameOf(at)]));
    await gateway.configure({ mcp_servers: all.map((server, at) => entry(nameOf(at), server)) });
    const sessions = await openSessionOfEach(gateway, aggregators);
    for (const session of sessions)
      await until(async () => {
        const { ms, answer } = await timed(list(session));
        expect(ms).toBeLessThan(5_000 + busyMs);
        const listed = serversIn(answer);
        expect(listed).not.toContain(nameOf(hung));
        return others.every((name) => listed.includes(name)) && staleIn(answer).length > 0;
      }, 'the others to be listed');
    for (const session of sessions) {
      const { answer, ms } = await timed(list(session));
      expect(ms).toBeLessThan(5_000 + busyMs);
      expect(staleIn(answer)).toEqual([nameOf(hung)]);
      expect(JSON.stringify(answer)).not.toContain('127.0.0.1');
      const pending = callTool(gateway, `${nameOf(hung)}.get_weather`, { city: 'Oslo' }, { session });
      const calls = await Promise.all(others.map((name) => timed(callTool(gateway, `${name}.get_weather`, { city: 'Oslo' }, { session }))));
      for (const { ms: callMs, answer: called } of calls) {
        expect(called).toMatchObject({ result: { structuredContent: { celsius: 21 } } });
        expect(callMs).toBeLessThan(busyMs);
      }
      expect(JSON.stringify(await pending)).not.toContain('127.0.0.1');
    }
  });

  test('one of twenty that hangs later: its tools are still listed, at once, and marked until it gives them again', async () => {
    const server = servers.find(({ frozen }) => frozen)!;
    server.frozen = false;
    const name = 'one-of-04';
    await gateway.console('POST', `/mcp-servers/${name}/refresh`);
    await listedByAll(`${name}.get_weather`);
    const sessions = await openSessionOfEach(gateway, aggregators);
    for (const session of sessions) await until(async () => staleIn(await list(session)).length === 0, 'nobody to be marked');
    server.frozen = true;
    await gateway.console('POST', `/mcp-servers/${name}/refresh`);
    for (const session of sessions) {
      await until(async () => {
        const { ms, answer } = await timed(list(session));
        expect(ms).toBeLessThan(busyMs);
        expect(serversIn(answer)).toHaveLength(21);
        return staleIn(answer).length > 0;
      }, 'it to be marked');
      expect(staleIn(await list(session))).toEqual([name]);
    }
    const { body } = await gateway.console('GET', '/mcp-status');
    expect(body.items.filter(({ stale }: Json) => stale).map((one: Json) => one.name)).toEqual([name]);
    server.frozen = false;
    await until(async () => {
      await gateway.console('POST', `/mcp-servers/${name}/refresh`);
      return (await Promise.all(sessions.map((session) => list(session)))).every((one) => staleIn(one).length === 0);
    }, 'the mark to vanish');
  });
});
