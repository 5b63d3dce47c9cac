/** What MCP keeps from whom: tools from pages of other origins, metadata services of clouds from callers, and credentials of servers from everybody. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { connectRaw, type RawConnection } from '../../packages/bus/test/raw-connection.ts';
import { ToolServer } from '../fake-mcp/tool-server.ts';
import { AnsweringServer, answerJson } from '../support/answering-server.ts';
import { keptTexts } from '../support/at-rest.ts';
import { arrangements, startGateway, type TestGateway, until } from '../support/gateway.ts';
import { callTool, openSession, postMcp, toolNames } from '../support/mcp-posts.ts';
import { send } from '../support/send.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests look into replies freely.
type Json = any;

const friend = 'https://friend.test';
const canary = (name: string): string => `CANARY-${name}-7f3a91`;
const canaryForm = /CANARY-[a-z]+-7f3a91/;
const operations = [
  { operation_id: 'ask', method: 'GET', path: '/ask' },
  { operation_id: 'moved', method: 'GET', path: '/moved' },
];
const metadataHosts = [
  ...['169.254.169.254', '169.254.170.2', '2852039166', '0xa9fea9fe', '0251.0376.0251.0376', '[::ffff:169.254.169.254]', '[fd00:ec2::254]', '100.100.100.200'],
  ...['metadata.google.internal', 'METADATA.google.internal.', 'metadata.goog', 'metadata', 'instance-data.ec2.internal', 'metadata.azure.internal'],
];

describe.each(arrangements('guards of MCP'))('guards of MCP, %s', (arrangement) => {
  const servers = { modern: new ToolServer('modern'), stateful: new ToolServer('stateful') };
  const rest = new AnsweringServer();
  /** Refuses everybody, and repeats what it was sent. */
  const repeating = new AnsweringServer();
  let gateway: TestGateway;

  beforeAll(async () => {
    for (const server of [servers.modern, servers.stateful, rest, repeating]) await server.start();
    rest.answer = (response, { path }) => {
      if (path.endsWith('/moved')) response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data/' }).end();
      else answerJson({ asked: path })(response, undefined as never);
    };
    repeating.answer = (response, { headers }) =>
      answerJson({ jsonrpc: '2.0', id: null, error: { code: -32001, message: JSON.stringify(headers) } }, 401)(response, undefined as never);
    gateway = await startGateway({ arrangement, mcp: true, env: { LOG_LEVEL: 'debug' }, toml: { mcp: { allowed_origins: friend } } });
    const entry = (name: string, endpoint: string) => ({
      ...{ name, endpoint, auth_header: `Bearer ${canary(`${name}auth`)}`, extra_headers: { 'X-Team-Key': canary(`${name}header`) } },
      health_check: { interval_secs: 1, timeout_secs: 20 },
    });
    await gateway.configure({
      mcp_servers: [
        entry('modern', servers.modern.url),
        { ...entry('stateful', servers.stateful.url), connection_type: 'stateful' },
        { ...entry('rest', rest.address), connection_type: 'rest_bridge', extra_config: { operations } },
        entry('repeating', repeating.address),
      ],
      key_groups: [{ name: 'everyone', models: ['*'], mcp_tool_acl: { allowed_tools: ['*'] } }],
    });
    await until(async () => {
      const names = await toolNames(gateway);
      return ['modern.get_weather', 'stateful.increment', 'rest.ask'].every((name) => names.includes(name));
    }, 'the tools to be listed');
  });
  afterAll(async () => {
    await gateway?.stop();
    for (const server of [servers.modern, servers.stateful, rest, repeating]) server.stop();
  });

  describe('origins', () => {
    const ways = [
      ...(['/mcp', '/mcp/modern', '/mcp/messages?sessionId=x'] as const).map((path) => ['POST', path] as const),
      ...(['/mcp', '/mcp/modern', '/mcp/sse'] as const).map((path) => ['GET', path] as const),
      ...(['/mcp', '/mcp/modern'] as const).map((path) => ['DELETE', path] as const),
      ['OPTIONS', '/mcp'] as const,
    ];
    const ask = (method: string, path: string, headers: Record<string, string>) =>
      send(gateway.url, path, {
        method,
        headers: {
          host: new URL(gateway.url).host,
          authorization: `Bearer ${gateway.key}`,
          'content-type': 'application/json',
          accept: 'text/html',
          ...headers,
        },
        ...(method === 'POST' && { body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' }),
      });

    test.each(ways)('a foreign page may not %s %s, whatever it knows', async (method, path) => {
      const own = new URL(gateway.url);
      const foreign: Record<string, string>[] = [
        { origin: 'https://evil.test' },
        { origin: 'null' },
        { origin: `https://${own.host}.evil.test` },
        { origin: `http://localhost:${Number(own.port) + 1}` },
        // A name that was made to point at this machine.
        { origin: `http://evil.test:${own.port}`, host: `evil.test:${own.port}` },
      ];
      for (const headers of foreign) {
        const answer = await ask(method, path, headers);
        expect([headers, answer.status, answer.headers['access-control-allow-origin']]).toEqual([headers, 403, undefined]);
        expect(answer.json).toMatchObject({ jsonrpc: '2.0', id: null, error: { message: 'Pages of this origin may not call tools.' } });
      }
    });

    test.each(ways)('%s %s is open to the gateway’s own pages, to those that were named, and to whom is no page', async (method, path) => {
      for (const origin of [gateway.url, friend]) {
        const answer = await ask(method, path, { origin });
        expect([origin, answer.status === 403, answer.headers['access-control-allow-origin']]).toEqual([origin, false, origin]);
      }
      expect((await ask(method, path, {})).status).not.toBe(403);
    });
  });

  describe('metadata services of clouds', () => {
    const kinds = [{ connection_type: 'rest_bridge', extra_config: { operations } }, { connection_type: 'stateless' }, { transport: 'sse' }];

    test.each(metadataHosts)('%s is no endpoint: neither made, nor changed to, nor imported', async (host) => {
      const endpoint = `http://${host}/latest`;
      const refused = { status: 422, body: { error: { details: [expect.objectContaining({ field: expect.stringMatching(/endpoint$/) })] } } };
      for (const kind of kinds) {
        expect(await gateway.console('POST', '/mcp-servers', { name: 'metadata', endpoint, ...kind })).toMatchObject(refused);
        expect(await gateway.console('POST', '/import', { mcp_servers: [{ name: 'metadata', endpoint, ...kind }] })).toMatchObject(refused);
      }
      expect(await gateway.console('PATCH', '/mcp-servers/rest', { endpoint })).toMatchObject(refused);
      expect((await gateway.console('GET', '/mcp-servers/metadata')).status).toBe(404);
    });

    test('a service that redirects there is not followed', async () => {
      const answer = await callTool(gateway, 'rest.moved');
      expect(answer).toMatchObject({ result: { isError: true, content: [{ text: 'The service answered 302.' }] } });
      expect(JSON.stringify(answer)).not.toContain('169.254');
    });
  });

  describe('credentials of servers', () => {
    let tap: RawConnection | undefined;
    const onBus: string[] = [];
    const answers: string[] = [];
    const ask = async (method: string, path: string, body?: unknown): Promise<Json> => {
      const answer = await gateway.console(method, path, body);
      answers.push(`${method} ${path}: ${JSON.stringify(answer.body)}`);
      return answer.body;
    };

    beforeAll(async () => {
      if (gateway.busUrl === undefined) return;
      // What an admin sends passes over the bus: listened to is everything after that.
      tap = await connectRaw(gateway.busUrl, 'tap');
      tap.connection.subscribe('>', { callback: (_error, message) => void onBus.push(`${message.subject} ${Buffer.from(message.data).toString('latin1')}`) });
      await tap.connection.flush();
    });
    afterAll(() => tap?.connection.close());

    test('are sent to their servers, and to nobody else', async () => {
      for (const [name, received] of [
        ['modern', servers.modern.received],
        ['stateful', servers.stateful.received],
        ['rest', rest.received],
        ['repeating', repeating.received],
      ] as const) {
        if (name === 'rest') await callTool(gateway, 'rest.ask');
        await until(async () => received.length > 0, `${name} to be asked`);
        for (const { headers } of received) {
          expect(headers).toMatchObject({ authorization: `Bearer ${canary(`${name}auth`)}`, 'x-team-key': canary(`${name}header`) });
          for (const other of ['modern', 'stateful', 'rest', 'repeating'].filter((one) => one !== name))
            expect(JSON.stringify(headers)).not.toContain(canary(`${other}auth`));
        }
      }
    });

    test('stand in no answer, log line, file, row, audit record or message of the bus', async () => {
      const session = await openSession(gateway);
      for (const options of [{}, { session }])
        for (const [name, args] of [
          ['modern.get_weather', { city: 'Oslo' }],
          ['modern.fail', {}],
          ['stateful.increment', {}],
          ['rest.ask', {}],
          ['nowhere.nothing', {}],
          ['repeating.anything', {}],
        ] as const)
          answers.push(JSON.stringify(await callTool(gateway, name, args, options)));
      answers.push((await postMcp(gateway, { method: 'tools/list' })).text);
      // Settings change, tools are asked for again and tried, and what is known is loaded anew.
      for (const name of ['modern', 'stateful', 'rest', 'repeating']) {
        await ask('PATCH', `/mcp-servers/${name}`, { priority: 7 });
        await ask('POST', `/mcp-servers/${name}/refresh`);
        await ask('POST', `/mcp-servers/${name}/call`, { tool: name === 'rest' ? 'ask' : 'get_weather', arguments: { city: 'Rome' } });
        await ask('GET', `/mcp-servers/${name}`);
        await ask('GET', `/mcp-servers/${name}/tools`);
      }
      if (arrangement === 'split') await gateway.processes['mcp-aggregator']!.restart();
      await until(async () => {
        const { items } = (await gateway.console('GET', '/mcp-status')).body;
        return items.find(({ name }: Json) => name === 'repeating').reason?.includes('[redacted]') === true;
      }, 'the reason of the one that repeats them');
      await until(async () => (await toolNames(gateway)).includes('stateful.increment'), 'the tools to be listed');
      await ask('DELETE', '/mcp-servers/stateful');
      await gateway.settle();
      await until(
        async () => JSON.stringify((await gateway.console('GET', '/audit-logs?action=delete')).body).includes('stateful'),
        'the removal to be recorded',
      );
      for (const path of ['/mcp-status', '/mcp-servers', '/export', '/audit-logs?limit=200', '/logs?limit=200', '/history?limit=100', '/dead-letters'])
        await ask('GET', path);
      expect(answers.filter((text) => canaryForm.test(text))).toEqual([]);
      expect(answers.find((text) => text.startsWith('GET /audit-logs'))).toContain('mcp_server');
      const lines = Object.values(gateway.processes).flatMap((one) => one.logs());
      expect(lines.filter((line) => line.includes('an MCP server is healthy')).length).toBeGreaterThan(0);
      expect(lines.filter((line) => canaryForm.test(line))).toEqual([]);
      const kept = [...(await keptTexts(gateway))];
      expect(kept.filter(([, text]) => text.includes('mcp_servers')).length).toBeGreaterThan(0);
      expect(kept.filter(([, text]) => canaryForm.test(text)).map(([name]) => name)).toEqual([]);
      expect(onBus.filter((text) => canaryForm.test(text))).toEqual([]);
      if (tap) {
        // It did hear what would hold them.
        for (const part of ['catalog.mcp-secrets', 'stats.tool', 'audit.tool', 'mcp.exchange', 'sealed'])
          expect([part, onBus.some((text) => text.includes(part))]).toEqual([part, true]);
      }
    });
  });
});
