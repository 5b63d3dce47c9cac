/** Which name means which model: lists, aliases, hidden names, groups, names with odd characters, overrides and token counts, in both arrangements. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { mintAccessKey } from '@model-gateway/secrets';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { arrangements, borrowGateway, type TestGateway } from '../support/gateway.ts';
import { type ClientProtocol, clientProtocols, startChat } from '../support/sdk-callers.ts';
import { openaiClient } from '../support/sdks/chat-completions.ts';
import { genaiClient } from '../support/sdks/generate-content.ts';
import { anthropicClient } from '../support/sdks/messages.ts';
import { type Answer, type Sent, send } from '../support/send.ts';

const oddName = 'vendor/family:v1.5 (тест) 名';
const keys = { team: mintAccessKey(), nobody: mintAccessKey(), aliasOnly: mintAccessKey() };

describe.each(arrangements('models-and-names'))('models and names on a %s gateway', (arrangement) => {
  let fake: FakeUpstream;
  let gateway: TestGateway;
  beforeAll(async () => {
    fake = await startFakeUpstream();
    gateway = await borrowGateway({ arrangement });
    const api_keys = [{ key: 'sk-fake-upstream' }];
    const ok = { upstream: 'up-alpha', upstream_model_id: 'ok' };
    await gateway.configure({
      upstreams: [
        { name: 'up-alpha', protocol: 'alpha', base_url: fake.url, api_keys },
        { name: 'up-alpha-v1', protocol: 'alpha', base_url: `${fake.url}/v1`, api_keys },
        { name: 'up-prefixed', protocol: 'alpha', base_url: `${fake.url}/compatible-mode/v1`, api_keys },
        { name: 'up-beta', protocol: 'beta', base_url: fake.url, api_keys },
        { name: 'up-gamma', protocol: 'gamma', base_url: fake.url, api_keys },
        { name: 'up-counting-here', protocol: 'beta', base_url: fake.url, api_keys, token_counting: 'tiktoken' },
        { name: 'up-nowhere', protocol: 'alpha', base_url: 'http://127.0.0.1:9', api_keys },
        { name: 'up-off', protocol: 'alpha', base_url: fake.url, api_keys, enabled: false },
      ],
      models: [
        { name: 'plain', ...ok, aliases: ['also-plain', 'team/alias'] },
        { name: 'hidden', ...ok, hide_name: true, aliases: ['mask'] },
        { name: 'off', ...ok, enabled: false, aliases: ['off-too'] },
        { name: 'of-off-upstream', upstream: 'up-off', upstream_model_id: 'ok' },
        { name: oddName, ...ok },
        { name: 'team-a.small', ...ok },
        { name: 'team-a.large', ...ok },
        { name: 'team-b.large', ...ok, aliases: ['team-a.borrowed'] },
        { name: 'at-v1', upstream: 'up-alpha-v1', upstream_model_id: 'ok' },
        { name: 'at-prefix', upstream: 'up-prefixed', upstream_model_id: 'ok' },
        { name: 'other-protocol', ...ok, protocol: 'beta' },
        { name: 'other-address', upstream: 'up-nowhere', upstream_model_id: 'ok', base_url: fake.url },
        { name: 'direct', upstream: 'up-nowhere', upstream_model_id: 'ok', base_url: `${fake.url}/v1/chat/completions`, direct_path: true },
        { name: 'direct-query', upstream: 'up-nowhere', upstream_model_id: 'ok', base_url: `${fake.url}/v1/chat/completions?api-version=1`, direct_path: true },
        { name: 'profiled', upstream: 'up-alpha', upstream_model_id: 'no-such', inference_profile: 'ok' },
        { name: 'counts-beta', upstream: 'up-beta', upstream_model_id: 'ok' },
        { name: 'counts-gamma', upstream: 'up-gamma', upstream_model_id: 'ok' },
        { name: 'counts-not', upstream: 'up-alpha', upstream_model_id: 'ok' },
        { name: 'counts-here', upstream: 'up-counting-here', upstream_model_id: 'ok' },
        { name: 'counts-here-too', upstream: 'up-beta', upstream_model_id: 'ok', token_counting: 'tiktoken' },
        { name: 'counts-beside', upstream: 'up-beta', upstream_model_id: 'ok', base_url: `${fake.url}/v1/messages`, direct_path: true },
        { name: 'counts-nowhere', upstream: 'up-beta', upstream_model_id: 'ok', base_url: `${fake.url}/any/endpoint`, direct_path: true },
        { name: 'counter-fails', upstream: 'up-beta', upstream_model_id: 'err:500' },
      ],
      key_groups: [
        { name: 'team', models: ['team-a.*', 'hidden'] },
        { name: 'nobody', models: [] },
        { name: 'alias-only', models: ['also-plain', 'mask'] },
      ],
      access_keys: [
        { name: 'team', group: 'team', key: keys.team },
        { name: 'nobody', group: 'nobody', key: keys.nobody },
        { name: 'alias-only', group: 'alias-only', key: keys.aliasOnly },
      ],
    });
  });
  afterAll(async () => {
    await gateway?.stop();
    await fake?.close();
  });
  beforeEach(() => {
    fake.requests.length = 0;
  });

  const as = (key: string, more: Sent['headers'] = {}) => ({ authorization: `Bearer ${key}`, 'content-type': 'application/json', ...more });
  const chat = (model: unknown, key = gateway.key): Promise<Answer> =>
    send(gateway.url, '/v1/chat/completions', { headers: as(key), body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }] }) });
  const get = (path: string, key = gateway.key, headers: Sent['headers'] = {}) => send(gateway.url, path, { method: 'GET', headers: as(key, headers) });
  const generate = (model: string, key = gateway.key) =>
    send(gateway.url, `/v1beta/models/${model}:generateContent`, { headers: as(key), body: JSON.stringify({ contents: [{ parts: [{ text: 'hi' }] }] }) });

  describe('lists', () => {
    const versions = { 'anthropic-version': '2023-06-01' };
    const listed = ['plain', 'also-plain', 'team/alias', 'mask', oddName, 'team-a.small', 'counts-beta'];
    const unlisted = ['hidden', 'off', 'off-too'];

    test('each protocol has its own shape, by path and by header', async () => {
      const alpha = await get('/v1/models');
      expect(alpha.json).toMatchObject({ object: 'list', data: expect.arrayContaining([expect.objectContaining({ id: 'plain', object: 'model' })]) });
      for (const version of [versions, { 'beta-version': '2023-06-01' }]) {
        const beta = await get('/v1/models', gateway.key, version);
        expect(beta.json).toMatchObject({ has_more: false, data: expect.arrayContaining([expect.objectContaining({ id: 'plain', type: 'model' })]) });
      }
      const gamma = await get('/v1beta/models');
      expect(gamma.json.models).toEqual(expect.arrayContaining([expect.objectContaining({ name: 'models/plain' })]));
      const names = alpha.json.data.map((one: { id: string }) => one.id);
      expect(gamma.json.models.map((one: { name: string }) => one.name)).toEqual(names.map((name: string) => `models/${name}`));
      expect(names).toEqual(expect.arrayContaining(listed));
      for (const name of unlisted) expect(names).not.toContain(name);
    });

    test('the SDKs read them', async () => {
      const openai = (await openaiClient(gateway).models.list()).data.map(({ id }) => id);
      const anthropic: string[] = [];
      for await (const { id } of anthropicClient(gateway).models.list()) anthropic.push(id);
      const genai: string[] = [];
      for await (const { name } of await genaiClient(gateway).models.list()) genai.push(name?.replace(/^models\//, '') ?? '');
      for (const names of [openai, anthropic, genai]) {
        expect(names).toEqual(expect.arrayContaining(listed));
        expect(names).toEqual(openai);
      }
    });

    test('one model, in each shape', async () => {
      expect((await get('/v1/models/plain')).json).toMatchObject({ id: 'plain', object: 'model' });
      expect((await get('/v1/models/plain', gateway.key, versions)).json).toMatchObject({ id: 'plain', type: 'model' });
      expect((await get('/v1beta/models/plain')).json).toMatchObject({ name: 'models/plain' });
      expect((await openaiClient(gateway).models.retrieve('team/alias')).id).toBe('team/alias');
      expect((await anthropicClient(gateway).models.retrieve('also-plain')).id).toBe('also-plain');
      expect((await genaiClient(gateway).models.get({ model: 'mask' })).name).toBe('models/mask');
      for (const name of ['hidden', 'off', 'no-such']) {
        expect((await get(`/v1/models/${name}`)).json).toMatchObject({ error: { code: 'model_not_found' } });
        expect((await get(`/v1/models/${name}`, gateway.key, versions)).json).toMatchObject({ type: 'error', error: { type: 'not_found_error' } });
        expect((await get(`/v1beta/models/${name}`)).json).toMatchObject({ error: { code: 404, status: 'NOT_FOUND' } });
      }
    });

    test('a group sees only what it is granted, by canonical names', async () => {
      const names = async (key: string) => (await get('/v1/models', key)).json.data.map((one: { id: string }) => one.id).sort();
      expect(await names(keys.team)).toEqual(['mask', 'team-a.large', 'team-a.small']);
      expect(await names(keys.nobody)).toEqual([]);
      expect(await names(keys.aliasOnly)).toEqual([]);
      expect((await get('/v1/models/plain', keys.team)).status).toBe(404);
    });
  });

  describe('resolution', () => {
    test('aliases work and replies name what the caller used', async () => {
      for (const name of ['plain', 'also-plain', 'team/alias', 'mask']) {
        const reply = await chat(name);
        expect(reply.json).toMatchObject({ model: name });
        expect(fake.requests.at(-1)!.json['model']).toBe('ok');
      }
      const reply = await send(gateway.url, '/v1/chat/completions', {
        headers: as(gateway.key, { 'z-request-id': `row-${arrangement}` }),
        body: JSON.stringify({ model: 'mask', messages: [{ role: 'user', content: 'hi' }] }),
      });
      expect(reply.status).toBe(200);
      expect(await gateway.row(`row-${arrangement}`)).toMatchObject({ model: 'hidden', requested_model: 'mask', upstream_model_id: 'ok' });
    });

    test.each(clientProtocols)('%s: hidden, disabled and unknown names are 404, a disabled upstream is 503', async (client: ClientProtocol) => {
      const fail = (model: string) =>
        startChat(client, gateway, model, { text: 'hi' })
          .send({ stream: false })
          .then(
            () => 200,
            (error: { status: number }) => error.status,
          );
      for (const name of ['hidden', 'off', 'off-too', 'no-such', '__proto__', 'constructor']) expect(await fail(name)).toBe(404);
      expect(await fail('of-off-upstream')).toBe(503);
      expect(fake.requests).toEqual([]);
    });

    test('grants go by canonical names with wildcards; unknown comes before not granted', async () => {
      expect((await chat('team-a.small', keys.team)).status).toBe(200);
      expect((await chat('mask', keys.team)).status).toBe(200);
      // The alias begins like the pattern, but the canonical name does not.
      expect((await chat('team-a.borrowed', keys.team)).status).toBe(403);
      expect((await chat('plain', keys.team)).status).toBe(403);
      expect((await chat('hidden', keys.team)).status).toBe(404);
      expect((await chat('no-such', keys.team)).status).toBe(404);
      expect((await chat('also-plain', keys.aliasOnly)).status).toBe(403);
      expect((await chat('mask', keys.aliasOnly)).status).toBe(403);
      expect((await generate('plain', keys.nobody)).json).toMatchObject({ error: { code: 403, status: 'PERMISSION_DENIED' } });
    });

    test('names with slashes, colons, spaces and letters of any script', async () => {
      expect((await chat(oddName)).json.model).toBe(oddName);
      const paths = [encodeURIComponent(oddName), encodeURIComponent(oddName).replaceAll('%2F', '/').replaceAll('%3A', ':')];
      for (const path of paths) {
        expect((await generate(path)).json.modelVersion).toBe(oddName);
        expect((await get(`/v1beta/models/${path}`)).json.name).toBe(`models/${oddName}`);
      }
      expect((await get(`/v1/models/${paths[0]}`)).json.id).toBe(oddName);
      // One segment, decoded once.
      expect((await get(`/v1/models/${paths[1]}`)).status).toBe(404);
      expect((await generate(encodeURIComponent(encodeURIComponent(oddName)))).status).toBe(404);
      expect((await generate('%E0%A4%A')).status).toBe(404);
      expect((await generate('plain:generateContent')).status).toBe(404);
    });

    test.each([
      ['a number', 7],
      ['null', null],
      ['an object', { name: 'plain' }],
      ['nothing', undefined],
      ['an empty text', ''],
      ['a long text', 'x'.repeat(5000)],
    ])('model as %s is refused', async (_what, model) => {
      const reply = await chat(model);
      expect([400, 404]).toContain(reply.status);
      expect(reply.json.error.param).toBe('model');
      expect(reply.text.length).toBeLessThan(1000);
    });
  });

  describe('where a call goes', () => {
    test('version segments are added only where they are missing', async () => {
      for (const [model, path] of [
        ['plain', '/v1/chat/completions'],
        ['at-v1', '/v1/chat/completions'],
        ['at-prefix', '/compatible-mode/v1/chat/completions'],
      ]) {
        expect((await chat(model)).status).toBe(200);
        expect(fake.requests.at(-1)!.path).toBe(path);
      }
    });

    test("a model's own protocol, address, whole endpoint and profile", async () => {
      expect((await chat('other-protocol')).status).toBe(200);
      expect(fake.requests.at(-1)).toMatchObject({ path: '/v1/messages', headers: { 'x-api-key': 'sk-fake-upstream' } });
      expect((await chat('other-address')).status).toBe(200);
      expect(fake.requests.at(-1)!.headers.authorization).toBe('Bearer sk-fake-upstream');
      expect((await chat('direct')).status).toBe(200);
      expect(fake.requests.at(-1)!.path).toBe('/v1/chat/completions');
      expect((await chat('direct-query')).status).toBe(200);
      expect(fake.requests.at(-1)).toMatchObject({ path: '/v1/chat/completions?api-version=1' });
      expect((await chat('profiled')).json.model).toBe('profiled');
      expect(fake.requests.at(-1)!.json['model']).toBe('ok');
    });

    test("the caller's key never travels, the upstream's never comes back", async () => {
      const reply = await chat('plain');
      const received = fake.requests.at(-1)!;
      expect(JSON.stringify(received.headers) + received.body.toString()).not.toContain(gateway.key);
      expect(JSON.stringify(reply.headers) + reply.text).not.toContain('sk-fake-upstream');
    });
  });

  describe('token counts', () => {
    const text = 'How many tokens are these words?';
    const count = async (model: string) =>
      (await anthropicClient(gateway).messages.countTokens({ model, messages: [{ role: 'user', content: text }] })).input_tokens;

    test("the upstream's own counter is asked where there is one", async () => {
      const upstreamSays = Math.ceil(text.length / 4) + 1;
      expect(await count('counts-beta')).toBe(upstreamSays);
      expect(fake.requests.at(-1)!.path).toBe('/v1/messages/count_tokens');
      expect(await count('counts-gamma')).toBe(upstreamSays);
      expect(fake.requests.at(-1)!.path).toBe('/v1beta/models/ok:countTokens');
      expect(await count('counts-beside')).toBe(upstreamSays);
      expect(fake.requests.at(-1)!.path).toBe('/v1/messages/count_tokens');
      expect((await genaiClient(gateway).models.countTokens({ model: 'counts-gamma', contents: text })).totalTokens).toBe(upstreamSays);
      expect((await genaiClient(gateway).models.countTokens({ model: 'counts-beta', contents: text })).totalTokens).toBe(upstreamSays);
    });

    test.each(['counts-not', 'counts-here', 'counts-here-too', 'counts-nowhere', 'counter-fails'])('%s is counted here and never fails', async (model) => {
      const tokens = await count(model);
      expect(tokens).toBeGreaterThan(5);
      expect(tokens).toBeLessThan(40);
      expect((await genaiClient(gateway).models.countTokens({ model, contents: text })).totalTokens).toBeGreaterThan(5);
      const asked = await anthropicClient(gateway).beta.messages.countTokens({ model, messages: [{ role: 'user', content: text }] });
      expect(asked.input_tokens).toBe(tokens);
      if (model !== 'counter-fails') expect(fake.requests).toEqual([]);
    });

    test('names and grants hold for counts too', async () => {
      await expect(count('hidden')).rejects.toMatchObject({ status: 404 });
      await expect(count('no-such')).rejects.toMatchObject({ status: 404 });
      const limited = anthropicClient({ url: gateway.url, key: keys.nobody }).messages.countTokens({
        model: 'plain',
        messages: [{ role: 'user', content: text }],
      });
      await expect(limited).rejects.toMatchObject({ status: 403 });
    });
  });
});
