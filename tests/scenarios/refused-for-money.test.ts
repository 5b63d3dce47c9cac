/** Who is refused for money, in the words of each caller's protocol: models without a price, and spent budgets until they are topped up or reset, on every edge. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mintAccessKey } from '@model-gateway/secrets';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { arrangements, startGateway, type TestGateway, until } from '../support/gateway.ts';
import { send } from '../support/send.ts';

const keys = { strict: mintAccessKey(), lenient: mintAccessKey(), poor: mintAccessKey() };

/** The caller's protocol → its request, and where its errors say what they say. */
const callers = {
  alpha: {
    path: () => '/v1/chat/completions',
    body: (model: string, stream: boolean) => ({ model, stream, messages: [{ role: 'user', content: 'hi' }] }),
    error: { error: { message: expect.any(String), type: expect.any(String), code: expect.any(String) } },
  },
  alpha_response: {
    path: () => '/v1/responses',
    body: (model: string, stream: boolean) => ({ model, stream, input: 'hi' }),
    error: { error: { message: expect.any(String), code: expect.any(String) } },
  },
  beta: {
    path: () => '/v1/messages',
    body: (model: string, stream: boolean) => ({ model, stream, max_tokens: 50, messages: [{ role: 'user', content: 'hi' }] }),
    error: { type: 'error', error: { type: 'billing_error', message: expect.any(String) } },
  },
  gamma: {
    path: (model: string, stream: boolean) => `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: () => ({ contents: [{ role: 'user', parts: [{ text: 'hi' }] }] }),
    error: { error: { code: 402, status: expect.any(String), message: expect.any(String) } },
  },
} as const;
const shapes = (Object.keys(callers) as (keyof typeof callers)[]).flatMap((client) => [[client, false] as const, [client, true] as const]);

describe.each(arrangements('refused-for-money'))('%s', (arrangement) => {
  let fake: FakeUpstream;
  let gateway: TestGateway;
  beforeAll(async () => {
    fake = await startFakeUpstream();
    gateway = await startGateway({ arrangement, ...(arrangement === 'split' && { twice: ['edge', 'router'] as const }) });
    await gateway.configure({
      upstreams: [{ name: 'fake', protocol: 'alpha', base_url: fake.url, api_keys: [{ key: 'sk-fake' }] }],
      models: [
        // Of a family whose reference price is known.
        { name: 'gpt-4o', upstream: 'fake', upstream_model_id: 'text:2000' },
        { name: 'nameless', upstream: 'fake', upstream_model_id: 'ok', aliases: ['also-nameless'] },
      ],
      load_balancers: [{ name: 'either', entries: [{ model: 'gpt-4o' }, { model: 'nameless' }] }],
      key_groups: [
        { name: 'strict', models: ['*'], unpriced: 'refuse' },
        { name: 'lenient', models: ['*'] },
      ],
      access_keys: [
        { name: 'strict', group: 'strict', key: keys.strict },
        { name: 'lenient', group: 'lenient', key: keys.lenient },
        { name: 'poor', group: 'lenient', key: keys.poor, budget: { limit: 0.01, period: 'month' } },
      ],
    });
  });
  afterAll(async () => {
    await gateway?.stop();
    await fake?.close();
  });

  const ask = (
    client: keyof typeof callers,
    { key, model, stream = false, url = gateway.url }: { key: string; model: string; stream?: boolean; url?: string },
  ) => {
    const { path, body } = callers[client];
    return send(url, path(model, stream), {
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body(model, stream)),
    });
  };

  test.each(shapes)('%s, stream %s: a model that may have no price is refused, and never called', async (client, stream) => {
    const before = fake.requests.length;
    for (const model of ['nameless', 'also-nameless', 'either']) {
      const refused = await ask(client, { key: keys.strict, model, stream });
      expect([model, refused.status, refused.json]).toMatchObject([model, 402, callers[client].error]);
      expect(refused.json.error.message).toContain('nameless has no price');
      expect(await gateway.row(String(refused.headers['x-request-id']))).toMatchObject({ status: 402, error_code: 'unpriced_model', cost_micros: null });
    }
    expect(fake.requests.length).toBe(before);
    expect((await ask(client, { key: keys.strict, model: 'gpt-4o', stream })).status).toBe(200);
    expect((await ask(client, { key: keys.lenient, model: 'nameless', stream })).status).toBe(200);
  });

  test('a spent budget is refused in each shape with the time it begins anew, served by every edge once topped up or reset, and its price makes a model usable', async () => {
    const statuses = (model = 'gpt-4o', key = keys.poor) => Promise.all(gateway.edgeUrls.map(async (url) => (await ask('alpha', { key, model, url })).status));
    const spent = () => until(async () => (await statuses()).every((status) => status === 402), 'the budget to be spent on every edge');
    await spent();
    const next = new Date(Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth() + 1, 1)).toISOString();
    for (const [client, stream] of shapes) {
      const { status, json } = await ask(client, { key: keys.poor, model: 'gpt-4o', stream });
      expect([client, status, json]).toMatchObject([client, 402, callers[client].error]);
      expect(json.error.message).toBe(`The budget of this access key is exhausted. It resets at ${next}.`);
    }

    const topped = await gateway.console('POST', '/budgets/key/poor/top-up', { amount: '0.05' });
    expect(topped).toMatchObject({ status: 200, body: { topped_up: '0.05', limit: '0.06' } });
    await gateway.settle();
    expect(await statuses()).toEqual(gateway.edgeUrls.map(() => 200));
    await spent();
    // A reset forgives what the rows say: the last of them may still be on their way.
    await until(async () => {
      const { body } = await gateway.console('POST', '/budgets/key/poor/reset');
      expect(body).toMatchObject({ topped_up: '0', limit: '0.01' });
      await gateway.settle();
      return (await statuses()).every((status) => status === 200);
    }, 'the reset budget to serve at every edge');

    await gateway.console('POST', '/pricing', { name: 'nameless', model: 'nameless', input: '1', output: '2' });
    await gateway.settle();
    expect(await statuses('nameless', keys.strict)).toEqual(gateway.edgeUrls.map(() => 200));
  });
});
