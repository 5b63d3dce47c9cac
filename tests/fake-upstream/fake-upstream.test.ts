import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import OpenAI from 'openai';
// The generate-content SDK looks for undici's dispatcher on the global object, which jest gives each test afresh.
import 'undici';
import { type FakeUpstream, haveFixtures, readReply, startFakeUpstream } from './index.ts';

let upstream: FakeUpstream;
beforeAll(async () => {
  // The faults below are asked for by bodies that hold nothing else.
  upstream = await startFakeUpstream({ strict: false });
});
afterAll(() => upstream.close());

const post = (path: string, body: unknown, signal: AbortSignal | null = null): Promise<Response> =>
  fetch(upstream.url + path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body), redirect: 'manual', signal });
const chat = (model: string, stream = true, extra: object = {}) =>
  post('/v1/chat/completions', { model, stream, messages: [{ role: 'user', content: 'hello there, fake' }], ...extra });
const last = () => upstream.requests.at(-1)!;
const weather = { type: 'object', properties: { city: { type: 'string' } } } as const;

describe('official SDKs read its replies', () => {
  let upstream: FakeUpstream;
  beforeAll(async () => {
    upstream = await startFakeUpstream();
  });
  afterAll(() => upstream.close());

  test('chat completions: whole, stream, tool loop', async () => {
    const client = new OpenAI({ baseURL: `${upstream.url}/v1`, apiKey: 'k' });
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'hello é 名' }];
    expect((await client.chat.completions.create({ model: 'ok', messages })).choices[0]?.message.content).toBe('hello é 名');
    const stream = client.chat.completions.stream({ model: 'ok', messages, stream_options: { include_usage: true } });
    expect(await stream.finalContent()).toBe('hello é 名');
    expect((await stream.totalUsage()).total_tokens).toBeGreaterThan(0);
    const tools: OpenAI.ChatCompletionTool[] = [{ type: 'function', function: { name: 'weather', parameters: weather } }];
    const called = await client.chat.completions.stream({ model: 'ok:{"city":"a+b"}', messages, tools }).finalChatCompletion();
    const call = called.choices[0]?.message.tool_calls?.[0];
    expect(call).toMatchObject({ function: { name: 'weather', arguments: '{"city":"a+b"}' } });
    const after = await client.chat.completions.create({
      model: 'ok',
      tools,
      messages: [...messages, called.choices[0]!.message, { role: 'tool', tool_call_id: call!.id, content: 'sunny' }],
    });
    expect(after.choices[0]?.message.content).toBe('result: sunny');
    expect((await client.models.list()).data.map((one) => one.id)).toContain('ok');
  });

  test('responses: whole, stream, tool call', async () => {
    const client = new OpenAI({ baseURL: `${upstream.url}/v1`, apiKey: 'k' });
    expect((await client.responses.create({ model: 'ok', input: 'hello' })).output_text).toBe('hello');
    const final = await client.responses.stream({ model: 'text:3', input: 'hello' }).finalResponse();
    expect(final.output_text).toBe('word0 word1 word2 ');
    const called = await client.responses
      .stream({ model: 'ok:{"city":"x"}', input: 'hello', tools: [{ type: 'function', name: 'weather', parameters: weather, strict: null }] })
      .finalResponse();
    expect(called.output[0]).toMatchObject({ type: 'function_call', name: 'weather', arguments: '{"city":"x"}' });
    expect(await client.responses.inputTokens.count({ model: 'ok', input: 'hello' })).toEqual({ object: 'response.input_tokens', input_tokens: 3 });
  });

  test('messages: whole, stream, tool loop, counting', async () => {
    const client = new Anthropic({ baseURL: upstream.url, apiKey: 'k', maxRetries: 0 });
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'hello' }];
    expect((await client.messages.create({ model: 'ok', max_tokens: 9, messages })).content).toMatchObject([{ type: 'text', text: 'hello' }]);
    expect(await client.messages.stream({ model: 'ok', max_tokens: 9, messages }).finalText()).toBe('hello');
    const tools: Anthropic.Tool[] = [{ name: 'weather', input_schema: weather }];
    const called = await client.messages.stream({ model: 'ok:{"city":"x"}', max_tokens: 9, messages, tools }).finalMessage();
    expect(called).toMatchObject({ stop_reason: 'tool_use', content: [{ type: 'tool_use', name: 'weather', input: { city: 'x' } }] });
    const result: Anthropic.MessageParam = {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: (called.content[0] as Anthropic.ToolUseBlock).id, content: 'sunny' }],
    };
    const after = await client.messages.create({
      model: 'ok',
      max_tokens: 9,
      tools,
      messages: [...messages, { role: 'assistant', content: called.content }, result],
    });
    expect(after.content).toMatchObject([{ text: 'result: sunny' }]);
    expect((await client.messages.countTokens({ model: 'ok', messages })).input_tokens).toBe(3);
    expect((await client.models.list()).data.map((one) => one.id)).toContain('ok');
    await expect(client.messages.create({ model: 'err:529', max_tokens: 9, messages })).rejects.toMatchObject({
      status: 529,
      error: { error: { type: 'overloaded_error' } },
    });
  });

  test('generate content: whole, stream, tool call, counting', async () => {
    const client = new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl: upstream.url } });
    expect((await client.models.generateContent({ model: 'ok', contents: 'hello' })).text).toBe('hello');
    let text = '';
    for await (const chunk of await client.models.generateContentStream({ model: 'text:3', contents: 'hello' })) text += chunk.text ?? '';
    expect(text).toBe('word0 word1 word2 ');
    const called = await client.models.generateContent({
      model: 'ok',
      contents: 'hello',
      config: { tools: [{ functionDeclarations: [{ name: 'weather' }] }] },
    });
    expect(called.functionCalls).toMatchObject([{ name: 'weather', args: {} }]);
    expect((await client.models.countTokens({ model: 'ok', contents: 'hello' })).totalTokens).toBe(3);
  });
});

