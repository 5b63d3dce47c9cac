/** What upstreams should not send, and what becomes of it: bodies that are no reply, redirects, endless errors, forged fields, credentials in error codes. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type InProcessGateway, startInProcess, until } from '../support/in-process.ts';
import { createScriptedOutbound, type Script } from '../support/scripted-outbound.ts';

const secret = 'sk-canary-upstream-4711';
const outbound = createScriptedOutbound();
let gateway: InProcessGateway;
let requests = 0;

const protocols = ['alpha', 'alpha_response', 'beta', 'gamma'] as const;
const bodies = {
  alpha: { messages: [{ role: 'user', content: 'Hi' }] },
  alpha_response: { input: 'Hi' },
  beta: { max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] },
  gamma: { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
};
const paths = { alpha: '/v1/chat/completions', alpha_response: '/v1/responses', beta: '/v1/messages' };

beforeAll(async () => {
  gateway = await startInProcess({
    upstreams: protocols.map((protocol) => ({ name: protocol, protocol, base_url: 'http://upstream.test', api_keys: [{ key: secret }] })),
    models: protocols.map((protocol) => ({ name: `to-${protocol}`, upstream: protocol, upstream_model_id: 'real-model' })),
    outbound,
  });
});
afterAll(() => gateway.stop());
beforeEach(() => {
  outbound.aborted = 0;
});

async function ask(
  client: (typeof protocols)[number],
  upstream: (typeof protocols)[number],
  stream: boolean,
  script: Omit<Script, 'chunks'> & { body: string | readonly (string | Buffer)[] },
) {
  outbound.script = { ...script, chunks: [script.body].flat().map((chunk) => (typeof chunk === 'string' ? Buffer.from(chunk) : chunk)) };
  const id = `odd-${++requests}`;
  const path = client === 'gamma' ? `/v1beta/models/to-${upstream}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}` : paths[client];
  const reply = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', 'z-request-id': id },
    body: JSON.stringify(client === 'gamma' ? bodies.gamma : { model: `to-${upstream}`, stream, ...bodies[client] }),
  });
  return { status: reply.status, text: await reply.text(), row: await gateway.row(id) };
}
const json = (value: unknown, status = 200) => ({ status, contentType: 'application/json', body: JSON.stringify(value), ending: 'end' as const });
const pairs = protocols.flatMap((client) => protocols.map((upstream) => [client, upstream] as const));

describe.each(pairs)('%s from %s', (client, upstream) => {
  test.each([false, true])('a 200 that is no reply is a failure (stream asked: %p)', async (stream) => {
    const { status, text, row } = await ask(client, upstream, stream, json({}));
    expect(status).toBe(502);
    expect(JSON.parse(text)).toHaveProperty('error');
    expect(row).toMatchObject({ status: 502, error_code: 'upstream_bad_reply', usage_source: null });
  });

  test.each([false, true])('what cannot be read is told from what broke off (stream asked: %p)', async (stream) => {
    const page = await ask(client, upstream, stream, { status: 200, contentType: 'text/html', body: '<html>Sign in</html>', ending: 'end' });
    expect(page.row).toMatchObject({ status: 502, error_code: 'upstream_bad_reply' });
    expect(page.text).toContain('The upstream sent a reply that cannot be read.');
    for (const body of ['{"id":"x","object":"chat', '']) {
      const cut = await ask(client, upstream, stream, { status: 200, contentType: 'application/json', body, ending: 'end' });
      expect(cut.row).toMatchObject({ status: 502, error_code: 'upstream_broken' });
      expect(cut.text).toContain('The upstream closed the reply before it was complete.');
    }
  });
});

describe('a model that fails without an answer', () => {
  const word = 'MALFORMED_FUNCTION_CALL';
  const usageMetadata = { promptTokenCount: 21, totalTokenCount: 21 };
  const reply = (parts: object[]) => ({
    candidates: [{ ...(parts.length > 0 && { content: { role: 'model', parts } }), finishReason: word, finishMessage: 'Malformed function call: x(' }],
    usageMetadata,
  });
  const sse = (...chunks: object[]) => ({
    status: 200,
    contentType: 'text/event-stream',
    body: chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join(''),
    ending: 'end' as const,
  });
  const translated = ['alpha', 'alpha_response', 'beta'] as const;

  test.each(translated)('is a failure to a caller of %s, with what it used: an empty answer would end an agent’s work in silence', async (client) => {
    for (const script of [json(reply([])), sse(reply([]))]) {
      const { status, row } = await ask(client, 'gamma', script.contentType !== 'application/json', script);
      expect(status).toBe(502);
      expect(row).toMatchObject({ status: 502, error_code: 'upstream_broken', input_tokens: 21, attempts: [{ error_code: word }] });
    }
  });

  test('ends a stream of thoughts alone as one that broke', async () => {
    const thoughts = { candidates: [{ content: { role: 'model', parts: [{ text: 'Let me see.', thought: true }] } }] };
    const { status, text, row } = await ask('beta', 'gamma', true, sse(thoughts, reply([])));
    expect([status, text.includes('end_turn'), text.includes('Let me see.')]).toEqual([200, false, true]);
    expect(row).toMatchObject({ error_code: 'upstream_broken' });
  });

  test('has answered where it said something', async () => {
    const { status, text, row } = await ask('alpha', 'gamma', false, json(reply([{ text: 'Half.' }])));
    expect([status, JSON.parse(text).choices[0].message.content, JSON.parse(text).choices[0].finish_reason]).toEqual([200, 'Half.', 'stop']);
    expect(row.error_code).toBeNull();
  });

  test('is passed as it is to a caller of its own protocol', async () => {
    const { status, text } = await ask('gamma', 'gamma', false, json(reply([])));
    expect([status, JSON.parse(text).candidates[0].finishReason]).toEqual([200, word]);
  });
});

describe.each(protocols)('a %s upstream', (protocol) => {
  test('is not followed when it redirects, and its words go nowhere', async () => {
    const { status, text, row } = await ask(protocol, protocol, false, {
      status: 307,
      contentType: 'text/plain',
      body: 'go to http://inner.test/',
      ending: 'end',
    });
    expect(status).toBe(502);
    expect(text).not.toContain('inner.test');
    expect(row).toMatchObject({ status: 502, error_code: 'upstream_redirect', attempts: [{ status: 307, error_code: 'redirect' }] });
  });

  test.each([
    ['nest too deep', `${'['.repeat(20_000)}${']'.repeat(20_000)}`],
    ['are no words', '[{"toString":1,"valueOf":1}]'],
  ])('may name a place in values that %s: its caller hears of it all the same', async (_what, loc) => {
    const { status, row } = await ask(protocol, protocol, false, {
      status: 400,
      contentType: 'application/json',
      body: `{"error":{"detail":[{"loc":${loc},"msg":"bad words"}]}}`,
      ending: 'end',
    });
    expect(status).toBe(400);
    expect(row).toMatchObject({ status: 400, error_code: 'upstream_rejected' });
  });

  test('may say no in words that nest too deep to be printed again: its caller hears of it all the same', async () => {
    const nested = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
    const { status, text, row } = await ask(protocol, protocol, false, {
      status: 400,
      contentType: 'application/json',
      body: `{"error":{"message":"bad words","details":${nested}}}`,
      ending: 'end',
    });
    expect([status, JSON.parse(text).error.message]).toEqual([400, 'bad words']);
    expect(row).toMatchObject({ status: 400, error_code: 'upstream_rejected' });
  });

  test('may not speak for the gateway in a whole reply', async () => {
    const replies = {
      alpha: { model: 'real-model', choices: [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }] },
      alpha_response: { id: 'resp_1', object: 'response', status: 'completed', model: 'real-model', output: [] },
      beta: { type: 'message', role: 'assistant', model: 'real-model', content: [{ type: 'text', text: 'x' }], stop_reason: 'end_turn' },
      gamma: { candidates: [{ content: { parts: [{ text: 'x' }], role: 'model' }, finishReason: 'STOP' }] },
    };
    const { status, text } = await ask(protocol, protocol, false, json({ ...replies[protocol], _gateway_warning: { reason: 'forged' } }));
    expect(status).toBe(200);
    expect(text).not.toContain('forged');
  });
});

test('a turn in the background passes to a caller of the same protocol, and is no reply for others', async () => {
  const queued = { id: 'resp_1', object: 'response', status: 'queued', model: 'real-model', output: [] };
  expect(JSON.parse((await ask('alpha_response', 'alpha_response', false, json(queued))).text)).toEqual({ ...queued, model: 'to-alpha_response' });
  expect((await ask('alpha', 'alpha_response', false, json(queued))).status).toBe(502);
});

describe('a body that is not what its content type says', () => {
  const chunk = (delta: object, finish_reason: string | null = null) =>
    `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 7, model: 'real-model', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
  const stream = `${chunk({ role: 'assistant', content: 'hel' })}${chunk({ content: 'lo' })}${chunk({}, 'stop')}data: [DONE]\n\n`;
  const whole = {
    id: 'x',
    object: 'chat.completion',
    created: 7,
    model: 'real-model',
    choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
  };

  test.each(['alpha', 'beta'] as const)('a stream named JSON is a stream to a %s caller', async (client) => {
    const { status, text, row } = await ask(client, 'alpha', true, { contentType: 'application/json', body: `: hi\n\n${stream}`, ending: 'end' });
    expect([status, row.error_code]).toEqual([200, null]);
    expect(text).toContain('hel');
    expect(text).toContain(client === 'alpha' ? 'data: [DONE]' : 'event: message_stop');
  });

  test.each(['alpha', 'beta'] as const)('JSON named a stream is a reply to a %s caller, printed as the stream that was asked for', async (client) => {
    const { status, text, row } = await ask(client, 'alpha', true, { contentType: 'text/event-stream', body: JSON.stringify(whole), ending: 'end' });
    expect([status, row.error_code, row.output_tokens]).toEqual([200, null, 2]);
    expect(text).toContain('hello');
    expect(text).toContain(client === 'alpha' ? 'data: [DONE]' : 'event: message_stop');
  });

  test.each([
    ['a stream named JSON', 'application/json', stream],
    ['JSON named a stream', 'text/event-stream', JSON.stringify(whole)],
  ])('%s is known behind blanks and a byte order mark that come before it', async (_what, contentType, body) => {
    for (const before of [['\n'], [Buffer.from([0xef]), Buffer.from([0xbb, 0xbf])], ['\n\r\n', '\n'], ['\n'.repeat(30_000), '\n'.repeat(30_000)]])
      for (const client of ['alpha', 'beta'] as const) {
        const { status, text, row } = await ask(client, 'alpha', true, { contentType, body: [...before, body], ending: 'end' });
        expect([status, row.error_code, text.includes('hel')]).toEqual([200, null, true]);
        expect(text).toContain(client === 'alpha' ? 'data: [DONE]' : 'event: message_stop');
      }
  });

  test('an error named a stream is that error', async () => {
    const error = { error: { message: 'messages are wrong', type: 'invalid_request_error', code: 400 } };
    const { status, text } = await ask('alpha_response', 'alpha', true, { contentType: 'text/event-stream', body: JSON.stringify(error), ending: 'end' });
    expect([status, text.includes('messages are wrong')]).toEqual([400, true]);
  });

  test.each(['alpha', 'beta'] as const)('a stream that nobody asked for is gathered for a %s caller', async (client) => {
    const { status, text } = await ask(client, 'alpha', false, { contentType: 'text/event-stream', body: stream, ending: 'end' });
    expect(status).toBe(200);
    const body = JSON.parse(text);
    expect(client === 'alpha' ? body.choices[0].message.content : body.content[0].text).toBe('hello');
    expect(body.model).toBe('to-alpha');
  });
});

test('a reply without counts was not free: they are estimated, and the caller is told the same', async () => {
  const reply = { candidates: [{ index: 0, content: { role: 'model', parts: [{ text: 'four words of text' }] }, finishReason: 'STOP' }] };
  for (const client of protocols) {
    const { text, row } = await ask(client, 'gamma', false, json(reply));
    expect([row.usage_source, row.output_tokens]).toEqual(['estimated', 5]);
    if (client === 'beta') expect(JSON.parse(text).usage).toMatchObject({ input_tokens: row.input_tokens, output_tokens: 5 });
  }
});

test('pages that a chat completion cites reach a Responses caller, beside calls too', async () => {
  const cited = { type: 'url_citation', url_citation: { url: 'https://page.test/', title: 'Page', start_index: 0, end_index: 4 } };
  const tool_calls = [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }];
  const message = { role: 'assistant', content: 'Said', annotations: [cited], tool_calls };
  const { text } = await ask(
    'alpha_response',
    'alpha',
    false,
    json({ id: 'x', model: 'real-model', choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }),
  );
  expect(JSON.parse(text).output).toMatchObject([
    {
      type: 'message',
      content: [{ text: 'Said', annotations: [{ type: 'url_citation', url: 'https://page.test/', title: 'Page', start_index: 0, end_index: 4 }] }],
    },
    { type: 'function_call', call_id: 'call_1' },
  ]);
});

test('thinking between tags is thinking to other protocols, however many words alike come before its end', async () => {
  const words = Array.from({ length: 40 }, (_, at) => `word${at} `);
  const pieces = ['<think>', ...words, '</thi', 'nk>', '\n\n', ...words];
  const chunk = (delta: object, finish_reason: string | null = null) =>
    `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 7, model: 'real-model', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
  const body = `${pieces.map((content) => chunk({ content })).join('')}${chunk({}, 'stop')}data: [DONE]\n\n`;
  const { text } = await ask('beta', 'alpha', true, { body, ending: 'end' });
  const deltas = text.split('\n').flatMap((line) => (line.startsWith('data: ') ? [JSON.parse(line.slice(6)).delta] : []));
  const joined = (kind: string) => deltas.map((delta) => delta?.[kind] ?? '').join('');
  expect([joined('thinking'), joined('text')]).toEqual([words.join(''), words.join('')]);
  // Between equal protocols the bytes stay.
  const same = await ask('alpha', 'alpha', true, { body, ending: 'end' });
  expect(same.text).toBe(body.replaceAll('real-model', 'to-alpha'));
});

describe('a stream that breaks without having told its usage', () => {
  const event = (value: object) => `data: ${JSON.stringify(value)}\r\n\r\n`;
  const body = event({ candidates: [{ index: 0, content: { role: 'model', parts: [{ text: 'four words of text' }] } }] });

  test.each(['alpha', 'alpha_response', 'beta', 'gamma'] as const)('ends with the figures of its row for a %s caller', async (client) => {
    outbound.script = { chunks: [Buffer.from(body)], ending: 'reset' };
    const id = `odd-${++requests}`;
    const path = client === 'gamma' ? '/v1beta/models/to-gamma:streamGenerateContent?alt=sse' : paths[client];
    const asked =
      client === 'gamma'
        ? bodies.gamma
        : { model: 'to-gamma', stream: true, ...bodies[client], ...(client === 'alpha' && { stream_options: { include_usage: true } }) };
    const reply = await fetch(gateway.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', 'z-request-id': id },
      body: JSON.stringify(asked),
    });
    const text = await reply.text();
    const row = await gateway.row(id);
    expect([row.usage_source, row.output_tokens]).toEqual(['estimated', 5]);
    const described = {
      alpha: `"prompt_tokens":${row.input_tokens},"completion_tokens":5`,
      alpha_response: `"usage":{"input_tokens":${row.input_tokens},`,
      beta: '"output_tokens":5',
      gamma: `"usageMetadata":{"promptTokenCount":${row.input_tokens},"candidatesTokenCount":5`,
    };
    expect(text).toContain(described[client]);
    expect(text).toContain('_gateway_warning');
  });
});

test('a streamed event of several data lines stays one event when a value in it changes', async () => {
  const data = [
    '{"id":"x","model":"real-model","_gateway_warning":{"reason":"forged"},',
    '"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}',
  ];
  const { text } = await ask('alpha', 'alpha', true, { body: `data: ${data.join('\ndata: ')}\n\ndata: [DONE]\n\n`, ending: 'end' });
  const [first] = text.split('\n\n');
  const lines = first!.split('\n');
  expect(lines.every((line) => line.startsWith('data: '))).toBe(true);
  expect(JSON.parse(lines.map((line) => line.slice(6)).join('\n'))).toEqual({
    id: 'x',
    model: 'to-alpha',
    choices: [{ index: 0, delta: { content: 'hi' }, finish_reason: 'stop' }],
  });
});

describe('errors', () => {
  test('a credential in the code of an error reaches neither row nor log, and codes are short', async () => {
    const { row, text } = await ask('alpha', 'alpha', false, json({ error: { message: 'x', code: `bad ${secret} ${'x'.repeat(500)}` } }, 401));
    expect(row.attempts[0]!.error_code!.length).toBeLessThanOrEqual(64);
    expect(JSON.stringify([row, text, gateway.logs])).not.toContain(secret);
  });

  test('what would be the same next time is told to SDKs, which would try it twice more', async () => {
    const shouldRetry = async (status: number, body: unknown, key = gateway.key) => {
      outbound.script = { status, contentType: 'application/json', chunks: [Buffer.from(JSON.stringify(body))], ending: 'end' };
      const reply = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'to-alpha', ...bodies.alpha }),
      });
      return [reply.status, reply.headers.get('x-should-retry')];
    };
    expect(await shouldRetry(401, { error: { message: 'no' } })).toEqual([502, 'false']);
    expect(await shouldRetry(500, { error: { message: 'oops' } })).toEqual([502, null]);
    expect(await shouldRetry(400, { error: { message: 'bad' } })).toEqual([400, null]);
    // Claude Code repeats this one ten times where it is not told.
    expect(await shouldRetry(200, {}, 'gk-revoked')).toEqual([401, 'false']);
  });

  test('a credential that stands where a long message is cut leaves no half of itself', async () => {
    for (const protocol of protocols) {
      const { text } = await ask(
        'beta',
        protocol,
        false,
        json({ error: { message: `${'x'.repeat(1988)} ${secret}`, code: 400, status: 'INVALID_ARGUMENT' } }, 400),
      );
      expect(text).toContain('xxx');
      expect(text).not.toContain('sk-canary');
    }
  });

  test('a field that an error names is cleaned too', async () => {
    const { text } = await ask('alpha_response', 'alpha', false, json({ error: { message: 'x', param: `messages.${secret}` } }, 400));
    expect(text).not.toContain(secret);
  });

  test('a body too large to pass on is told in our shape, not in half of its own', async () => {
    const { status, text } = await ask('alpha', 'alpha', false, json({ error: { message: 'y'.repeat(100_000), type: 'invalid_request_error' } }, 400));
    expect(status).toBe(400);
    expect(JSON.parse(text).error.message).toMatch(/^y+/);
  });

  test('a body that never ends is not read for ever', async () => {
    const { status } = await ask('alpha', 'alpha', false, { status: 500, contentType: 'text/plain', body: 'x'.repeat(300_000), ending: 'hang' });
    expect(status).toBe(502);
    await until(() => outbound.aborted === 1, 'the upstream call to be given up');
  });
});

test('counting tokens uses none', async () => {
  outbound.script = { contentType: 'application/json', chunks: [Buffer.from('{"input_tokens":7}')], ending: 'end' };
  const reply = await fetch(`${gateway.url}/v1/messages/count_tokens`, {
    method: 'POST',
    headers: { 'x-api-key': gateway.key, 'content-type': 'application/json', 'z-request-id': 'odd-count' },
    body: JSON.stringify({ model: 'to-beta', messages: bodies.beta.messages }),
  });
  expect(await reply.json()).toEqual({ input_tokens: 7 });
  expect(await gateway.row('odd-count')).toMatchObject({ status: 200, input_tokens: 0, usage_source: null });
});
