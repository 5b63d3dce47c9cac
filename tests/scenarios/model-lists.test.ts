/** Pains 22 and 25 through the gateway: lists of models tell true limits, carry a tag, and hold what each kind of client reads. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type InProcessGateway, startInProcess } from '../support/in-process.ts';
import { createAnsweringOutbound, jsonScript } from '../support/scripted-upstream.ts';

const outbound = createAnsweringOutbound();
let gateway: InProcessGateway;
beforeAll(async () => {
  gateway = await startInProcess({
    upstreams: [{ name: 'up', protocol: 'alpha', base_url: 'http://upstream.test', api_keys: [{ key: 'sk-1' }] }],
    models: [
      { name: 'claude-big', upstream: 'up', upstream_model_id: 'claude-opus-4-6' },
      { name: 'small', upstream: 'up', upstream_model_id: 'gpt-4o', aliases: ['also-small'] },
      { name: 'own', upstream: 'up', upstream_model_id: 'my-finetune', extra_config: { context_window: 65_536, max_output_tokens: 4096 } },
      { name: 'apart', upstream: 'up', upstream_model_id: 'gpt-5.2' },
      { name: 'unknown', upstream: 'up', upstream_model_id: 'no-such' },
      { name: 'vectors', upstream: 'up', upstream_model_id: 'no-such-embedder', protocol: 'alpha_embeddings' },
      { name: 'ranks', upstream: 'up', upstream_model_id: 'no-such-reranker', protocol: 'alpha_rerank' },
      { name: 'pictures', upstream: 'up', upstream_model_id: 'no-such-painter', protocol: 'alpha_images' },
    ],
    loadBalancers: [
      { name: 'both', entries: [{ model: 'claude-big' }, { model: 'small' }, { model: 'apart' }] },
      { name: 'spare-vectors', entries: [{ model: 'vectors' }] },
    ],
    outbound,
  });
});
afterAll(() => gateway.stop());

const get = async (path: string, headers: Record<string, string> = {}) => {
  const reply = await fetch(gateway.url + path, { headers: { authorization: `Bearer ${gateway.key}`, ...headers } });
  const text = await reply.text();
  return { status: reply.status, headers: reply.headers, json: text === '' ? null : JSON.parse(text) };
};
const version = { 'anthropic-version': '2023-06-01' };

describe('pain 22: limits', () => {
  const limits = {
    'claude-big': [1_000_000, 128_000],
    small: [128_000, 16_384],
    'also-small': [128_000, 16_384],
    own: [65_536, 4096],
    // Of its window of 400,000 a prompt may fill what the longest reply leaves.
    apart: [272_000, 128_000],
    unknown: [],
    vectors: [],
    ranks: [],
    pictures: [],
    both: [128_000, 16_384],
    'spare-vectors': [],
  };

  test('in every shape; those of a load balancer are what all of its models keep to', async () => {
    const pick = (list: Record<string, unknown>[], name: string, ...fields: string[]) =>
      Object.fromEntries(list.map((one) => [String(one[name]).replace(/^models\//, ''), fields.flatMap((field) => one[field] ?? [])]));
    expect(pick((await get('/v1/models')).json.data, 'id', 'max_input_tokens', 'max_completion_tokens')).toEqual(limits);
    expect(pick((await get('/v1/models')).json.data, 'id', 'context_window')).toMatchObject({ own: [65_536], apart: [400_000], unknown: [], both: [128_000] });
    expect(pick((await get('/v1/models?limit=1000', version)).json.data, 'id', 'max_input_tokens', 'max_tokens')).toEqual(limits);
    expect(pick((await get('/v1beta/models')).json.models, 'name', 'inputTokenLimit', 'outputTokenLimit')).toEqual(limits);
    expect(pick((await get('/v1/models?client_version=0.99.0')).json.models, 'slug', 'context_window')).toMatchObject({
      own: [65_536],
      apart: [272_000],
      unknown: [],
    });
    expect((await get('/v1/model/info')).json.data[0]).toMatchObject({ model_name: 'claude-big', model_info: { max_input_tokens: 1_000_000 } });
  });

  test('pages, as the discovery of one agent asks for them', async () => {
    const first = (await get('/v1/models?limit=2', version)).json;
    expect(first).toMatchObject({ has_more: true, first_id: 'claude-big', last_id: 'small' });
    expect((await get(`/v1/models?limit=100&after_id=${first.last_id}`, version)).json).toMatchObject({ has_more: false, first_id: 'also-small' });
    expect(await get('/v1/models?limit=0', version)).toMatchObject({ status: 400, json: { type: 'error', error: { type: 'invalid_request_error' } } });
  });
});

test('what a model is served for: clients choose by it', async () => {
  const { models } = (await get('/v1beta/models')).json as { models: { name: string; thinking?: boolean; supportedGenerationMethods: string[] }[] };
  const methods = Object.fromEntries(models.map((one) => [one.name, one.supportedGenerationMethods]));
  const embedding = ['embedContent', 'batchEmbedContents'];
  expect(methods).toMatchObject({
    'models/small': ['generateContent', 'streamGenerateContent', 'countTokens'],
    'models/both': ['generateContent', 'streamGenerateContent', 'countTokens'],
    'models/vectors': embedding,
    'models/spare-vectors': embedding,
    'models/ranks': [],
    'models/pictures': ['predict'],
  });
  expect(models.find(({ name }) => name === 'models/vectors')).not.toHaveProperty('thinking');
  expect((await get('/v1beta/models/vectors')).json.supportedGenerationMethods).toEqual(embedding);
  const { data } = (await get('/v1/model/info')).json as { data: { model_name: string; model_info: { mode: string | null } }[] };
  expect(Object.fromEntries(data.map((one) => [one.model_name, one.model_info.mode]))).toMatchObject({
    small: 'chat',
    vectors: 'embedding',
    ranks: 'rerank',
    'spare-vectors': 'embedding',
  });
});

describe('pain 25: the catalogue of one agent', () => {
  test('stands beside the usual list, and nobody else gets it', async () => {
    const { json } = await get('/v1/models?client_version=0.99.0', { originator: 'codex_exec' });
    expect(json.data.map(({ id }: { id: string }) => id)).toEqual(json.models.map(({ slug }: { slug: string }) => slug));
    expect((await get('/v1/models')).json.models).toBeUndefined();
  });

  test('its replies carry the tag of the list, and a list that has not changed is not sent again', async () => {
    const list = await get('/v1/models?client_version=0.99.0');
    const tag = list.headers.get('etag')!;
    expect(tag).toMatch(/^W\/"[\w-]{22}"$/);
    expect(await get('/v1/models?client_version=0.99.0', { 'if-none-match': tag })).toMatchObject({ status: 304, json: null });
    outbound.answer = () => jsonScript(200, { model: 'x', choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }] });
    const turn = (headers: Record<string, string>) =>
      fetch(`${gateway.url}/v1/responses`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ model: 'small', input: 'Hi' }),
      });
    expect((await turn({ originator: 'codex_cli_rs' })).headers.get('x-models-etag')).toBe(tag);
    expect((await turn({})).headers.get('x-models-etag')).toBeNull();
  });

  test('a later request of a session may leave the model out; without a session it may not', async () => {
    outbound.answer = () => jsonScript(200, { model: 'x', choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }] });
    const turn = async (body: Record<string, unknown>, headers: Record<string, string> = {}) => {
      const reply = await fetch(`${gateway.url}/v1/responses`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ input: 'Hi', ...body }),
      });
      return [reply.status, ((await reply.json()) as { model?: string }).model];
    };
    const session = { 'session-id': 'session-1' };
    expect(await turn({ model: 'also-small' }, session)).toEqual([200, 'also-small']);
    expect(await turn({}, session)).toEqual([200, 'also-small']);
    expect(await turn({}, { 'session-id': 'session-2' })).toEqual([400, undefined]);
    expect(await turn({})).toEqual([400, undefined]);
    expect(await turn({ model: 5 }, session)).toEqual([400, undefined]);
  });
});
