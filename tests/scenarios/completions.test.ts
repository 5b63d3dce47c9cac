/** `/v1/completions` through the official SDK and raw: verbatim for upstreams of the same protocol, a 400 for all others. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mintAccessKey } from '@model-gateway/secrets';
import OpenAI from 'openai';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { arrangements, borrowGateway, type TestGateway } from '../support/gateway.ts';

const limitedKey = mintAccessKey();

describe.each(arrangements('completions'))('legacy completions on a %s gateway', (arrangement) => {
  let fake: FakeUpstream;
  let gateway: TestGateway;
  let client: OpenAI;
  beforeAll(async () => {
    fake = await startFakeUpstream();
    gateway = await borrowGateway({ arrangement });
    await gateway.configure({
      upstreams: [
        { name: 'chat', protocol: 'alpha', base_url: `${fake.url}/v1`, api_keys: [{ key: 'sk-chat' }] },
        { name: 'messages', protocol: 'beta', base_url: fake.url, api_keys: [{ key: 'sk-messages' }] },
        { name: 'native', protocol: 'delta', base_url: fake.url, api_keys: [{ key: 'sk-native' }] },
      ],
      models: [
        { name: 'say', upstream: 'chat', upstream_model_id: 'ok' },
        { name: 'words', upstream: 'chat', upstream_model_id: 'text:40' },
        { name: 'cut', upstream: 'chat', upstream_model_id: 'text:40+cut@2000' },
        { name: 'refused', upstream: 'chat', upstream_model_id: 'err:400:bad' },
        { name: 'failing', upstream: 'chat', upstream_model_id: 'err:500' },
        { name: 'messages', upstream: 'messages', upstream_model_id: 'ok' },
        { name: 'native', upstream: 'native', upstream_model_id: 'ok' },
      ],
      load_balancers: [
        { name: 'mixed', strategy: 'priority', entries: [{ model: 'messages' }, { model: 'native' }, { model: 'words' }] },
        { name: 'others', entries: [{ model: 'messages' }, { model: 'native' }] },
        { name: 'spent', strategy: 'priority', entries: [{ model: 'messages' }, { model: 'failing' }] },
      ],
      key_groups: [{ name: 'few', models: ['words'] }],
      access_keys: [{ name: 'few', group: 'few', key: limitedKey }],
    });
    client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key, maxRetries: 0 });
  });
  afterAll(async () => {
    await gateway?.stop();
    await fake?.close();
  });

  const post = (body: object, key = gateway.key): Promise<Response> =>
    fetch(`${gateway.url}/v1/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });

  test('whole', async () => {
    const reply = client.completions.create({ model: 'say', prompt: 'Grüße 👋', max_tokens: 20, echo: true });
    const { data, response } = await reply.withResponse();
    expect(data).toMatchObject({ object: 'text_completion', model: 'say', choices: [{ text: 'Grüße 👋', finish_reason: 'stop' }] });
    expect(data.usage!.total_tokens).toBeGreaterThan(0);
    const received = fake.requests.at(-1)!;
    expect([received.path, received.headers.authorization]).toEqual(['/v1/completions', 'Bearer sk-chat']);
    expect(received.json).toEqual({ model: 'ok', prompt: 'Grüße 👋', max_tokens: 20, echo: true });
    expect(await gateway.row(response.headers.get('x-request-id')!)).toMatchObject({
      model: 'say',
      client_protocol: 'alpha',
      upstream_protocol: 'alpha',
      stream: false,
      usage_source: 'upstream',
      output_tokens: data.usage!.completion_tokens,
      losses: [],
    });
  });

  test.each([true, false])('streamed, usage asked for: %s', async (include_usage) => {
    const { data, response } = await client.completions
      .create({ model: 'words', prompt: 'x', stream: true, ...(include_usage && { stream_options: { include_usage } }) })
      .withResponse();
    let text = '';
    let usage = 0;
    for await (const chunk of data) {
      expect([chunk.model, chunk.object]).toEqual(['words', 'text_completion']);
      text += chunk.choices[0]?.text ?? '';
      usage += chunk.usage?.total_tokens ?? 0;
    }
    expect(text).toBe(Array.from({ length: 40 }, (_, n) => `word${n} `).join(''));
    expect(usage > 0).toBe(include_usage);
    expect(await gateway.row(response.headers.get('x-request-id')!)).toMatchObject({ stream: true, usage_source: 'upstream', output_tokens: 40 });
  });

  test('a stream that breaks off ends in its own words', async () => {
    const text = await (await post({ model: 'cut', prompt: 'x', stream: true })).text();
    const events = text.split('\n\n').filter(Boolean);
    expect(events.at(-1)).toBe('data: [DONE]');
    expect(JSON.parse(events.at(-2)!.slice(6))).toMatchObject({
      object: 'text_completion',
      model: 'cut',
      choices: [{ text: '', finish_reason: 'length' }],
      _gateway_warning: { reason: 'upstream_broken' },
    });
  });

  test.each(['messages', 'native'])('an upstream of another protocol (%s) is a 400 that says so', async (model) => {
    const received = fake.requests.length;
    const reply = await post({ model, prompt: 'x' });
    expect([reply.status, await reply.json()]).toEqual([
      400,
      { error: { message: expect.stringContaining('/v1/chat/completions'), type: 'invalid_request_error', param: 'model', code: 'unsupported_operation' } },
    ]);
    expect(fake.requests.length).toBe(received);
  });

  test('a load balancer passes over nodes that cannot serve it; a 400 only when none can', async () => {
    const received = fake.requests.length;
    const served = await post({ model: 'mixed', prompt: 'x' });
    expect([served.status, ((await served.json()) as { model: string }).model]).toEqual([200, 'mixed']);
    expect(await gateway.row(served.headers.get('x-request-id')!)).toMatchObject({ upstream: 'chat', attempts: [{ upstream: 'chat', status: 200 }] });
    expect(fake.requests.length).toBe(received + 1);
    const refused = await post({ model: 'others', prompt: 'x' });
    expect([refused.status, await refused.json()]).toEqual([
      400,
      { error: expect.objectContaining({ message: expect.stringContaining('/v1/chat/completions') }) },
    ]);
    expect(fake.requests.length).toBe(received + 1);
    // A node that could serve it and failed says more than those that could not.
    expect((await post({ model: 'spent', prompt: 'x' })).status).toBe(503);
  });

  test('refusals: of the upstream, of the edge', async () => {
    await expect(client.completions.create({ model: 'refused', prompt: 'x' })).rejects.toMatchObject({ status: 400, code: 'bad' });
    await expect(client.completions.create({ model: 'nobody', prompt: 'x' })).rejects.toMatchObject({ status: 404 });
    expect((await post({ prompt: 'x' })).status).toBe(400);
    expect((await post({ model: 'words', prompt: 'x' }, limitedKey)).status).toBe(200);
    expect((await post({ model: 'say', prompt: 'x' }, limitedKey)).status).toBe(403);
    expect((await fetch(`${gateway.url}/v1/completions`)).status).toBe(405);
  });
});
