/** Receipt, strict groups, counting and the setting that fetches callers' addresses, through real processes in both arrangements. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { arrangements, startGateway, type TestGateway } from '../support/gateway.ts';
import { send } from '../support/send.ts';

let upstream: FakeUpstream;
beforeAll(async () => {
  upstream = await startFakeUpstream();
});
afterAll(() => upstream.close());

describe.each(arrangements('fidelity'))('%s', (arrangement) => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway({ arrangement, toml: { server: { fetch_client_urls: true } } });
    await gateway.configure({
      upstreams: [
        { name: 'messages', protocol: 'beta', base_url: upstream.url, api_keys: [{ key: 'sk-one' }] },
        { name: 'chat', protocol: 'alpha', base_url: upstream.url, api_keys: [{ key: 'sk-one' }] },
        { name: 'generate', protocol: 'gamma', base_url: upstream.url, api_keys: [{ key: 'sk-one' }] },
      ],
      models: [
        { name: 'house', upstream: 'messages', upstream_model_id: 'ok' },
        { name: 'counts-not', upstream: 'chat', upstream_model_id: 'ok' },
        { name: 'bytes-only', upstream: 'generate', upstream_model_id: 'ok' },
      ],
    });
  });
  afterAll(() => gateway.stop());

  const chat = (body: object) =>
    send(gateway.url, '/v1/chat/completions', {
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'house', messages: [{ role: 'user', content: 'hi' }], ...body }),
    });

  test('the receipt leaves with whole and streamed replies, and a strict group refuses until it is lenient again', async () => {
    const lenient = await chat({ seed: 1 });
    expect([lenient.status, lenient.headers['x-gateway-translation']]).toEqual([200, 'alpha>beta; lost=1']);
    const streamed = await chat({ seed: 1, stream: true });
    expect([streamed.status, streamed.headers['x-gateway-translation']]).toEqual([200, 'alpha>beta; lost=1']);
    expect((await gateway.row(lenient.headers['x-request-id'] as string)).losses).toMatchObject([{ field: 'seed', action: 'dropped' }]);

    expect((await gateway.console('PATCH', '/key-groups/everyone', { strict_translation: 'yes' })).status).toBe(422);
    expect((await gateway.console('PATCH', '/key-groups/everyone', { strict_translation: true })).status).toBe(200);
    await gateway.settle();
    const before = upstream.requests.length;
    const refused = await chat({ seed: 1 });
    expect([refused.status, refused.json.error.code]).toEqual([400, 'lossy_translation']);
    expect(refused.json.error.message).toContain('seed (dropped');
    expect(upstream.requests).toHaveLength(before);
    expect((await chat({})).status).toBe(200);
    await gateway.console('PATCH', '/key-groups/everyone', { strict_translation: null });
    await gateway.settle();
    expect((await chat({ seed: 1 })).status).toBe(200);
  });

  test('tokens are counted here for an upstream without a counter', async () => {
    const answer = await send(gateway.url, '/v1/responses/input_tokens', {
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'counts-not', input: 'hello world' }),
    });
    expect([answer.status, answer.json]).toEqual([200, { object: 'response.input_tokens', input_tokens: 2 }]);
  });

  test('a private address in a body is never called, even where upstreams may be private', async () => {
    const before = upstream.requests.length;
    const answer = await send(gateway.url, '/v1/messages', {
      headers: { 'x-api-key': gateway.key, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'bytes-only',
        max_tokens: 9,
        messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'url', url: `${upstream.url}/a.png` } }] }],
      }),
    });
    expect(answer.status).toBe(400);
    expect(upstream.requests).toHaveLength(before);
  });
});