test('each message has an id of its own', async () => {
  const ask = () =>
    new Anthropic({ apiKey: 'k', baseURL: upstream.url }).messages.create({ model: 'ok', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] });
  expect((await ask()).id).not.toBe((await ask()).id);
});

test('a model that a test wrote says its words in front of its call, whole and streamed', async () => {
  const saying = await startFakeUpstream({ strict: false, play: () => ({ text: 'I look first.', call: 'look', args: { at: 'it' } }) });
  try {
    const content = 'hello';
    const ask = async (path: string, body: object) => {
      const reply = await fetch(saying.url + path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
      return reply.text();
    };
    const messages = [{ role: 'user', content }];
    const contents = [{ role: 'user', parts: [{ text: content }] }];
    for (const [path, body] of [
      ['/v1/chat/completions', { model: 'play', messages }],
      ['/v1/responses', { model: 'play', input: content }],
      ['/v1/messages', { model: 'play', max_tokens: 9, messages }],
      ['/v1beta/models/play:generateContent', { contents }],
      ['/model/play/converse', { messages: [{ role: 'user', content: [{ text: content }] }] }],
    ] as const) {
      const whole = await ask(path, body);
      expect({ path, said: whole.indexOf('I look first.') > 0, called: whole.indexOf('look"') > whole.indexOf('I look first.') }).toEqual({
        path,
        said: true,
        called: true,
      });
    }
    for (const [path, body] of [
      ['/v1/chat/completions', { model: 'play', stream: true, messages }],
      ['/v1/responses', { model: 'play', stream: true, input: content }],
      ['/v1/messages', { model: 'play', stream: true, max_tokens: 9, messages }],
      ['/v1beta/models/play:streamGenerateContent?alt=sse', { contents }],
      ['/model/play/converse-stream', { messages: [{ role: 'user', content: [{ text: content }] }] }],
    ] as const) {
      const streamed = await ask(path, body);
      // In four pieces.
      expect({ path, said: streamed.indexOf('I lo') > 0, called: streamed.indexOf('"look"') > streamed.indexOf('I lo') }).toEqual({
        path,
        said: true,
        called: true,
      });
    }
  } finally {
    await saying.close();
  }
});

test('a stream of generate content without alt=sse is one list', async () => {
  const array = await post('/v1beta/models/text:2:streamGenerateContent', { contents: [{ parts: [{ text: 'x' }] }] });
  expect(((await array.json()) as unknown[]).length).toBe(2);
});

describe('a vendor’s eyes', () => {
  let strict: FakeUpstream;
  beforeAll(async () => {
    strict = await startFakeUpstream();
  });
  afterEach(() => void strict.takeRefusals());
  afterAll(() => strict.close());

  const ask = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const response = await fetch(strict.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    // biome-ignore lint/suspicious/noExplicitAny: replies of several protocols.
    return { status: response.status, json: (await response.json()) as any };
  };
  const user = { role: 'user', content: 'hello' };
  const key = (name: string) => ({ 'x-api-key': name, 'anthropic-version': '2023-06-01' });

  test('the model in front of the script says who looks', async () => {
    const body = { messages: [{ role: 'developer', content: 'short' }, user] };
    expect((await ask('/v1/chat/completions', { model: 'ok', ...body })).status).toBe(200);
    expect((await ask('/v1/chat/completions', { model: 'gpt-4o@text:2', ...body })).status).toBe(200);
    expect(await ask('/v1/chat/completions', { model: 'deepseek-v3.2@text:2', ...body })).toMatchObject({
      status: 400,
      json: { error: { message: expect.stringContaining('unknown variant `developer`') } },
    });
    expect(await ask('/v1/chat/completions', { model: 'mistral-large-latest@ok', ...body })).toMatchObject({ status: 422, json: { object: 'error' } });
    expect(strict.requests.at(-1)?.refusal?.rule).toBe('alpha.mistral.role');
    expect(strict.requests.at(-3)?.refusal).toBe(null);
  });

  test('a signature is taken from the account and the model that it was made for', async () => {
    const model = 'claude-sonnet-4-5@think';
    const first = await ask('/v1/messages', { model, max_tokens: 50, messages: [user] }, key('one'));
    const messages = [user, { role: 'assistant', content: first.json.content }, user];
    expect(first.json.content[0].signature.length).toBeGreaterThan(20);
    expect((await ask('/v1/messages', { model, max_tokens: 50, messages }, key('one'))).status).toBe(200);
    for (const [other, account] of [
      [model, 'two'],
      ['claude-opus-4-5@think', 'one'],
    ] as const)
      expect(await ask('/v1/messages', { model: other, max_tokens: 50, messages }, key(account))).toMatchObject({
        status: 400,
        json: { type: 'error', error: { message: 'messages.1.content.0: Invalid `signature` in `thinking` block' } },
      });
  });

  test('streams and binary streams give signatures as well', async () => {
    const streamed = async (path: string, body: object, headers: Record<string, string>) => {
      const response = await fetch(strict.url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      });
      return Buffer.from(await response.arrayBuffer()).toString('latin1');
    };
    const text = await streamed('/v1/messages', { model: 'think', stream: true, max_tokens: 50, messages: [user] }, key('one'));
    const signature = /"signature":"([^"]{9,})"/.exec(text)?.[1];
    const binary = await streamed(
      '/model/think/converse-stream',
      { messages: [{ role: 'user', content: [{ text: 'hello' }] }] },
      { authorization: 'Bearer a' },
    );
    const other = /"signature":"([^"]{9,})"/.exec(binary)?.[1];
    const thought = {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'I think about it.', signature },
        { type: 'text', text: 'hm' },
      ],
    };
    expect((await ask('/v1/messages', { model: 'ok', max_tokens: 50, messages: [user, thought, user] }, key('one'))).status).toBe(200);
    const hello = { role: 'user', content: [{ text: 'hello' }] };
    const reasoned = { role: 'assistant', content: [{ reasoningContent: { reasoningText: { text: 'hm', signature: other } } }, { text: 'hm' }] };
    expect((await ask('/model/ok/converse', { messages: [hello, reasoned, hello] }, { authorization: 'Bearer a' })).status).toBe(200);
    expect((await ask('/model/ok/converse', { messages: [hello, reasoned, hello] }, { authorization: 'Bearer b' })).status).toBe(400);
  });

  test('stored responses and items are known again, others are not', async () => {
    const stored = await ask('/v1/responses', { model: 'think', input: 'hello' });
    const kept = await ask('/v1/responses', { model: 'think', input: 'hello', store: false });
    const byId = (id: string) => ask('/v1/responses', { model: 'ok', input: 'go on', previous_response_id: id });
    expect((await byId(stored.json.id)).status).toBe(200);
    expect(await byId(kept.json.id)).toMatchObject({ status: 400, json: { error: { code: 'previous_response_not_found' } } });
    const replay = ([reasoning, message]: Record<string, unknown>[], more: object = {}) =>
      ask('/v1/responses', { model: 'ok', store: false, input: [user, { ...reasoning, ...more }, message, user] });
    expect((await replay(kept.json.output)).status).toBe(200);
    expect((await replay(stored.json.output, { encrypted_content: null })).status).toBe(200);
    expect(await replay(kept.json.output, { encrypted_content: null })).toMatchObject({ status: 404 });
    expect(await replay(kept.json.output, { encrypted_content: 'gAAAAABstranger' })).toMatchObject({ json: { error: { code: 'invalid_encrypted_content' } } });
  });

  test('thought signatures of Gemini 3 are asked for and checked', async () => {
    const declared = { tools: [{ functionDeclarations: [{ name: 'weather' }] }] };
    const path = '/v1beta/models/gemini-3-flash-preview@think:generateContent';
    const contents = [{ role: 'user', parts: [{ text: 'hello' }] }];
    const { parts } = (await ask(path, { contents, ...declared })).json.candidates[0].content;
    const call = parts.find((part: { functionCall?: object }) => part.functionCall);
    const results = { role: 'user', parts: [{ functionResponse: { name: 'weather', response: { output: 'sunny' } } }] };
    const answer = (thoughtSignature: string | undefined) =>
      ask(path, { contents: [...contents, { role: 'model', parts: [{ ...call, thoughtSignature }] }, results], ...declared });
    expect((await answer(call.thoughtSignature)).status).toBe(200);
    expect(await answer(undefined)).toMatchObject({ status: 400, json: { error: { status: 'INVALID_ARGUMENT' } } });
    expect((await answer('c3RyYW5nZXI=')).status).toBe(400);
  });

  test('a refusal that nobody takes fails the suite', async () => {
    const forgotten = await startFakeUpstream();
    await fetch(`${forgotten.url}/v1/chat/completions`, { method: 'POST', body: JSON.stringify({ model: 'ok', messages: [] }) });
    await expect(forgotten.close()).rejects.toThrow('alpha.openai.empty-messages');
  });
});

