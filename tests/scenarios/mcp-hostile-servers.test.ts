/** MCP servers that mean harm: what they list and send costs nobody else, and operators see what is wrong. */
import { once } from 'node:events';
import { request, type ServerResponse } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { AnsweringServer } from '../support/answering-server.ts';
import { startGateway, type TestGateway, until } from '../support/gateway.ts';
import { callTool, toolNames } from '../support/mcp-posts.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests look into replies freely.
type Json = any;

const server = new AnsweringServer();
let gateway: TestGateway;

const mebibyte = 1024 * 1024;
const levels = 10_000;
const tooDeep = `{"type":"object","properties":${'{"a":{"properties":'.repeat(levels)}{}${'}}'.repeat(levels)}}`;
/** So many are more than the buffers of a connection hold that nobody reads, and less than is held for a caller before the gateway gives up (16 MiB). */
const notices = 1500;
const notice = `data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'x'.repeat(10_000) } })}\n\n`;

const handshake = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'hostile', version: '1' } };
const listed = (schema: string): string => `{"tools":[{"name":"flood","inputSchema":${schema}}]}`;
let tools = listed('{"type":"object"}');
let flood: ServerResponse | undefined;

beforeAll(async () => {
  await server.start();
  server.answer = (response, { method, body }) => {
    const asked: Json = method === 'POST' ? JSON.parse(body.toString()) : {};
    const answer = (result: string): void =>
      void response.writeHead(200, { 'content-type': 'application/json' }).end(`{"jsonrpc":"2.0","id":${JSON.stringify(asked.id)},"result":${result}}`);
    if (asked.method === 'initialize') return answer(JSON.stringify(handshake));
    if (asked.method === 'tools/list') return answer(tools);
    if (asked.method === 'ping') return answer('{}');
    if (asked.method === 'tools/call' && asked.params.arguments.event === true)
      return void response
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .end(`data: {"jsonrpc":"2.0","id":${JSON.stringify(asked.id)},"result":{"text":"${'x'.repeat(17 * mebibyte)}"}}\n\n`);
    if (asked.method === 'tools/call' && asked.params.arguments.event === false) return answer(`{"text":"${'x'.repeat(33 * mebibyte)}"}`);
    if (asked.method === 'tools/call') {
      flood = response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(notice.repeat(notices));
      return void response.end(`data: {"jsonrpc":"2.0","id":${JSON.stringify(asked.id)},"result":{"content":[]}}\n\n`);
    }
    response.writeHead(asked.id === undefined && method === 'POST' ? 202 : 404).end();
  };
  gateway = await startGateway({ arrangement: 'embedded', mcp: true });
  await gateway.configure({
    key_groups: [{ name: 'everyone', models: ['*'], mcp_tool_acl: { allowed_tools: ['*'] } }],
    mcp_servers: [{ name: 'hostile', endpoint: server.address, health_check: { interval_secs: 1 } }],
  });
});
afterAll(async () => {
  await gateway?.stop();
  server.stop();
});

const logs = (): readonly string[] => gateway.processes['gateway']?.logs() ?? [];
const status = async (): Promise<Json> => (await gateway.console('GET', '/mcp-status')).body.items.find(({ name }: Json) => name === 'hostile');

test('events that come faster than their caller reads leave one listener on the connection, and all arrive', async () => {
  await until(async () => (await status())?.tools === 1, 'the tool');
  const call = request(`${gateway.url}/mcp`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
  });
  call.end('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hostile.flood","arguments":{}}}');
  const [reply] = await once(call, 'response');
  await until(async () => flood?.writableFinished === true, 'the server to have sent all');
  let text = '';
  for await (const chunk of reply) text += chunk;
  expect(text.split('notifications/message').length - 1).toBe(notices);
  expect(text).toContain('"content":[]');
  expect(logs().filter((line) => line.includes('MaxListenersExceeded'))).toEqual([]);
});

test('a list of tools that cannot be read is shown to operators, until it can be', async () => {
  tools = listed(tooDeep);
  await until(async () => (await status()).faults.includes('The server sent a reply that cannot be read.'), 'the fault', 20_000);
  const lines = () => logs().filter((line) => line.includes('tools of an MCP server cannot be read'));
  await until(async () => lines().length > 0, 'the line of the log, which comes by another way');
  tools = listed('{"type":"object"}');
  await until(async () => (await status()).faults.length === 0, 'the fault to be gone', 20_000);
  expect(lines()).toHaveLength(1);
});

test('of a list without an end the first tools are offered, and operators see that there are more', async () => {
  const many = Array.from({ length: 5001 }, (_, at) => `{"name":"tool-${at}","inputSchema":{"type":"object"}}`);
  tools = `{"tools":[${many.join()}]}`;
  await until(async () => (await status()).tools === 5000, 'the tools', 20_000);
  expect((await status()).faults).toEqual(['Of its tools the first 5000 alone are offered: it lists more.']);
  tools = `{"tools":[${many.slice(1).join()}]}`;
  await until(async () => (await status()).faults.length === 0, 'the fault to be gone', 20_000);
  tools = `{"tools":[],"nextCursor":"on"}`;
  await until(async () => (await status()).faults.length === 1, 'the fault of a list that goes on for ever', 20_000);
});

test('a tool that is listed twice is offered once, and operators see which', async () => {
  tools = listed('{"type":"object"}').replace(/\[(.*)\]/, '[$1,$1]');
  const fault = 'flood: listed more than once, and the first alone is offered';
  await until(async () => (await status()).faults.includes(fault), 'the fault', 20_000);
  expect(await toolNames(gateway)).toEqual(['search_tools', 'hostile.flood']);
});

test('answers that are too large are errors of their calls, and take the server from nobody', async () => {
  tools = listed('{"type":"object"}');
  await gateway.configure({ mcp_servers: [{ name: 'large', endpoint: server.address, health_check: { interval_secs: 600 } }] });
  await until(async () => (await toolNames(gateway)).includes('large.flood'), 'its tool');
  // One more than failed calls that are enough.
  for (const event of [true, false, true, false, true, false])
    expect(await callTool(gateway, 'large.flood', { event })).toMatchObject({
      error: { code: -32000, message: 'The MCP server large: The server sent more than the gateway holds.', data: { code: 'server_failed' } },
    });
  expect(await toolNames(gateway)).toContain('large.flood');
});
