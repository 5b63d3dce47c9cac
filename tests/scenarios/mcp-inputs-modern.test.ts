/** Servers of older revisions that ask their caller for something, and callers of the newer one: they are answered `input_required`, and come back to the very call. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mintAccessKey } from '@model-gateway/secrets';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { ToolServer } from '../fake-mcp/tool-server.ts';
import { arrangements, startGateway, type TestGateway, until } from '../support/gateway.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests look into results freely.
type Json = any;
const version = '2026-07-28';
const prefix = 'io.modelcontextprotocol/';

describe.each(arrangements('input of newer callers'))('input of newer callers, %s', (arrangement) => {
  const servers = { stateful: new ToolServer('stateful'), events: new ToolServer('events') };
  const names = ['stateful', 'events'] as const;
  const otherKey = mintAccessKey();
  let gateway: TestGateway;

  /** One request as the revision writes it. */
  async function post(
    tool: string,
    more: Json = {},
    { key = gateway.key, capabilities = { elicitation: { form: {} } } as Json, signal = undefined as AbortSignal | undefined } = {},
  ): Promise<Json> {
    const _meta = {
      [`${prefix}protocolVersion`]: version,
      [`${prefix}clientInfo`]: { name: 'suite', version: '1' },
      [`${prefix}clientCapabilities`]: capabilities,
    };
    const answer = await fetch(`${gateway.url}/mcp`, {
      method: 'POST',
      headers: {
        ...{ authorization: `Bearer ${key}`, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        ...{ 'mcp-protocol-version': version, 'mcp-method': 'tools/call', 'mcp-name': tool },
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: tool, arguments: {}, ...more, _meta } }),
      ...(signal && { signal }),
    });
    const text = await answer.text();
    return JSON.parse(answer.headers.get('content-type')?.includes('event-stream') ? text.slice(text.lastIndexOf('data: ') + 6) : text);
  }
  const answersTo = ({ inputRequests }: Json, said: Json): Json =>
    Object.fromEntries(Object.keys(inputRequests).map((key) => [key, { action: 'accept', content: said }]));
  const unknownState = { error: { code: -32602, message: 'Invalid params: no call waits under this requestState' } };

  beforeAll(async () => {
    for (const server of Object.values(servers)) {
      server.asks = true;
      await server.start();
    }
    gateway = await startGateway({ arrangement, mcp: true, ...(arrangement === 'split' && { twice: ['mcp-aggregator' as const] }) });
    await gateway.configure({
      mcp_servers: [
        { name: 'stateful', endpoint: servers.stateful.url, connection_type: 'stateful' },
        { name: 'events', endpoint: servers.events.url, transport: 'sse' },
      ],
      key_groups: [{ name: 'everyone', models: ['*'], mcp_tool_acl: { allowed_tools: ['*'] } }],
      access_keys: [{ name: 'other', group: 'everyone', key: otherKey }],
    });
    for (const name of names) await until(async () => (await post(`${name}.increment`)).result !== undefined, 'the servers to be known');
  });
  afterAll(async () => {
    await gateway?.stop();
    for (const server of Object.values(servers)) server.stop();
  });

  test.each(names)('the official client is asked twice by a %s server, whichever process it comes back to', async (name) => {
    const client = new Client({ name: 'suite', version: '1' }, {
      versionNegotiation: { mode: { pin: version } },
      capabilities: { elicitation: { form: {} } },
    } as Json);
    const asked: string[] = [];
    client.setRequestHandler('elicitation/create', (({ params }: Json) => {
      asked.push(params.message);
      return { action: 'accept', content: params.message.includes('name') ? { name: 'Ada' } : { color: 'blue' } };
    }) as Json);
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`), { requestInit: { headers: { authorization: `Bearer ${gateway.key}` } } }),
    );
    const calls = name === 'stateful' ? 6 : 1;
    const results: Json[] = await Promise.all(Array.from({ length: calls }, () => client.callTool({ name: `${name}.ask`, arguments: {} })));
    expect(results.map(({ content }) => content[0].text)).toEqual(Array.from({ length: calls }, () => 'Ada likes blue'));
    expect(asked).toHaveLength(2 * calls);
    await client.close();
  });

  test('only its own caller goes on with a call, with the same tool, once', async () => {
    const { result: first } = await post('stateful.ask');
    expect(first).toMatchObject({ resultType: 'input_required', requestState: expect.stringMatching(/^mgw\./) });
    expect(Object.values(first.inputRequests)).toEqual([{ method: 'elicitation/create', params: expect.objectContaining({ message: 'What is your name?' }) }]);
    const back = { requestState: first.requestState, inputResponses: answersTo(first, { name: 'Ada' }) };
    expect(await post('stateful.ask', back, { key: otherKey })).toMatchObject(unknownState);
    expect(await post('stateful.increment', back)).toMatchObject(unknownState);
    const { result: second } = await post('stateful.ask', back);
    expect(Object.values(second.inputRequests)).toMatchObject([{ params: { message: 'What is your color?' } }]);
    expect(await post('stateful.ask', back)).toMatchObject(unknownState);
    // What is left out is asked again.
    const { result: again } = await post('stateful.ask', { requestState: second.requestState, inputResponses: {} });
    expect(again.inputRequests).toEqual(second.inputRequests);
    const last = await post('stateful.ask', { requestState: again.requestState, inputResponses: answersTo(again, { color: 'blue' }) });
    expect(last.result).toMatchObject({ resultType: 'complete', content: [{ text: 'Ada likes blue' }] });
  });

  test('a caller who refuses is taken at its word; one who cannot be asked is not asked', async () => {
    const { result } = await post('stateful.ask');
    const key = Object.keys(result.inputRequests)[0]!;
    const { result: second } = await post('stateful.ask', { requestState: result.requestState, inputResponses: { [key]: { action: 'decline' } } });
    const last = await post('stateful.ask', { requestState: second.requestState, inputResponses: answersTo(second, { color: 'blue' }) });
    expect(last.result.content[0].text).toBe('decline likes blue');
    const unasked = await post('stateful.ask', {}, { capabilities: {} });
    expect(unasked.result).toMatchObject({ isError: true, resultType: 'complete' });
  });

  test('each exchange leaves a row', async () => {
    // Of a key that made no other call: rows of earlier tests may still arrive.
    const own = { key: otherKey };
    const { result: first } = await post('stateful.ask', {}, own);
    await post('stateful.ask', { requestState: first.requestState, inputResponses: answersTo(first, { name: 'Ada' }) }, own);
    await until(async () => {
      const rows = (await gateway.rows()).filter(({ kind, access_key, error_code }) => kind === 'mcp_call' && access_key === 'other' && error_code === null);
      return rows.length === 2;
    }, 'two rows');
  });

  if (arrangement === 'split') {
    test('a call whose process is gone is none any more, and the tool can be called anew', async () => {
      const { result: first } = await post('stateful.ask');
      await Promise.all(['mcp-aggregator', 'mcp-aggregator-2'].map((name) => gateway.processes[name]!.restart()));
      await until(async () => (await post('stateful.increment')).result !== undefined, 'the tools to be back');
      expect(await post('stateful.ask', { requestState: first.requestState, inputResponses: answersTo(first, { name: 'Ada' }) })).toMatchObject(unknownState);
      expect((await post('stateful.ask')).result).toMatchObject({ resultType: 'input_required' });
    });
  }
});