describe('scripted faults', () => {
  test('errors in the shape of each protocol', async () => {
    const limited = await chat('err:429:rate_limit_exceeded:7');
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '7']);
    expect(await limited.json()).toMatchObject({ error: { code: 'rate_limit_exceeded' } });
    expect(await (await post('/v1beta/models/err:503:generateContent', {})).json()).toMatchObject({ error: { code: 503, status: 'UNAVAILABLE' } });
    expect((await chat('no-such-model')).status).toBe(404);
    expect((await post('/v1/nothing', {})).status).toBe(404);
  });

  test('cut@k resets after exactly k bytes', async () => {
    const response = await chat('text:50+cut@700');
    const reader = response.body!.getReader();
    let bytes = 0;
    await expect(
      (async () => {
        for (let part = await reader.read(); !part.done; part = await reader.read()) bytes += part.value.length;
      })(),
    ).rejects.toThrow();
    await last().whenClosed;
    expect([bytes, last().bytesWritten, last().closed?.reason]).toEqual([700, 700, 'cut']);
  });

  test('eof@k ends cleanly after k bytes', async () => {
    expect((await (await chat('eof@300')).arrayBuffer()).byteLength).toBe(300);
    await last().whenClosed;
    expect(last().closed?.reason).toBe('finished');
    expect((await (await chat('eof@0')).arrayBuffer()).byteLength).toBe(0);
  });

  test('stall@k and hang never end; a caller that leaves is noticed', async () => {
    const stalled = await chat('stall@200', true);
    const reader = stalled.body!.getReader();
    expect((await reader.read()).value?.length).toBeGreaterThan(0);
    await reader.cancel();
    await last().whenClosed;
    expect([last().bytesWritten, last().closed?.reason]).toEqual([200, 'left']);
    const received = upstream.requests.length;
    const leaving = new AbortController();
    const hanging = post('/v1/messages', { model: 'hang', messages: [] }, leaving.signal);
    while (upstream.requests.length === received) await new Promise((resolve) => setTimeout(resolve, 5));
    leaving.abort();
    await expect(hanging).rejects.toThrow();
    await last().whenClosed;
    expect([last().bytesWritten, last().closed?.reason]).toEqual([0, 'left']);
  });

  test('an error inside the stream', async () => {
    expect(await (await chat('midstream-error')).text()).toMatch(/word3.*"error":\{"message":"The fake upstream is overloaded/s);
    expect(await (await post('/v1/messages', { model: 'midstream-error', stream: true })).text()).toContain('event: error\n');
  });

  test('pace, single bytes, garbage, size, redirect, compression', async () => {
    const started = performance.now();
    await (await chat('text:10+slow:20')).text();
    expect(performance.now() - started).toBeGreaterThan(200);
    expect(await (await chat('split1+text:2')).text()).toContain('data: [DONE]');
    expect(await (await chat('garbage')).text()).toContain('<html>');
    expect((await (await chat('big:300000')).text()).length).toBeGreaterThan(300_000);
    const redirect = await chat('redir');
    expect([redirect.status, redirect.headers.get('location')]).toEqual([302, '/v1/elsewhere']);
    const gzip = await chat('gzip', false);
    expect(gzip.headers.get('content-encoding')).toBe('gzip');
    expect(await gzip.json()).toMatchObject({ object: 'chat.completion' });
  });

  test('pump goes on until the caller leaves, and waits for a slow one', async () => {
    const response = await chat('pump');
    const reader = response.body!.getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toContain('data: {');
    // Until what lies between both is full.
    for (let before = -1; before !== last().bytesWritten; ) {
      before = last().bytesWritten;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    await reader.cancel();
    await last().whenClosed;
    expect(last().closed?.reason).toBe('left');
  });

  test('requests are kept as they came', async () => {
    await (await post('/v1/chat/completions?x=1', { model: 'ok', messages: [] })).text();
    expect(last()).toMatchObject({ method: 'POST', path: '/v1/chat/completions?x=1', json: { model: 'ok' }, headers: { 'content-type': 'application/json' } });
    expect(last().body.toString()).toBe('{"model":"ok","messages":[]}');
  });
});

if (!haveFixtures()) {
  console.log('fake-upstream: recorded replies were not replayed, the fixtures are absent');
  test('recordings are present when required', () => expect(process.env['FIXTURES_REQUIRED']).not.toBe('1'));
} else {
  test.each([
    ['alpha', 'err-midstream', 2, '/v1/chat/completions'],
    ['alpha', 'err-429-retry-after', 1, '/v1/chat/completions'],
    ['beta', 'text-stream', 1, '/v1/messages'],
  ])('replays %s/%s/%d byte for byte', async (protocol, name, n, path) => {
    const recorded = readReply(protocol, name, n)!;
    const response = await post(path, { model: `fixture/${protocol}/${name}/${n}` });
    expect(response.status).toBe(recorded.status);
    expect(response.headers.get('content-type')).toBe(recorded.headers['content-type']);
    expect(Buffer.from(await response.arrayBuffer()).equals(recorded.body)).toBe(true);
  });

  test('a recording can be cut, and a missing one is a 404', async () => {
    expect((await (await post('/v1/messages', { model: 'fixture/beta/text-stream+eof@50' })).arrayBuffer()).byteLength).toBe(50);
    expect((await post('/v1/messages', { model: 'fixture/beta/no-such-case' })).status).toBe(404);
    expect((await post('/v1beta/models/fixture%2Fgamma%2Ftext-unary:generateContent', {})).status).toBe(200);
    expect((await post('/v1beta/models/fixture/gamma/text-unary:generateContent', {})).status).toBe(200);
  });
}
