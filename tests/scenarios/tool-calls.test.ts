/** Tool calls through the whole data plane: tools that the upstream does not take as they are, ids, and histories that need repair. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type InProcessGateway, startInProcess } from '../support/in-process.ts';
import { createScriptedOutbound, type Script } from '../support/scripted-outbound.ts';

// biome-ignore lint/suspicious/noExplicitAny: assertions look into it freely.
type Body = any;

const outbound = createScriptedOutbound();
let gateway: InProcessGateway;
beforeAll(async () => {
  const upstream = (name: string, protocol: 'alpha' | 'alpha_response' | 'beta' | 'gamma') => ({
    name,
    protocol,
    base_url: `https://${name}.test`,
    api_keys: [{ key: `sk-${name}` }],
  });
  gateway = await startInProcess({
    outbound,
    upstreams: [upstream('alp', 'alpha'), upstream('res', 'alpha_response'), upstream('bet', 'beta'), upstream('gam', 'gamma')],
    models: [
      { name: 'alpha', upstream: 'alp', upstream_model_id: 'house-model' },
      { name: 'mistral', upstream: 'alp', upstream_model_id: 'mistral-large-latest' },
      { name: 'deepseek', upstream: 'alp', upstream_model_id: 'deepseek-chat' },
      { name: 'alpha_response', upstream: 'res', upstream_model_id: 'gpt-5' },
      { name: 'alpha_response_older', upstream: 'res', upstream_model_id: 'gpt-4.1' },
      { name: 'beta', upstream: 'bet', upstream_model_id: 'claude-sonnet-4-5' },
      { name: 'gamma', upstream: 'gam', upstream_model_id: 'gemini-3-pro-preview' },
    ],
  });
});
afterAll(() => gateway.stop());
beforeEach(() => {
  outbound.sent.length = 0;
});

const sse = (events: readonly (readonly [string | null, unknown])[]): Script => ({
  chunks: events.map(([name, data]) =>
    Buffer.from(`${name === null ? '' : `event: ${name}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`),
  ),
  ending: 'end',
});
const json = (body: unknown): Script => ({ contentType: 'application/json', chunks: [Buffer.from(JSON.stringify(body))], ending: 'end' });
const betaEvent = (type: string, fields: object = {}) => [type, { type, ...fields }] as const;
const betaCall = (name: string, fragments: readonly string[]): Script =>
  sse([
    betaEvent('message_start', {
      message: { id: 'msg', type: 'message', role: 'assistant', model: 'x', content: [], usage: { input_tokens: 1, output_tokens: 1 } },
    }),
    betaEvent('content_block_start', { index: 0, content_block: { type: 'tool_use', id: 'toolu_up', name, input: {} } }),
    ...fragments.map((partial_json) => betaEvent('content_block_delta', { index: 0, delta: { type: 'input_json_delta', partial_json } })),
    betaEvent('content_block_stop', { index: 0 }),
    betaEvent('message_delta', { delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 5 } }),
    betaEvent('message_stop'),
  ]);
const alphaMessage = (message: object): Script =>
  json({
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'x',
    choices: [{ index: 0, message: { role: 'assistant', content: null, ...message }, finish_reason: 'stop' }],
  });

async function post(path: string, body: unknown): Promise<{ status: number; text: string; body: Body; id: string }> {
  const reply = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await reply.text();
  return { status: reply.status, text, body: text.startsWith('{') ? JSON.parse(text) : null, id: reply.headers.get('x-request-id') ?? '' };
}
const sent = (): Body => JSON.parse(outbound.sent[0]?.body ?? 'null');
const events = (text: string): Body[] => [...text.matchAll(/^data: (\{.*\})$/gm)].map((match) => JSON.parse(match[1] as string));

describe('field note 26: an agent of the Responses family with tools that only its vendor knows', () => {
  const tools = [
    { type: 'custom', name: 'apply_patch', description: 'Edits.', format: { type: 'grammar', syntax: 'lark', definition: 'start: begin' } },
    { type: 'local_shell' },
    { type: 'namespace', name: 'mcp__files', tools: [{ type: 'function', name: 'read.text', parameters: { type: 'object', properties: {} } }] },
    { type: 'web_search' },
  ];
  test('apply_patch is a function upstream, and free text again, fragment by fragment', async () => {
    outbound.script = betaCall('apply_patch', ['{"input": "*** Begin', ' Patch\\n', '*** End"}']);
    const { text, id } = await post('/v1/responses', { model: 'beta', stream: true, input: 'fix it', tools });
    const names = sent()['tools'].map((tool: Body) => tool.name);
    expect(names).toEqual(['apply_patch', 'local_shell', expect.stringMatching(/^mcp__files__read_text_[0-9a-f]{8}$/)]);
    expect(sent()['tools'][0].description).toContain('start: begin');
    const seen = events(text);
    expect(seen.filter(({ type }) => type === 'response.custom_tool_call_input.delta').map(({ delta }) => delta)).toEqual(['*** Begin', ' Patch\n', '*** End']);
    expect(seen.at(-1).response.output).toMatchObject([
      { type: 'custom_tool_call', name: 'apply_patch', input: '*** Begin Patch\n*** End', call_id: 'toolu_up' },
    ]);
    const losses = (await gateway.row(id)).losses.map(({ field, action }) => `${action} ${field}`);
    expect(losses).toEqual(expect.arrayContaining(['emulated tools.custom', 'renamed tools.name']));
    expect(losses.some((loss) => loss.startsWith('dropped tools'))).toBe(true);
  });

  test('its history goes along: patches, shell calls and their outputs', async () => {
    outbound.script = betaCall('local_shell', ['{"command":["ls"]}']);
    const input = [
      { role: 'user', content: 'fix it' },
      { type: 'custom_tool_call', call_id: 'call_1', name: 'apply_patch', input: '*** "x"' },
      { type: 'custom_tool_call_output', call_id: 'call_1', output: 'done' },
      { type: 'local_shell_call', call_id: 'call_2', id: 'lsh_2', status: 'completed', action: { type: 'exec', command: ['ls'], env: {} } },
      { type: 'local_shell_call_output', id: 'call_2', output: '{"stdout":"a"}' },
    ];
    expect((await post('/v1/responses', { model: 'beta', stream: true, input, tools })).status).toBe(200);
    expect(sent()['messages'].slice(1)).toEqual([
      { role: 'assistant', content: [{ type: 'tool_use', id: 'call_1', name: 'apply_patch', input: { input: '*** "x"' } }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: [{ type: 'text', text: 'done' }] }] },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'call_2', name: 'local_shell', input: { command: ['ls'] } }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_2', content: [{ type: 'text', text: '{"stdout":"a"}' }] }] },
    ]);
  });

  test('a namespaced name comes back in its two parts', async () => {
    const request = { model: 'beta', stream: true, input: 'read', tools };
    outbound.script = betaCall('other', ['{}']);
    await post('/v1/responses', request);
    outbound.script = betaCall(sent()['tools'][2].name, ['{}']);
    const { text } = await post('/v1/responses', request);
    expect(events(text).at(-1).response.output).toMatchObject([{ type: 'function_call', namespace: 'mcp__files', name: 'read.text' }]);
  });
});

describe('a chat caller with a free-text tool, and an upstream of Responses whose models know such tools', () => {
  const grammar = { type: 'grammar', grammar: { syntax: 'lark', definition: 'start: begin' } };
  const tools = [{ type: 'custom', custom: { name: 'apply_patch', description: 'Edits.', format: grammar } }];
  const ask = (model: string) =>
    post('/v1/chat/completions', {
      model,
      stream: true,
      tools,
      messages: [
        { role: 'user', content: 'fix it' },
        { role: 'assistant', content: null, tool_calls: [{ id: 'call_1', type: 'custom', custom: { name: 'apply_patch', input: '*** "x"' } }] },
        { role: 'tool', tool_call_id: 'call_1', content: 'done' },
      ],
    });
  const item = { type: 'custom_tool_call', id: 'ctc_1', call_id: 'call_2', name: 'apply_patch' };
  const event = (type: string, fields: object) => [type, { type, ...fields }] as const;
  const stream = sse([
    event('response.output_item.added', { output_index: 0, item: { ...item, status: 'in_progress', input: '' } }),
    event('response.custom_tool_call_input.delta', { output_index: 0, item_id: 'ctc_1', delta: '*** Begin' }),
    event('response.custom_tool_call_input.delta', { output_index: 0, item_id: 'ctc_1', delta: ' Patch' }),
    event('response.custom_tool_call_input.done', { output_index: 0, item_id: 'ctc_1', input: '*** Begin Patch' }),
    event('response.output_item.done', { output_index: 0, item: { ...item, status: 'completed', input: '*** Begin Patch' } }),
    event('response.completed', { response: { id: 'resp_1', status: 'completed', output: [], usage: { input_tokens: 3, output_tokens: 2 } } }),
  ]);

  test('it stays one, in tools, history and stream', async () => {
    outbound.script = stream;
    const { text, id } = await ask('alpha_response');
    expect(sent()['tools']).toEqual([
      { type: 'custom', name: 'apply_patch', description: 'Edits.', format: { type: 'grammar', syntax: 'lark', definition: 'start: begin' } },
    ]);
    expect(sent()['input'].slice(1)).toEqual([
      { type: 'custom_tool_call', call_id: 'call_1', name: 'apply_patch', input: '*** "x"' },
      { type: 'custom_tool_call_output', call_id: 'call_1', output: 'done' },
    ]);
    const calls = events(text).flatMap((chunk) => chunk.choices[0]?.delta.tool_calls ?? []);
    expect(calls).toEqual([
      { index: 0, id: 'call_2', type: 'custom', custom: { name: 'apply_patch', input: '' } },
      { index: 0, custom: { input: '*** Begin' } },
      { index: 0, custom: { input: ' Patch' } },
    ]);
    expect((await gateway.row(id)).losses).toEqual([]);
  });

  test('it is a function for models that only know functions', async () => {
    outbound.script = stream;
    const { id } = await ask('alpha_response_older');
    expect(sent()['tools']).toMatchObject([{ type: 'function', name: 'apply_patch' }]);
    expect(sent()['input'].slice(1)).toMatchObject([{ type: 'function_call', arguments: '{"input":"*** \\"x\\""}' }, { type: 'function_call_output' }]);
    expect((await gateway.row(id)).losses).toMatchObject([{ field: 'tools.custom', action: 'emulated' }]);
  });
});

describe('an agent with tools that only the models of its vendor know by heart', () => {
  const tools = [
    { type: 'bash_20250124', name: 'bash' },
    { type: 'text_editor_20250728', name: 'str_replace_based_edit_tool', max_characters: 1000 },
    { type: 'computer_20250124', name: 'computer', display_width_px: 1024, display_height_px: 768 },
    { type: 'memory_20250818', name: 'memory' },
    { type: 'web_search_20250305', name: 'web_search' },
  ];
  const ask = (model: string) => post('/v1/messages', { model, max_tokens: 100, tools, messages: [{ role: 'user', content: 'ls' }] });

  test('other models are told of those that it runs itself, and call them by name', async () => {
    outbound.script = alphaMessage({
      role: 'assistant',
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'bash', arguments: '{"command":"ls"}' } }],
    });
    const { body } = await ask('alpha');
    const described = JSON.parse(outbound.sent[0]!.body).tools.map((tool: Body) => tool.function);
    expect(described.map(({ name }: Body) => name)).toEqual(['bash', 'str_replace_based_edit_tool', 'computer', 'memory']);
    expect(described[0].parameters.properties).toHaveProperty('command');
    expect(described[1].parameters.required).toEqual(['command', 'path']);
    expect(described[2].description).toContain('1024 × 768');
    expect(body.content).toMatchObject([{ type: 'tool_use', name: 'bash', input: { command: 'ls' } }]);
  });

  test.each(['alpha_response', 'gamma', 'mistral'])('in the words of %s too', async (model) => {
    await ask(model);
    for (const { name } of tools.slice(0, 4)) expect(outbound.sent[0]!.body).toContain(`"name":"${name}"`);
    expect(outbound.sent[0]!.body).not.toContain('web_search');
  });

  test('its own vendor gets them as they are', async () => {
    await ask('beta');
    expect(JSON.parse(outbound.sent[0]!.body).tools).toEqual(tools);
  });
});

describe('ids of calls', () => {
  test('a generate-content caller who writes results by hand, without the ids that the calls have', async () => {
    const functionResponse = (v: number) => ({ functionResponse: { name: 'f', response: { v } } });
    const functionCall = (id: string) => ({ functionCall: { id, name: 'f', args: {} } });
    const contents = [
      { role: 'user', parts: [{ text: 'x' }] },
      { role: 'model', parts: [functionCall('call_1'), functionCall('call_2')] },
      { role: 'user', parts: [functionResponse(1), functionResponse(2)] },
    ];
    await post('/v1beta/models/alpha:generateContent', { contents });
    expect(sent()['messages'].slice(2)).toEqual([
      { role: 'tool', tool_call_id: 'call_1', content: '{"v":1}' },
      { role: 'tool', tool_call_id: 'call_2', content: '{"v":2}' },
    ]);
    await post('/v1beta/models/alpha:generateContent', { contents: [{ role: 'user', parts: [functionResponse(1), { text: 'x' }] }] });
    expect(outbound.sent.at(-1)!.body).not.toContain('"tool"');
  });

  const history = (id: string) => [
    { role: 'user', content: 'x' },
    { role: 'assistant', content: null, tool_calls: [{ id, type: 'function', function: { name: 'f', arguments: '{}' } }] },
    { role: 'tool', tool_call_id: id, content: 'ok' },
  ];
  test('field note 13: over-long ones are replaced alike on call and result', async () => {
    outbound.script = json({ id: 'resp', object: 'response', status: 'completed', output: [], usage: null });
    await post('/v1/chat/completions', { model: 'alpha_response', messages: history(`functions.f:${'x'.repeat(300)}`) });
    const [, call, result] = sent()['input'];
    expect(call.call_id).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(result.call_id).toBe(call.call_id);
  });

  test('nine characters where the vendor takes nothing else, even in bytes that pass as they are', async () => {
    outbound.script = alphaMessage({ content: 'ok' });
    await post('/v1/chat/completions', { model: 'mistral', messages: history('call_0123456789abcdefghij') });
    const [, call, result] = sent()['messages'];
    expect(call.tool_calls[0].id).toMatch(/^[a-zA-Z0-9]{9}$/);
    expect(result.tool_call_id).toBe(call.tool_calls[0].id);
  });

  test("the specification's 400 for repeated tool_use ids, on every passage and on counts", async () => {
    const use = { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} };
    const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'ok' }] };
    const messages = [{ role: 'user', content: 'x' }, { role: 'assistant', content: [use] }, result, { role: 'assistant', content: [use] }, result];
    for (const model of ['beta', 'alpha', 'alpha_response', 'gamma']) {
      for (const path of ['/v1/messages', '/v1/messages/count_tokens']) {
        const { status, body } = await post(path, { model, max_tokens: 9, messages });
        expect(status).toBe(400);
        expect(body).toMatchObject({ type: 'error', error: { type: 'invalid_request_error', message: 'tool_use ids must be unique' } });
      }
    }
    expect(outbound.sent).toHaveLength(0);
  });
});

describe('field note 15: vendors that demand reasoning back', () => {
  const call = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } };
  const refused: Script = {
    status: 400,
    contentType: 'application/json',
    chunks: [
      Buffer.from(
        JSON.stringify({ error: { message: 'The `reasoning_content` in the thinking mode must be passed back to the API.', type: 'invalid_request_error' } }),
      ),
    ],
    ending: 'end',
  };

  test('get it from a caller of another protocol', async () => {
    outbound.script = alphaMessage({ content: 'ok' });
    const content = [
      { type: 'thinking', thinking: 'hm', signature: '' },
      { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} },
    ];
    const messages = [
      { role: 'user', content: 'x' },
      { role: 'assistant', content },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'ok' }] },
    ];
    await post('/v1/messages', { model: 'deepseek', max_tokens: 9, messages });
    expect(sent()['messages'][1].reasoning_content).toBe('hm');
  });

  test('get a filler on the one retry, when the caller has dropped it', async () => {
    const plainSend = outbound.send;
    const answers = [refused, alphaMessage({ content: 'ok' })];
    outbound.send = (request, handlers) => {
      outbound.script = answers.shift() as Script;
      return plainSend(request, handlers);
    };
    const messages = [
      { role: 'user', content: 'x' },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_1', content: 'ok' },
    ];
    const { status } = await post('/v1/chat/completions', { model: 'deepseek', messages });
    outbound.send = plainSend;
    expect(status).toBe(200);
    expect(JSON.parse(outbound.sent[0]!.body).messages[1].reasoning_content).toBeUndefined();
    expect(JSON.parse(outbound.sent[1]!.body).messages[1].reasoning_content).toBe(' ');
  });

  test('and a caller whose protocol has no place for it carries it sealed on the call', async () => {
    outbound.script = alphaMessage({ reasoning_content: 'deep thought', tool_calls: [call] });
    const ask = (contents: unknown[]) => post('/v1beta/models/deepseek:generateContent', { contents });
    const { body } = await ask([{ role: 'user', parts: [{ text: 'x' }] }]);
    const parts = body.candidates[0].content.parts.filter((part: Body) => !part.thought);
    expect(JSON.stringify(parts)).not.toContain('deep');
    outbound.sent.length = 0;
    await ask([
      { role: 'user', parts: [{ text: 'x' }] },
      { role: 'model', parts },
      { role: 'user', parts: [{ functionResponse: { id: 'call_1', name: 'f', response: { result: 'ok' } } }] },
    ]);
    expect(sent()['messages'][1]).toMatchObject({ reasoning_content: 'deep thought', tool_calls: [{ id: 'call_1' }] });
    expect(outbound.sent[0]?.body).not.toContain('thought_signature');
  });
});

describe('tools that a vendor ran itself', () => {
  test('blocks of the history become text for another vendor, and opaque parts go', async () => {
    outbound.script = alphaMessage({ content: 'ok' });
    const content = [
      { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'weather' } },
      {
        type: 'web_search_tool_result',
        tool_use_id: 'srvtoolu_1',
        content: [{ type: 'web_search_result', title: 'Sun', url: 'https://sun.test', encrypted_content: 'OPAQUE', page_age: null }],
      },
      { type: 'mcp_tool_use', id: 'mcptoolu_1', name: 'find', server_name: 'files', input: {} },
      { type: 'mcp_tool_result', tool_use_id: 'mcptoolu_1', is_error: false, content: [{ type: 'text', text: 'two files' }] },
      {
        type: 'bash_code_execution_tool_result',
        tool_use_id: 'srvtoolu_2',
        content: { type: 'bash_code_execution_result', stdout: '42', stderr: '', return_code: 0 },
      },
      { type: 'text', text: 'It is sunny.' },
    ];
    const messages = [
      { role: 'user', content: 'x' },
      { role: 'assistant', content },
      { role: 'user', content: 'and now?' },
    ];
    const { id } = await post('/v1/messages', { model: 'alpha', max_tokens: 9, messages });
    const said = JSON.stringify(sent()['messages'][1]);
    for (const text of ['weather', 'Sun — https://sun.test', 'files.find', 'two files', '42', 'It is sunny.']) expect(said).toContain(text);
    expect(said).not.toContain('OPAQUE');
    expect((await gateway.row(id)).losses).toContainEqual(expect.objectContaining({ field: 'content.server_tools', action: 'downgraded' }));
  });

  test('items of the history, likewise', async () => {
    outbound.script = betaCall('f', ['{}']);
    const input = [
      { role: 'user', content: 'x' },
      { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'weather' } },
      { type: 'mcp_call', id: 'mcp_1', server_label: 'files', name: 'find', arguments: '{}', output: 'two files' },
      { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: 'AAAA' },
      { role: 'user', content: 'and now?' },
    ];
    await post('/v1/responses', { model: 'beta', stream: true, input });
    expect(JSON.stringify(sent()['messages'][1])).toMatch(/weather.*files\.find.*two files/);
    expect(outbound.sent[0]?.body).not.toContain('AAAA');
  });
});
