/** A server of the revision without sessions that asks its caller for something, and callers of an older one: asked in the stream of their call, or refused in words. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CreateMessageRequestSchema, ElicitRequestSchema, ListRootsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { EverythingServer } from '../fake-mcp/everything-server.ts';
import { arrangements, borrowGateway, type TestGateway, until } from '../support/gateway.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests look into results freely.
type Json = any;

describe.each(arrangements('input for MCP servers'))('input for MCP servers, %s', (arrangement) => {
  const server = new EverythingServer();
  const clients: Client[] = [];
  let gateway: TestGateway;

  beforeAll(async () => {
    server.modernOnly = true;
    await server.start();
    gateway = await borrowGateway({ arrangement });
    await gateway.configure({
      mcp_servers: [{ name: 'asking', endpoint: server.url }],
      key_groups: [{ name: 'everyone', models: ['*'], mcp_tool_acl: { allowed_tools: ['*'] } }],
    });
  });
  afterAll(async () => {
    for (const client of clients) await client.close();
    await gateway?.stop();
    server.stop();
  });

  /** What the client was asked, by method. */
  async function open(capabilities: Json, elicited: Json = { action: 'accept', content: { name: 'Ada', ok: true, color: 'blue' } }) {
    const client = new Client({ name: 'suite', version: '1' }, { capabilities });
    const asked: string[] = [];
    if (capabilities.elicitation)
      client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
        asked.push(params.message);
        return elicited;
      });
    if (capabilities.sampling)
      client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => {
        asked.push(`sample ${params.maxTokens}`);
        return { model: 'm', role: 'assistant', content: { type: 'text', text: 'Hello' } };
      });
    if (capabilities.roots)
      client.setRequestHandler(ListRootsRequestSchema, () => {
        asked.push('roots');
        return { roots: [{ uri: 'file:///work', name: 'work' }] };
      });
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`), { requestInit: { headers: { authorization: `Bearer ${gateway.key}` } } }) as never,
    );
    clients.push(client);
    await until(async () => (await client.listTools()).tools.length > 1, 'the tools to be listed');
    const call = async (tool: string) => {
      const { content, isError = false } = (await client.callTool({ name: `asking.${tool}`, arguments: {} })) as Json;
      return { text: content[0].text as string, isError: isError as boolean };
    };
    return { call, asked };
  }

  test('a caller who can be asked is asked, and the server goes on with the answers', async () => {
    const { call, asked } = await open({ elicitation: {}, sampling: {}, roots: {} });
    expect(await call('test_input_required_result_elicitation')).toEqual({ text: 'Hello, Ada!', isError: false });
    expect(await call('test_input_required_result_request_state')).toEqual({ text: 'state-ok: verified', isError: false });
    expect(await call('test_input_required_result_multiple_inputs')).toEqual({ text: 'Hello Ada, 1 root(s)', isError: false });
    expect(await call('test_input_required_result_multi_round')).toEqual({ text: 'Multi-round complete: Ada likes blue', isError: false });
    expect(asked).toEqual(expect.arrayContaining(['What is your name?', 'Please confirm', 'sample 50', 'roots', 'What is your favorite color?']));
  });

  test('it is asked for nothing that it did not say it can do', async () => {
    const { call, asked } = await open({ elicitation: {} });
    expect(await call('test_input_required_result_capabilities')).toEqual({ text: 'Capability-aware input requests fulfilled', isError: false });
    await expect(call('test_input_required_result_sampling')).rejects.toThrow(/-32021.*sampling/);
    expect(asked).toEqual(['What is your name?']);
  });

  test('a caller who cannot be asked gets the server’s own error that says so', async () => {
    const { call } = await open({});
    await expect(call('test_input_required_result_elicitation')).rejects.toThrow(/-32021.*elicitation/);
  });
});
