/**
 * Pains of coding agents and chat clients behind gateways, by the numbers of docs/known-issues-avoided.md, through the real data plane: each would fail on a
 * gateway that has the pain. Those that need more than one exchange have suites of their own, which the same page names.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type InProcessGateway, startInProcess } from '../support/in-process.ts';
import { createAnsweringOutbound, jsonScript, streamScript } from '../support/scripted-upstream.ts';

// biome-ignore lint/suspicious/noExplicitAny: assertions look into bodies freely.
type Json = any;

const outbound = createAnsweringOutbound();
const sse = (...events: unknown[]) => streamScript(events.map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`).join(''));
const chunk = (delta: object, finish: string | null = null) => ({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'x',
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const usage = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 };
const spoken = {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'x',
  choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
  usage,
};

let gateway: InProcessGateway;
beforeAll(async () => {
  gateway = await startInProcess({
    outbound,
    upstreams: [
      { name: 'chat', protocol: 'alpha', base_url: 'https://chat.test', api_keys: [{ key: 'sk-1' }] },
      { name: 'responses', protocol: 'alpha_response', base_url: 'https://responses.test', api_keys: [{ key: 'sk-2' }] },
      { name: 'messages', protocol: 'beta', base_url: 'https://api.anthropic.com', api_keys: [{ key: 'sk-3' }] },
      { name: 'generate', protocol: 'gamma', base_url: 'https://generate.test', api_keys: [{ key: 'sk-4' }] },
    ],
    models: [
      { name: 'chat', upstream: 'chat', upstream_model_id: 'glm-5' },
      { name: 'first-party', upstream: 'chat', upstream_model_id: 'gpt-5' },
      { name: 'sees', upstream: 'chat', upstream_model_id: 'glm-4.5v' },
      { name: 'responses', upstream: 'responses', upstream_model_id: 'gpt-5' },
      { name: 'messages', upstream: 'messages', upstream_model_id: 'claude-sonnet-4-5' },
      { name: 'generate', upstream: 'generate', upstream_model_id: 'gemini-3-pro' },
    ],
  });
});
afterAll(() => gateway.stop());
beforeEach(() => {
  outbound.sent.length = 0;
  outbound.answer = () => jsonScript(200, spoken);
});

const post = (path: string, body: object, headers: Record<string, string> = {}) =>
  fetch(gateway.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
const sent = (at = 0): Json => JSON.parse(outbound.sent[at]?.body ?? 'null') as Json;
const eventsOf = (text: string): Json[] => text.split('\n').flatMap((line) => (line.startsWith('data: {') ? [JSON.parse(line.slice(6)) as Json] : []));
const messages = (model: string, more: object = {}) => ({ model, max_tokens: 64, messages: [{ role: 'user', content: 'hi' }], ...more });
const streamed = async (more: object = {}): Promise<Json[]> => eventsOf(await (await post('/v1/messages', messages('chat', { stream: true, ...more }))).text());

describe('streams', () => {
  test('1: arguments that come in the very chunk that ends the text are not lost', async () => {
    const call = (fields: object) => ({ tool_calls: [{ index: 0, ...fields }] });
    outbound.answer = () =>
      sse(
        chunk({ role: 'assistant', content: 'Look: ' }),
        chunk({ content: 'now', ...call({ id: 'call_1', type: 'function', function: { name: 'read', arguments: '{"path":' } }) }),
        chunk(call({ function: { arguments: '"a.ts"}' } }), 'tool_calls'),
        '[DONE]',
      );
    const events = await streamed();
    const deltas = events.filter(({ type }) => type === 'content_block_delta').map(({ delta }) => delta);
    expect(deltas.map(({ text }) => text ?? '').join('')).toBe('Look: now');
    expect(deltas.map(({ partial_json }) => partial_json ?? '').join('')).toBe('{"path":"a.ts"}');
  });

  test('2, 3, 4: empty lists and nulls are nothing; text, call and text again are blocks of their own, one message', async () => {
    const nothing = { tool_calls: [], function_call: null, refusal: null, reasoning_content: '' };
    outbound.answer = () =>
      sse(
        chunk({ role: 'assistant', content: '', ...nothing }),
        chunk({ reasoning_content: 'Hm.' }),
        chunk({ content: 'One', tool_calls: [] }),
        chunk({ content: null, tool_calls: [{ index: 0, id: 'call_1', function: { name: 'read', arguments: '{}' } }] }),
        chunk({ content: 'Two', tool_calls: null }),
        chunk(nothing, 'stop'),
        '[DONE]',
      );
    const events = await streamed({ thinking: { type: 'enabled', budget_tokens: 1024 }, max_tokens: 4096 });
    expect(events.filter(({ type }) => type === 'message_start')).toHaveLength(1);
    expect(events.flatMap(({ content_block }) => content_block?.type ?? [])).toEqual(['thinking', 'text', 'tool_use', 'text']);
    expect(events.find(({ type }) => type === 'message_delta').delta.stop_reason).toBe('tool_use');
  });

  test('5: the first event already tells the size of the prompt, and the last all counts', async () => {
    outbound.answer = () => sse(chunk({ role: 'assistant', content: 'ok' }), chunk({}, 'stop'), { id: 'c', choices: [], usage }, '[DONE]');
    const events = await streamed();
    expect(events[0].message.usage.input_tokens).toBeGreaterThan(0);
    const { usage: described } = events.find(({ type }) => type === 'message_delta');
    expect(described).toMatchObject({ input_tokens: 9, output_tokens: 3, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 });
  });

  test('5: from the second turn on the first event is near what the upstream counts, and the last is what it counted, bucket by bucket', async () => {
    const counted = (prompt: number, cached: number) => ({
      prompt_tokens: prompt,
      completion_tokens: 3,
      total_tokens: prompt + 3,
      prompt_tokens_details: { cached_tokens: cached },
    });
    // Every token of this model is two bytes.
    outbound.answer = ({ body }) =>
      sse(chunk({ role: 'assistant', content: 'ok' }), chunk({}, 'stop'), { id: 'c', choices: [], usage: counted(Math.round(body.length / 2), 100) }, '[DONE]');
    const ask = async (text: string) => {
      const reply = await post('/v1/messages', { model: 'chat', max_tokens: 9, stream: true, messages: [{ role: 'user', content: text }] });
      const events = eventsOf(await reply.text());
      return { first: events[0].message.usage, last: events.find(({ type }) => type === 'message_delta').usage };
    };
    await ask('word '.repeat(1000));
    const { first, last } = await ask('word '.repeat(2000));
    const read = last.input_tokens + last.cache_read_input_tokens + last.cache_creation_input_tokens;
    expect(last.cache_read_input_tokens).toBe(100);
    expect(Math.abs(first.input_tokens - read)).toBeLessThan(read / 20);
  });

  test('6, 9, 10: a stream that breaks within a call ends whole, cut, and with the warning as a field', async () => {
    outbound.answer = () => ({
      ...sse(chunk({ role: 'assistant', tool_calls: [{ index: 0, id: 'call_1', function: { name: 'rm', arguments: '{"path":"/' } }] })),
      ending: 'reset',
    });
    const text = await (await post('/v1/responses', { model: 'chat', input: 'hi', stream: true })).text();
    const events = eventsOf(text);
    expect(events.at(-1)).toMatchObject({
      type: 'response.incomplete',
      response: { status: 'incomplete', output: [{ type: 'function_call', status: 'incomplete' }] },
    });
    expect(events.some(({ type }) => type === 'response.function_call_arguments.done')).toBe(false);
    expect(events.filter((event) => '_gateway_warning' in event || '_gateway_warning' in (event.response ?? {}))).toHaveLength(1);
  });
});

const wholeMessage = {
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'x', content: [{ type: 'text', text: 'ok' }] },
  ...{ stop_reason: 'end_turn', stop_sequence: null, usage: { input_tokens: 9, output_tokens: 3 } },
};
const messageEvents = (first: object, last: object): object[] => [
  { type: 'message_start', message: { ...wholeMessage, content: [], stop_reason: null, usage: first } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  ...['o', 'k'].map((text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: last },
  { type: 'message_stop' },
];

describe('servers that are nearly compatible', () => {
  test('44: events without names get theirs', async () => {
    outbound.answer = () => sse(...messageEvents({ input_tokens: 9 }, { output_tokens: 2 }));
    const text = await (await post('/v1/messages', messages('messages', { stream: true }))).text();
    const named = text.split('\n\n').flatMap((event) => (event === '' ? [] : [/^event: (\w+)\ndata: \{"type":"(\w+)"/.exec(event)?.slice(1)]));
    expect(named).toHaveLength(7);
    for (const names of named) expect(names?.[0]).toBe(names?.[1]);
  });

  test('45: zeros in the last event take back nothing of the prompt', async () => {
    outbound.answer = () => sse(...messageEvents({ input_tokens: 9, output_tokens: 0 }, { input_tokens: 0, output_tokens: 2 }));
    const reply = await post('/v1/messages', messages('messages', { stream: true }));
    await reply.text();
    expect(await gateway.row(reply.headers.get('x-request-id') ?? '')).toMatchObject({ input_tokens: 9, output_tokens: 2, usage_source: 'upstream' });
  });

  test('46: arguments that come as an object reach the caller', async () => {
    const call = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'read', arguments: { path: 'a.ts' }, status: 'completed' };
    outbound.answer = () => jsonScript(200, { id: 'resp_1', object: 'response', status: 'completed', model: 'x', output: [call], usage: null });
    const { content } = (await (await post('/v1/messages', messages('responses'))).json()) as Json;
    expect(content).toEqual([expect.objectContaining({ type: 'tool_use', name: 'read', input: { path: 'a.ts' } })]);
  });

  test('47: counts inside the choice are those of the row', async () => {
    const last = { ...chunk({}), choices: [{ index: 0, delta: {}, finish_reason: 'stop', usage }] };
    outbound.answer = () => sse(chunk({ role: 'assistant', content: 'ok' }), last, '[DONE]');
    const reply = await post('/v1/messages', messages('chat', { stream: true }));
    await reply.text();
    expect(await gateway.row(reply.headers.get('x-request-id') ?? '')).toMatchObject({ input_tokens: 9, output_tokens: 3, usage_source: 'upstream' });
  });
});

describe('schemas', () => {
  const read = { name: 'read', input_schema: { type: 'object', properties: { line: { type: 'integer', exclusiveMinimum: 0 } }, required: ['line'] } };
  const called = (args: object) => ({
    candidates: [{ content: { role: 'model', parts: [{ functionCall: { name: 'read', args } }] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
  });

  test.each([
    ['fits', { line: 3 }, []],
    ['misses', { line: 0 }, ['reply.tool_calls.arguments']],
  ])('16: a call that %s the schema of which the vendor takes a wider form alone', async (what, args, missed) => {
    for (const stream of [false, true]) {
      outbound.answer = () => (stream ? sse(called(args)) : jsonScript(200, called(args)));
      const reply = await post('/v1/messages', messages('generate', { tools: [read], stream }), { 'z-request-id': `widened-${what}-${stream}` });
      expect(await reply.text()).toContain('"read"');
      expect(JSON.stringify(sent()['tools'])).not.toContain('exclusiveMinimum');
      const { losses } = await gateway.row(`widened-${what}-${stream}`);
      expect(losses.map(({ field }) => field).filter((field) => field.startsWith('reply.'))).toEqual(missed);
    }
  });
});

describe('coding agents', () => {
  const asked = (line: string) =>
    messages('chat', {
      system: [
        { type: 'text', text: `x-anthropic-billing-header: ${line}` },
        { type: 'text', text: 'You are an agent.' },
      ],
    });

  test('20: a line that changes with each call does not reach a foreign prompt, and the vendor gets it as it is', async () => {
    for (const line of ['cc_version=1; cch=a', 'cc_version=1; cch=b']) await post('/v1/messages', asked(line));
    expect(outbound.sent[0]?.body).toBe(outbound.sent[1]?.body);
    expect(sent()['messages'][0]).toMatchObject({ content: 'You are an agent.' });
    outbound.answer = () =>
      jsonScript(200, {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'x',
        content: [],
        stop_reason: 'end_turn',
        usage: { input_tokens: 1, output_tokens: 1 },
      });
    await post('/v1/messages', { ...asked('cch=c'), model: 'messages' });
    expect(outbound.sent[2]?.body).toContain('cch=c');
  });

  test('20: the session is the key of the upstream’s cache, the same in each turn', async () => {
    const session = '0f8fad5b-d9cb-469f-a165-70867728950e';
    for (const content of ['one', 'two'])
      await post('/v1/messages', messages('first-party', { messages: [{ role: 'user', content }] }), { 'x-claude-code-session-id': session });
    expect(sent(0)['prompt_cache_key']).toBe(session);
    expect(sent(1)['prompt_cache_key']).toBe(session);
  });

  test('24: a check of the model with one token works on a Responses upstream, and tells its usage', async () => {
    outbound.answer = () =>
      jsonScript(200, {
        id: 'resp_1',
        object: 'response',
        status: 'incomplete',
        incomplete_details: { reason: 'max_output_tokens' },
        model: 'x',
        output: [],
        usage: { input_tokens: 8, output_tokens: 16, total_tokens: 24 },
      });
    const reply = await post('/v1/messages', messages('responses', { max_tokens: 1 }));
    expect([reply.status, sent()['max_output_tokens']]).toEqual([200, 16]);
    expect(await reply.json()).toMatchObject({ type: 'message', stop_reason: 'max_tokens', usage: { input_tokens: 8, output_tokens: 16 } });
  });

  test.each(['/', '/api/hello'])('24: the warm-up %s is a 200 without a row and without a line in the log', async (path) => {
    const logged = gateway.logs.length;
    expect((await fetch(gateway.url + path, { method: 'HEAD' })).status).toBe(200);
    // What was asked after it has its row, and the warm-up has none.
    await post('/v1/messages', messages('chat'), { 'z-request-id': `after-${path}` });
    await gateway.row(`after-${path}`);
    const named = ['chat', 'first-party', 'responses', 'messages', 'generate'];
    expect(gateway.rows.every(({ model }) => named.includes(model ?? ''))).toBe(true);
    expect(gateway.logs.length).toBe(logged);
  });

  test('26: tools that were found on the way, in namespaces, and a grammar reach a vendor that knows none of these', async () => {
    const grammar = { type: 'grammar', syntax: 'lark', definition: 'start: "*** Begin Patch"' };
    const found = { type: 'tool_search_output', call_id: 's1', tools: [{ type: 'function', name: 'later', parameters: { type: 'object' } }] };
    await post('/v1/responses', {
      model: 'generate',
      input: [found, { role: 'user', content: 'hi' }],
      tools: [
        { type: 'custom', name: 'apply_patch', format: grammar },
        { type: 'namespace', name: 'mcp', tools: [{ type: 'function', name: 'read', parameters: { type: 'object' } }] },
        { type: 'tool_search' },
      ],
    });
    const declared = sent()['tools'].flatMap((tool: Json) => tool.functionDeclarations ?? []);
    expect(declared.map(({ name }: Json) => name)).toEqual(expect.arrayContaining(['apply_patch', 'later', expect.stringMatching(/^mcp.*read$/)]));
    expect(declared.find(({ name }: Json) => name === 'apply_patch').description).toContain(grammar.definition);
  });

  test('27: split system text, schemas and results of one agent reach another vendor whole', async () => {
    const path = '/v1beta/models/chat:generateContent';
    await post(path, {
      systemInstruction: { role: 'user', parts: [{ text: 'One.' }, { text: 'Two.' }] },
      contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
      tools: [
        {
          functionDeclarations: [
            { name: 'read', parametersJsonSchema: { type: 'object', properties: { path: { type: 'string' } }, additionalProperties: false } },
          ],
        },
      ],
    });
    expect(JSON.stringify(sent()['messages'][0])).toMatch(/One\..*Two\./);
    expect(sent()['tools'][0].function.parameters).toMatchObject({ properties: { path: { type: 'string' } } });
    const counted = await post('/v1beta/models/chat:countTokens', { contents: [{ role: 'user', parts: [{ text: 'hi there' }] }] });
    expect(((await counted.json()) as Json).totalTokens).toBeGreaterThan(0);
  });
});

describe('chat clients', () => {
  test('Open WebUI: its headers name the session, its own fields of the body and empty lists disturb no vendor', async () => {
    const body = {
      model: 'messages',
      stream: false,
      messages: [{ role: 'user', content: 'hi' }],
      tools: [],
      metadata: null,
      stop: null,
      files: [],
      params: {},
    };
    outbound.answer = () =>
      jsonScript(200, {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'x',
        content: [{ type: 'text', text: 'ok' }],
        stop_reason: 'end_turn',
        usage: { input_tokens: 1, output_tokens: 1 },
      });
    const reply = await post('/v1/chat/completions', body, { 'x-openwebui-chat-id': 'chat-1', 'x-openwebui-user-name': 'Anna', 'z-request-id': 'open-webui' });
    expect([reply.status, ((await reply.json()) as Json).choices[0].message.content]).toEqual([200, 'ok']);
    expect(Object.keys(sent()).sort()).toEqual(['max_tokens', 'messages', 'model']);
    expect((await gateway.row('open-webui')).session_id).toBe('chat-1');
  });

  test.each(['chat', 'messages', 'generate'])('LangChain: Responses works for a model of any upstream: %s', async (model) => {
    outbound.answer = ({ url }) =>
      url.includes('/messages')
        ? jsonScript(200, {
            id: 'm',
            type: 'message',
            role: 'assistant',
            model: 'x',
            content: [{ type: 'text', text: 'ok' }],
            stop_reason: 'end_turn',
            usage: { input_tokens: 1, output_tokens: 1 },
          })
        : url.includes('generateContent')
          ? jsonScript(200, {
              candidates: [{ content: { role: 'model', parts: [{ text: 'ok' }] }, finishReason: 'STOP' }],
              usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
            })
          : jsonScript(200, spoken);
    const input = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'input_text', text: 'hi' }] },
    ];
    const reply = await post('/v1/responses', { model, input, text: { format: { type: 'text' } }, tools: [], include: [] });
    expect([reply.status, ((await reply.json()) as Json).output[0].content[0].text]).toEqual([200, 'ok']);
  });

  test('Continue: usage that was asked for comes on a chunk of its own, whichever vendor counted it', async () => {
    outbound.answer = () =>
      sse(
        { candidates: [{ content: { role: 'model', parts: [{ text: 'ok' }] } }], usageMetadata: { promptTokenCount: 9, totalTokenCount: 9 } },
        {
          candidates: [{ content: { role: 'model', parts: [{ text: '' }] }, finishReason: 'STOP' }],
          usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 3, totalTokenCount: 12 },
        },
      );
    const body = { model: 'generate', stream: true, stream_options: { include_usage: true }, messages: [{ role: 'user', content: 'hi' }] };
    const text = await (await post('/v1/chat/completions', body)).text();
    expect(eventsOf(text).at(-1)).toMatchObject({ choices: [], usage });
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
  });

  test('the Python SDK of generate-content: its key’s header and query are taken, and its fields in either case', async () => {
    const reply = await fetch(`${gateway.url}/v1beta/models/sees:generateContent?$alt=json`, {
      method: 'POST',
      headers: { 'x-goog-api-key': gateway.key, 'x-goog-api-client': 'google-genai-sdk/1.0 gl-python/3.12', 'content-type': 'application/json' },
      body: JSON.stringify({
        contents: [{ parts: [{ text: 'see' }, { inline_data: { mime_type: 'image/png', data: 'AAAA' } }], role: 'user' }],
        generation_config: { max_output_tokens: 7, stop_sequences: ['END'] },
      }),
    });
    expect([reply.status, ((await reply.json()) as Json).candidates[0].content.parts[0].text]).toEqual([200, 'ok']);
    expect(sent()).toMatchObject({ stop: ['END'], messages: [{ content: [{ text: 'see' }, { image_url: { url: 'data:image/png;base64,AAAA' } }] }] });
  });
});
