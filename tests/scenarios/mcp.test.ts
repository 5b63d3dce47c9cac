/** Tools of MCP servers through the gateway: every revision of callers with every kind of server, in either arrangement. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mintAccessKey } from '@model-gateway/secrets';
import { type ServerEra, serverEras, ToolServer } from '../fake-mcp/tool-server.ts';
import { arrangements, startGateway, type TestGateway, until } from '../support/gateway.ts';
import { clientEras, openToolCaller, type ToolCaller } from '../support/mcp-clients.ts';

/** What a busy machine adds to the promised second. */
const busyMs = 2000;

describe.each(arrangements('MCP'))('MCP, %s', (arrangement) => {
  const servers = Object.fromEntries(serverEras.map((era) => [era, new ToolServer(era)])) as Record<ServerEra, ToolServer>;
  let gateway: TestGateway;
  const narrowKey = mintAccessKey();
  const emptyKey = mintAccessKey();
  const serverEntry = (era: ServerEra) => ({
    name: era,
    endpoint: servers[era].url,
    auth_header: `Bearer secret-of-${era}`,
    extra_headers: { 'X-Team': 'blue' },
    ...(era === 'events' && { transport: 'sse' as const }),
    ...(era === 'stateful' && { connection_type: 'stateful' as const }),
    tags: era === 'modern' ? ['new'] : ['old'],
  });

  beforeAll(async () => {
    for (const server of Object.values(servers)) await server.start();
    gateway = await startGateway({ arrangement, mcp: true, ...(arrangement === 'split' && { twice: ['mcp-aggregator' as const] }) });
    await gateway.configure({
      mcp_servers: serverEras.map(serverEntry),
      key_groups: [
        { name: 'everyone', models: ['*'], mcp_tool_acl: { allowed_tools: ['*'] } },
        { name: 'narrow', mcp_tool_acl: { allowed_tools: ['modern.*', '*.increment'], denied_tools: ['modern.fail'] } },
        { name: 'empty' },
      ],
      access_keys: [
        { name: 'narrow', group: 'narrow', key: narrowKey },
        { name: 'empty', group: 'empty', key: emptyKey },
      ],
    });
  });
  afterAll(async () => {
    await gateway?.stop();
    for (const server of Object.values(servers)) server.stop();
  });

  const rpc = async (
    method: string,
    params: unknown,
    { key = gateway.key, path = '/mcp', headers = {} }: { key?: string; path?: string; headers?: Record<string, string> } = {},
  ) => {
    const answer = await fetch(`${gateway.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    const text = await answer.text();
    // biome-ignore lint/suspicious/noExplicitAny: tests look into replies freely.
    return { status: answer.status, headers: answer.headers, body: (text === '' ? null : JSON.parse(text)) as any };
  };

  describe.each(clientEras)('a caller of %s', (clientEra) => {
    let caller: ToolCaller;
    beforeAll(async () => {
      caller = await openToolCaller(clientEra, `${gateway.url}/mcp`, gateway.key);
    });
    afterAll(async () => {
      await caller?.close();
    });

    test('lists the tools of all servers, in one order', async () => {
      const names = (await caller.list()).map(({ name }) => name);
      expect(names[0]).toBe('search_tools');
      for (const era of serverEras) expect(names).toEqual(expect.arrayContaining([`${era}.get_weather`, `${era}.slow`]));
    });

    test.each(serverEras)('calls a tool of a %s server', async (era) => {
      const result = await caller.call(`${era}.get_weather`, { city: 'Oslo' });
      expect(result).toMatchObject({ content: [{ type: 'text', text: 'It is mild in Oslo.' }], structuredContent: { celsius: 21 } });
    });

    test.each(serverEras)('hears of the progress of a %s server', async (era) => {
      const heard: unknown[] = [];
      const result = await caller.call(`${era}.slow`, { steps: 2 }, { onProgress: ({ progress, total }) => heard.push([progress, total]) });
      expect(result).toMatchObject({ content: [{ text: 'done' }] });
      expect(heard).toEqual([
        [1, 2],
        [2, 2],
      ]);
    });

    test.each(serverEras)('is told the error of a tool of a %s server', async (era) => {
      expect(await caller.call(`${era}.fail`, {})).toMatchObject({ isError: true, content: [{ text: 'no luck' }] });
    });

    test.each(serverEras)('cancels a call of a %s server', async (era) => {
      const server = servers[era];
      const before = server.cancelled;
      const waiting = server.waiting;
      const leave = new AbortController();
      const call = caller.call(`${era}.wait`, {}, { signal: leave.signal }).catch(() => undefined);
      await until(async () => server.waiting > waiting, 'the call to be under way');
      const leftAt = performance.now();
      leave.abort();
      await call;
      await until(async () => server.cancelled > before, 'the server to be told');
      expect(server.cancelledAt - leftAt).toBeLessThan(1000 + busyMs);
    });
  });

  test('servers get their own credentials, and never a caller’s', () => {
    for (const era of serverEras) {
      for (const { headers, body } of servers[era].received) {
        expect(headers).toMatchObject({ authorization: `Bearer secret-of-${era}`, 'x-team': 'blue' });
        expect(JSON.stringify(headers) + body).not.toContain(gateway.key);
      }
    }
  });

  test('a tool that is not granted is as unknown as one that never was, listed neither and audited', async () => {
    const names = (await rpc('tools/list', {}, { key: narrowKey })).body.result.tools.map(({ name }: { name: string }) => name);
    expect(names).toEqual(expect.arrayContaining(['modern.get_weather', 'stateful.increment']));
    expect(names).not.toContain('modern.fail');
    expect(names).not.toContain('stateful.slow');
    const denied = await rpc('tools/call', { name: 'modern.fail', arguments: {} }, { key: narrowKey });
    expect(denied).toMatchObject({ status: 200, body: { error: { code: -32602, message: 'Unknown tool: modern.fail' } } });
    expect(await rpc('tools/call', { name: 'modern.nothing', arguments: {} }, { key: narrowKey })).toMatchObject({
      body: { error: { code: -32602, message: 'Unknown tool: modern.nothing' } },
    });
    const empty = await rpc('tools/list', {}, { key: emptyKey });
    expect(empty.body.result.tools.map(({ name }: { name: string }) => name)).toEqual(['search_tools']);
    expect((await rpc('tools/search', { query: 'weather' }, { key: emptyKey })).body.result).toEqual({ tools: [] });
    await until(async () => {
      const { body } = await gateway.console('GET', '/audit-logs?action=acl.violation');
      return body.items.some((item: { entity_id: string; entity_type: string }) => item.entity_id === 'modern.fail' && item.entity_type === 'mcp');
    }, 'the violation to be recorded');
  });

  test('tools are found by words of their descriptions', async () => {
    const found = await rpc('tools/search', { query: 'weathers city', limit: 4 });
    expect(found.body.result.tools.map(({ name }: { name: string }) => name)).toEqual(
      serverEras.map((era) => `${era}.get_weather`).sort((a, b) => (a < b ? -1 : 1)),
    );
    expect((await rpc('tools/call', { name: 'search_tools', arguments: { query: 'progress', limit: 1 } })).body.result.structuredContent.tools).toHaveLength(1);
  });

  test('sessions of one server are never shared between access keys', async () => {
    const [one, other] = await Promise.all([gateway.key, narrowKey].map((key) => openToolCaller('2025-11-25', `${gateway.url}/mcp`, key)));
    expect(await one!.call('stateful.increment', {})).toMatchObject({ content: [{ text: '1' }] });
    expect(await one!.call('stateful.increment', {})).toMatchObject({ content: [{ text: '2' }] });
    expect(await other!.call('stateful.increment', {})).toMatchObject({ content: [{ text: '1' }] });
    servers.stateful.forget();
    // One silent handshake: the server begins to count anew.
    expect(await one!.call('stateful.increment', {})).toMatchObject({ content: [{ text: '1' }] });
    await one!.close();
    await other!.close();
  });

  test('each call leaves a row', async () => {
    const id = `row-${Math.random()}`;
    const { headers } = await rpc('tools/call', { name: 'modern.get_weather', arguments: { city: 'Rome' } }, { headers: { 'z-request-id': id } });
    expect(headers.get('z-request-id')).toBe(id);
    expect(await gateway.row(id)).toMatchObject({
      kind: 'mcp_call',
      access_key: 'caller',
      upstream: 'modern',
      upstream_model_id: 'get_weather',
      requested_model: 'modern.get_weather',
      status: 200,
      usage_source: 'estimated',
    });
  });

  test('what is wrong with a request is said in the protocol’s terms', async () => {
    const post = (headers: Record<string, string>, body: string, method = 'POST') =>
      fetch(`${gateway.url}/mcp`, {
        method,
        headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
        ...(method === 'POST' && { body }),
      });
    expect((await post({}, '{')).status).toBe(400);
    expect((await post({}, '[]')).status).toBe(400);
    expect((await post({ accept: 'application/json' }, '{"jsonrpc":"2.0","id":1,"method":"ping"}')).status).toBe(406);
    expect((await post({ 'mcp-session-id': 'none' }, '{"jsonrpc":"2.0","id":1,"method":"ping"}')).status).toBe(404);
    expect((await post({ origin: 'https://evil.test' }, '{"jsonrpc":"2.0","id":1,"method":"ping"}')).status).toBe(403);
    expect((await post({ authorization: 'Bearer gk-none' }, '{}')).status).toBe(401);
    expect((await post({ 'mcp-protocol-version': '2026-07-28' }, '{"jsonrpc":"2.0","id":1,"method":"tools/list"}')).status).toBe(400);
    // What is allowed depends on whether there is a session.
    for (const method of ['PUT', 'HEAD', 'GET', 'DELETE']) {
      const answer = await post({}, '', method);
      expect([method, answer.status, answer.headers.get('allow')]).toEqual([method, 405, 'POST']);
    }
    const ofSession = await post({ 'mcp-session-id': 'any' }, '', 'PUT');
    expect([ofSession.status, ofSession.headers.get('allow')]).toEqual([405, 'GET, POST, DELETE']);
    const packed = await post({ 'content-encoding': 'gzip', 'z-request-id': 'packed' }, '{"jsonrpc":"2.0","id":1,"method":"ping"}');
    expect([packed.status, packed.headers.get('z-request-id'), await packed.json()]).toEqual([
      ...[415, 'packed'],
      { jsonrpc: '2.0', id: null, error: { code: -32000, message: expect.stringContaining('Content-Encoding'), data: { code: 'unsupported_media_type' } } },
    ]);
    expect((await fetch(`${gateway.url}/mcp/nowhere`, { method: 'POST', headers: { authorization: `Bearer ${gateway.key}` }, body: '{}' })).status).toBe(404);
  });

  if (arrangement === 'split') {
    test('a session goes on with another process when the one that had it is killed', async () => {
      const callers = await Promise.all(Array.from({ length: 4 }, () => openToolCaller('2025-11-25', `${gateway.url}/mcp`, gateway.key)));
      for (const caller of callers) expect(await caller.call('stateful.increment', {})).toMatchObject({ content: [{ text: '1' }] });
      for (const caller of callers) expect(await caller.call('stateful.increment', {})).toMatchObject({ content: [{ text: '2' }] });
      await gateway.processes['mcp-aggregator-2']!.kill('SIGKILL');
      // Those whose process is gone begin to count anew; the others go on.
      const counts = await Promise.all(callers.map(async (caller) => (await caller.call('stateful.increment', {})).content[0].text));
      for (const count of counts) expect(['1', '3']).toContain(count);
      for (const caller of callers) await caller.close();
    });
  }

  test('what an admin sees of a server holds no credential', async () => {
    const { body } = await gateway.console('GET', '/mcp-servers/modern');
    expect(body).toMatchObject({ auth_header: '********', extra_headers: { 'X-Team': '********' }, health_check: { interval_secs: 60, timeout_secs: 5 } });
    expect(await gateway.console('POST', '/mcp-servers', { name: 'x', endpoint: 'https://x.test/mcp', command: 'rm' })).toMatchObject({
      status: 422,
      body: { error: { details: [{ field: 'command' }] } },
    });
  });
});
