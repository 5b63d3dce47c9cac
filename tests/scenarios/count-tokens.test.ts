/** Token counting through three client endpoints: by the upstream's own counter, by tiktoken where it has none or an admin says so, and never a failure. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type InProcessGateway, startInProcess } from '../support/in-process.ts';
import { createScriptedOutbound } from '../support/scripted-outbound.ts';
import { send } from '../support/send.ts';

const outbound = createScriptedOutbound();
let gateway: InProcessGateway;
beforeAll(async () => {
  const api_keys = [{ key: 'sk-one' }];
  const base_url = 'https://up.test';
  gateway = await startInProcess({
    outbound,
    upstreams: [
      { name: 'messages', protocol: 'beta', base_url, api_keys },
      { name: 'told', protocol: 'beta', base_url, api_keys, token_counting: 'tiktoken' },
      { name: 'chat', protocol: 'alpha', base_url, api_keys },
    ],
    models: [
      { name: 'counts', upstream: 'messages', upstream_model_id: 'claude-opus-4-5' },
      { name: 'counts-not', upstream: 'chat', upstream_model_id: 'gpt-4o' },
      { name: 'older', upstream: 'chat', upstream_model_id: 'gpt-4-turbo' },
      { name: 'told', upstream: 'told', upstream_model_id: 'claude-opus-4-5' },
      { name: 'told-otherwise', upstream: 'told', upstream_model_id: 'claude-opus-4-5', token_counting: 'upstreamApi' },
      { name: 'told-by-model', upstream: 'messages', upstream_model_id: 'claude-opus-4-5', token_counting: 'tiktoken' },
    ],
  });
});
afterAll(() => gateway.stop());
beforeEach(() => {
  outbound.script = { contentType: 'application/json', chunks: [Buffer.from('{"input_tokens":4711}')], ending: 'end' };
  outbound.sent.length = 0;
});

const text = 'The quick brown fox jumps over the lazy dog.';
const clientProtocols: Record<string, { path: (model: string) => string; body: (model: string) => object; read: (json: Record<string, unknown>) => unknown }> =
  {
    messages: {
      path: () => '/v1/messages/count_tokens',
      body: (model) => ({ model, messages: [{ role: 'user', content: text }] }),
      read: (json) => json['input_tokens'],
    },
    responses: { path: () => '/v1/responses/input_tokens', body: (model) => ({ model, input: text }), read: (json) => json['input_tokens'] },
    'generate-content': {
      path: (model) => `/v1beta/models/${model}:countTokens`,
      body: () => ({ contents: [{ role: 'user', parts: [{ text }] }] }),
      read: (json) => json['totalTokens'],
    },
  };
let asked = 0;
async function count(client: string, model: string, body = clientProtocols[client]!.body(model), more: Record<string, string> = {}): Promise<unknown> {
  const { path, read } = clientProtocols[client]!;
  const answer = await send(gateway.url, path(model), {
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', ...more },
    body: JSON.stringify(body),
  });
  expect(answer.status).toBe(200);
  return read(answer.json);
}

describe.each(Object.keys(clientProtocols))('%s', (client) => {
  test('the upstream’s own counter', async () => {
    expect(await count(client, 'counts')).toBe(4711);
    expect(outbound.sent.map(({ url }) => url)).toEqual(['https://up.test/v1/messages/count_tokens']);
  });
  test('tiktoken for an upstream without one: nothing is sent', async () => {
    expect(await count(client, 'counts-not')).toBe(10);
    expect(outbound.sent).toEqual([]);
  });
  test('tiktoken when the counter says no', async () => {
    outbound.script = { status: 404, contentType: 'application/json', chunks: [Buffer.from('{}')], ending: 'end' };
    expect(await count(client, 'counts')).toBe(10);
  });
  test.each([
    ['has no counter', 404, 'no_count'],
    ['answers something else', 200, 'no_count'],
    ['fails', 500, 'count_failed'],
    ['refuses the key', 401, 'count_failed'],
  ])('an upstream that %s: the attempt says so', async (_what, status, error_code) => {
    outbound.script = { status, contentType: 'application/json', chunks: [Buffer.from('{}')], ending: 'end' };
    const id = `count-${++asked}`;
    expect(await count(client, 'counts', undefined, { 'z-request-id': id })).toBe(10);
    expect((await gateway.row(id)).attempts).toMatchObject([{ status, error_code }]);
  });
});

test('token_counting of the upstream, overridden by the model', async () => {
  expect(await count('messages', 'told')).toBe(10);
  expect(outbound.sent).toEqual([]);
  expect(await count('messages', 'told-otherwise')).toBe(4711);
  expect(await count('messages', 'told-by-model')).toBe(10);
});

test('the family’s own tokenizer counts', async () => {
  const han = '机器学习模型的网关可以转换协议并且统计令牌数量'.repeat(4);
  const body = { messages: [{ role: 'user', content: han }] };
  const [newer, older] = [
    await count('messages', 'counts-not', { model: 'counts-not', ...body }),
    await count('messages', 'older', { model: 'older', ...body }),
  ];
  expect(Number(older)).toBeGreaterThan(Number(newer) * 1.2);
});

test('images and documents are counted by every counter', async () => {
  const media = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } };
  const tokens = await count('messages', 'counts-not', { model: 'counts-not', messages: [{ role: 'user', content: [{ type: 'text', text }, media] }] });
  expect(tokens).toBe(1210);
});
