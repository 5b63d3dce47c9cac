/** Processes that leave, or die, while callers of tools read streams of events: who only listens holds nobody up, and a call that has begun to stream is answered. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mintAccessKey } from '@model-gateway/secrets';
import { AnsweringServer } from '../support/answering-server.ts';
import { arrangements, startGateway, type TestGateway, until } from '../support/gateway.ts';
import { openSession, toolNames } from '../support/mcp-posts.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests look into replies freely.
type Json = any;

const handshake = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'endless', version: '1' } };

describe.each(arrangements('leaving callers of tools'))('callers of tools, %s', (arrangement) => {
  const server = new AnsweringServer();
  let gateway: TestGateway;
  let report = (_progress: number): void => undefined;

  beforeAll(async () => {
    await server.start();
    server.answer = (response, { method, body }) => {
      const asked: Json = method === 'POST' ? JSON.parse(body.toString()) : {};
      const answer = (result: object): void =>
        void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id: asked.id, result }));
      if (asked.method === 'initialize') return answer(handshake);
      if (asked.method === 'tools/list') return answer({ tools: [{ name: 'begin', inputSchema: { type: 'object' } }] });
      if (asked.method === 'ping') return answer({});
      if (asked.method !== 'tools/call') return void response.writeHead(asked.id === undefined && method === 'POST' ? 202 : 404).end();
      // Says how far it is, and nothing more.
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      report = (progress) => {
        const params = { progressToken: asked.params._meta.progressToken, progress };
        response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params })}\n\n`);
      };
      report(1);
    };
    // Long enough for who listens to be gone before who calls is given up.
    gateway = await startGateway({ arrangement, mcp: true, toml: { server: { drain_seconds: 10 } } });
    await gateway.configure({
      key_groups: [{ name: 'everyone', models: ['*'], mcp_tool_acl: { allowed_tools: ['*'] } }],
      mcp_servers: [{ name: 'endless', endpoint: server.address, health_check: { interval_secs: 600 } }],
    });
    await until(async () => (await toolNames(gateway)).includes('endless.begin'), 'the tool');
  });
  afterAll(async () => {
    await gateway?.stop();
    server.stop();
  });

  const headers = (more: object = {}): Record<string, string> => ({
    authorization: `Bearer ${gateway.key}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...more,
  });
  /** The text of a stream, which has begun when this resolves. */
  const read = async (answer: Promise<Response>): Promise<{ text: string; over: Promise<void> }> => {
    const { status, body } = await answer;
    expect(status).toBe(200);
    const stream: { text: string; over: Promise<void> } = { text: '', over: Promise.resolve() };
    stream.over = (async () => {
      for await (const chunk of body!) stream.text += Buffer.from(chunk).toString();
    })();
    return stream;
  };
  const begin = (key = gateway.key) => {
    const message = { jsonrpc: '2.0', id: 'call-7', method: 'tools/call', params: { name: 'endless.begin', arguments: {}, _meta: { progressToken: 1 } } };
    return read(fetch(`${gateway.url}/mcp`, { method: 'POST', headers: headers({ authorization: `Bearer ${key}` }), body: JSON.stringify(message) }));
  };
  const lastMessage = (text: string): Json => JSON.parse(text.slice(text.lastIndexOf('data: ') + 6));

  test('an edge that leaves ends the streams of listeners at once, and those of calls with an error when their time is over', async () => {
    const session = await openSession(gateway);
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'suite', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const listen = { jsonrpc: '2.0', id: 2, method: 'subscriptions/listen', params: { notifications: { toolsListChanged: true }, _meta } };
    const modern = headers({ 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' });
    const listeners = [
      await read(fetch(`${gateway.url}/mcp`, { headers: headers({ 'mcp-session-id': session }) })),
      await read(fetch(`${gateway.url}/mcp`, { method: 'POST', headers: modern, body: JSON.stringify(listen) })),
    ];
    const call = await begin();
    await until(async () => call.text.includes('notifications/progress'), 'the call to have begun');
    const one = gateway.processes[arrangement === 'split' ? 'edge' : 'gateway']!;
    const left = one.kill('SIGTERM');
    await Promise.all(listeners.map(({ over }) => over));
    expect(lastMessage(listeners[1]!.text)).toMatchObject({
      id: 2,
      result: { resultType: 'complete', _meta: { 'io.modelcontextprotocol/subscriptionId': 2 } },
    });
    // The call goes on meanwhile.
    report(2);
    await until(async () => call.text.includes('"progress":2'), 'the call to have gone on');
    await Promise.all([call.over, left]);
    expect(lastMessage(call.text)).toMatchObject({ id: 'call-7', error: { code: -32000, data: { code: 'draining' } } });
    await one.restart();
  });

  test('a key that expires: the call that is under way is answered with an error, and its stream ends', async () => {
    const key = mintAccessKey();
    await gateway.configure({ access_keys: [{ name: 'expiring', group: 'everyone', key }] });
    await until(async () => (await toolNames(gateway)).includes('endless.begin'), 'the tool');
    const call = await begin(key);
    await until(async () => call.text.includes('notifications/progress'), 'the call to have begun');
    const expires_at = new Date(Date.now() + 1000).toISOString();
    expect((await gateway.console('PATCH', '/access-keys/expiring', { expires_at })).status).toBe(200);
    await call.over;
    expect(lastMessage(call.text)).toMatchObject({ id: 'call-7', error: { code: -32000, data: { code: 'unauthorized' } } });
  });

  if (arrangement === 'split')
    test('an aggregator that dies: the call is answered with an error, where its stream has begun', async () => {
      await until(async () => (await toolNames(gateway)).includes('endless.begin'), 'the tool');
      const call = await begin();
      await until(async () => call.text.includes('notifications/progress'), 'the call to have begun');
      await gateway.processes['mcp-aggregator']!.kill('SIGKILL');
      await call.over;
      expect(lastMessage(call.text)).toMatchObject({ id: 'call-7', error: { code: -32000, data: { code: 'service_lost' } } });
      await gateway.processes['mcp-aggregator']!.restart();
    });
});
