/** Load balancers through the whole gateway, configured by its console, in both arrangements: shares, lists, pins, health, explanations, tests of models. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { allArrangements, startGateway, type TestGateway, until } from '../support/gateway.ts';

describe.each(allArrangements('balancing'))('%s', (arrangement) => {
  let gateway: TestGateway;
  let fake: FakeUpstream;
  beforeAll(async () => {
    fake = await startFakeUpstream();
    gateway = await startGateway({ arrangement });
    await gateway.configure({
      upstreams: [
        ...['a', 'b', 'c'].map((name) => ({ name, protocol: 'alpha' as const, base_url: fake.url, api_keys: [{ key: `key-of-${name}` }] })),
        { name: 'many', protocol: 'alpha', base_url: fake.url, api_keys: [{ key: 'first-key' }, { key: 'second-key' }, { key: 'standby-key', weight: 0 }] },
        { name: 'gone', protocol: 'alpha', base_url: 'http://127.0.0.1:9', api_keys: [{ key: 'key-of-gone' }] },
      ],
      models: [
        { name: 'ok-a', upstream: 'a', upstream_model_id: 'ok', hide_name: true },
        { name: 'ok-b', upstream: 'b', upstream_model_id: 'ok' },
        { name: 'ok-c', upstream: 'c', upstream_model_id: 'ok' },
        { name: 'limited', upstream: 'a', upstream_model_id: 'err:429:rate_limit_exceeded:30' },
        { name: 'unreachable', upstream: 'gone', upstream_model_id: 'ok' },
        { name: 'dead', upstream: 'gone', upstream_model_id: 'ok' },
        { name: 'keyed', upstream: 'many', upstream_model_id: 'ok' },
        { name: 'off', upstream: 'b', upstream_model_id: 'ok', enabled: false },
      ],
      load_balancers: [
        { name: 'pool', aliases: ['nick'], entries: [{ model: 'ok-a', weight: 5 }, { model: 'ok-b' }, { model: 'ok-c' }, { model: 'off', weight: 100 }] },
        { name: 'static', entries: [{ model: 'ok-b' }, { model: 'ok-c' }], static_binding: true },
        { name: 'after-limit', strategy: 'priority', entries: [{ model: 'limited' }, { model: 'ok-b' }] },
        { name: 'all-limited', entries: [{ model: 'limited' }] },
        { name: 'past-dead', strategy: 'priority', entries: [{ model: 'unreachable' }, { model: 'ok-c' }] },
        { name: 'quick', strategy: 'least_latency', entries: [{ model: 'ok-b' }, { model: 'ok-c' }] },
        { name: 'nothing', entries: [{ model: 'off' }] },
        { name: 'disabled', enabled: false, entries: [{ model: 'ok-b' }] },
      ],
      key_groups: [{ name: 'narrow', models: ['pool'] }],
      access_keys: [{ name: 'narrow', group: 'narrow', key: 'narrow-key-0123456789' }],
    });
  });
  afterAll(async () => {
    await gateway?.stop();
    await fake?.close();
  });
  beforeEach(() => {
    fake.requests.length = 0;
  });

  async function ask(model: string, key = gateway.key) {
    const reply = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'x' }] }),
    });
    const body = (await reply.json()) as { model?: string; error?: { code?: string } };
    return { status: reply.status, body, retryAfter: reply.headers.get('retry-after'), id: reply.headers.get('x-request-id') ?? '' };
  }
  /** What the live processes say of a question, once each has answered: one that is busy is named as missing. */
  async function described(question: () => ReturnType<TestGateway['console']>) {
    let reply = await question();
    await until(async () => {
      if (reply.status === 200 && reply.body.processes.missing.length === 0) return true;
      reply = await question();
      return false;
    }, 'all processes to answer');
    return reply;
  }
  const names = async (key: string) => {
    const reply = await fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
    return ((await reply.json()) as { data: { id: string }[] }).data.map(({ id }) => id);
  };

  test('shares by weight in the round-robin’s own order; the reply names what the caller asked for', async () => {
    const upstreams: (string | null)[] = [];
    for (let turn = 0; turn < 7; turn++) {
      const answer = await ask('nick');
      expect([answer.status, answer.body.model]).toEqual([200, 'nick']);
      upstreams.push((await gateway.row(answer.id)).upstream);
    }
    expect(upstreams).toEqual(['a', 'a', 'b', 'a', 'c', 'a', 'a']);
    const row = await gateway.row((await ask('pool')).id);
    expect(row).toMatchObject({ model: 'ok-a', requested_model: 'pool', upstream: 'a', attempts: [{ upstream: 'a', status: 200 }] });
  });

  test('a group that grants the load balancer alone gets it by each name, and sees no entry', async () => {
    expect((await ask('pool', 'narrow-key-0123456789')).status).toBe(200);
    expect((await ask('nick', 'narrow-key-0123456789')).status).toBe(200);
    expect((await ask('ok-b', 'narrow-key-0123456789')).status).toBe(403);
    expect((await names('narrow-key-0123456789')).sort()).toEqual(['nick', 'pool']);
    const all = await names(gateway.key);
    expect(all).toEqual(expect.arrayContaining(['pool', 'nick', 'static', 'ok-b']));
    expect(all).not.toContain('ok-a');
    expect(all).not.toContain('disabled');
  });

  test('a disabled load balancer is 404, one whose entries are all disabled 503', async () => {
    expect((await ask('disabled')).status).toBe(404);
    expect(await ask('nothing')).toMatchObject({ status: 503, body: { error: { code: 'no_upstream' } } });
    expect((await ask('ok-a')).status).toBe(404);
  });

  test('a static binding keeps its entry, and a pin moves it', async () => {
    const served = async () => (await gateway.row((await ask('static')).id)).model;
    const first = await served();
    expect([await served(), await served()]).toEqual([first, first]);
    const other = first === 'ok-b' ? 'ok-c' : 'ok-b';
    expect((await gateway.console('PUT', '/load-balancers/static/pins/caller', { entry: other })).status).toBe(200);
    await gateway.settle();
    expect(await served()).toBe(other);
    expect((await gateway.console('DELETE', '/load-balancers/static/pins/caller')).status).toBe(204);
    await gateway.settle();
    expect(await served()).toBe(first);
  });

  test('a node that said when to come back is passed over until then, and the caller is told when all said so', async () => {
    expect((await gateway.row((await ask('after-limit')).id)).attempts.map(({ upstream }) => upstream)).toEqual(['a', 'b']);
    await until(async () => (await gateway.row((await ask('after-limit')).id)).attempts.length === 1, 'the limited node to be passed over');
    const refused = await ask('all-limited');
    expect(refused).toMatchObject({ status: 503, body: { error: { code: 'no_upstream' } } });
    expect(Number(refused.retryAfter)).toBeGreaterThan(0);
    expect(Number(refused.retryAfter)).toBeLessThanOrEqual(30);
    const own = await ask('limited');
    expect([own.status, own.retryAfter]).toEqual([429, '30']);
  });

  test('a dead node is ejected after some failures and shown as such; a lone one fails fast', async () => {
    for (let turn = 0; turn < 8; turn++) expect((await ask('past-dead')).status).toBe(200);
    await until(async () => (await gateway.row((await ask('past-dead')).id)).attempts.length === 1, 'the dead node to be ejected');
    const { body } = await described(() => gateway.console('GET', '/load-balancers/past-dead/nodes'));
    expect(body.nodes).toMatchObject([
      { model: 'unreachable', state: expect.stringMatching(/ejected|probing/), reason: 'breaker_line' },
      { model: 'ok-c', state: 'healthy' },
    ]);
    for (let turn = 0; turn < 6; turn++) expect((await ask('dead')).status).toBe(502);
    await until(async () => (await ask('dead')).body.error?.code === 'upstream_unavailable', 'the lone dead upstream to fail fast');
  });

  test('least latency answers', async () => {
    for (let turn = 0; turn < 5; turn++) expect((await ask('quick')).status).toBe(200);
  });

  test('the monitor tells bindings from predictions and marks what is stale', async () => {
    const monitored = async () => {
      const { body } = await described(() => gateway.console('GET', '/model-monitor?q=caller&upstream=many'));
      expect(body.items).toMatchObject([{ access_key: 'caller', key_group: 'everyone' }]);
      return body.items[0].keys[0];
    };
    expect(await monitored()).toMatchObject({ upstream: 'many', source: 'prediction', stale: false });
    const predicted = (await monitored()).key_index;
    await ask('keyed');
    expect(fake.requests[0]?.headers.authorization).toBe(`Bearer ${['first-key', 'second-key'][predicted]}`);
    expect(await monitored()).toMatchObject({ source: 'binding', stale: false, key_index: predicted, key: '********', process: expect.any(String) });
    const { body } = await gateway.console('GET', '/upstreams/many');
    await gateway.console('PATCH', '/upstreams/many', { api_keys: [...body.api_keys, { key: 'another-key' }] });
    await gateway.settle();
    expect(await monitored()).toMatchObject({ source: 'prediction', stale: true });
    await ask('keyed');
    expect(await monitored()).toMatchObject({ source: 'binding', stale: false });
    expect(JSON.stringify((await gateway.console('GET', '/model-monitor')).body)).not.toContain('first-key');
  });

  test('an explanation says where a request would go and changes nothing', async () => {
    const explain = (model: string, more: object = {}) => gateway.console('POST', '/route/explain', { access_key: 'caller', model, ...more });
    const one = await described(() => explain('nick'));
    expect(one.status).toBe(200);
    expect(one.body).toMatchObject({
      resolved: { name: 'pool', kind: 'load_balancer', via: 'alias' },
      granted: true,
      strategy: 'weighted',
      refusal: null,
      limits: expect.any(Array),
      switches: [],
    });
    const order = ({ body }: { body: { nodes: { model: string; position: number | null; score: number | null }[] } }) =>
      body.nodes.map(({ model, position, score }) => [model, position, score]);
    expect(order(await described(() => explain('nick')))).toEqual(order(one));
    const first = one.body.nodes.find(({ position }: { position: number }) => position === 1).model;
    expect((await gateway.row((await ask('nick')).id)).model).toBe(first);
    expect(one.body.nodes.find(({ model }: { model: string }) => model === 'off')).toMatchObject({
      state: 'disabled',
      reason: 'model_disabled',
      position: null,
    });
    const { nodes, refusal } = one.body;
    expect(one.body).toMatchObject({
      routers: [{ process: expect.stringContaining('router@'), nodes, refusal }],
      processes: { answered: [expect.any(String)], missing: [] },
    });
    expect(one.body.nodes[0].keys).toMatchObject([{ index: 0, position: 1, why: 'only_key', obstacle: null }]);
    expect((await described(() => explain('keyed'))).body.nodes[0].keys.at(-1)).toMatchObject({ index: 2, why: 'standby' });
    expect((await described(() => explain('ok-a'))).body).toMatchObject({ resolved: null, refusal: { status: 404 } });
    expect((await described(() => explain('ok-b', { access_key: 'narrow' }))).body).toMatchObject({
      granted: false,
      refusal: { code: 'model_not_granted', status: 403 },
    });
    expect((await gateway.console('POST', '/route/explain', { access_key: 'nobody', model: 'pool' })).status).toBe(422);
    const ofKey = async (change: object) => {
      expect((await gateway.console('PATCH', '/access-keys/explained', change)).status).toBe(200);
      return (await described(() => explain('pool', { access_key: 'explained' }))).body;
    };
    const budget = { limit: 0, period: 'day' };
    await gateway.console('POST', '/access-keys', { name: 'explained', group: 'everyone', budget: { ...budget, limit: 2 } });
    expect(await ofKey({})).toMatchObject({
      refusal: null,
      limits: expect.arrayContaining([{ layer: 'budget_key', name: 'explained', limit: 2e6, left: 2e6, money: { limit: '2', left: '2', currency: 'USD' } }]),
    });
    expect((await ofKey({ budget })).refusal).toMatchObject({ status: 402, code: 'budget_exhausted' });
    expect((await ofKey({ expires_at: '2020-01-01T00:00:00Z' })).refusal).toMatchObject({ status: 401, message: 'The access key has expired.' });
    expect((await ofKey({ enabled: false })).refusal).toMatchObject({ status: 401, message: 'The access key is disabled.' });
    expect((await explain('pool', { client_protocol: 'delphic' })).status).toBe(422);
  });

  test('models/test makes a real call in each client protocol and shows the translation', async () => {
    for (const client_protocol of ['alpha', 'beta', 'alpha_response', 'gamma']) {
      const whole = await gateway.console('POST', '/models/test', { model: 'ok-a', client_protocol, prompt: 'nonce-815' });
      expect([client_protocol, whole.status]).toEqual([client_protocol, 200]);
      expect(whole.body).toMatchObject({
        status: 200,
        latency_ms: expect.any(Number),
        translation: { client_protocol, upstream_protocol: 'alpha', upstream_body: { model: 'ok' } },
      });
      expect(JSON.stringify(whole.body.response)).toContain('nonce-815');
      const streamed = await gateway.console('POST', '/models/test', { model: 'pool', client_protocol, stream: true });
      expect(streamed.body.events.length).toBeGreaterThan(1);
      expect(await gateway.row(whole.body.request_id)).toMatchObject({ access_key: 'console:models-test', model: 'ok-a', status: 200 });
    }
    const own = await gateway.console('POST', '/models/test', { model: 'ok-b', body: { messages: [{ role: 'user', content: 'mine' }], temperature: 0.5 } });
    expect(own.body.translation.upstream_body).toMatchObject({ temperature: 0.5, model: 'ok' });
    // Other fields of the body go beside the prompt; the text is given once.
    for (const [client_protocol, cap] of [
      ['alpha', 'max_tokens'],
      ['beta', 'max_tokens'],
    ]) {
      const beside = await gateway.console('POST', '/models/test', { model: 'ok-b', client_protocol, prompt: 'nonce-816', [cap!]: 50 });
      expect(beside.body).toMatchObject({ status: 200, translation: { upstream_body: { max_tokens: 50 } } });
      expect(JSON.stringify(beside.body.translation.upstream_body)).toContain('nonce-816');
    }
    const greeted = await gateway.console('POST', '/models/test', { model: 'ok-b', client_protocol: 'beta', max_tokens: 50 });
    expect(greeted.body).toMatchObject({ status: 200, translation: { upstream_body: { max_tokens: 50, messages: [{ role: 'user' }] } } });
    const twice = await gateway.console('POST', '/models/test', { model: 'ok-b', prompt: 'hi', messages: [] });
    expect([twice.status, twice.body.error.details.map(({ field }: { field: string }) => field)]).toEqual([422, ['prompt']]);
    const misspelt = await gateway.console('POST', '/models/test', { model: 'ok-b', promt: 'hi' });
    expect([misspelt.status, misspelt.body.error.details[0].field]).toEqual([422, 'promt']);
    const failed = await gateway.console('POST', '/models/test', { model: 'limited', client_protocol: 'beta' });
    expect(failed.body).toMatchObject({ status: 429, response: { type: 'error' } });
    expect((await gateway.console('POST', '/models/test', { model: 'nobody' })).body).toMatchObject({ status: 404 });
    expect((await gateway.console('POST', '/models/test', { model: 'ok-b', client_protocol: 'delta' })).status).toBe(422);
    expect((await gateway.console('POST', '/access-keys', { name: 'console:mine', group: 'everyone' })).status).toBe(422);
  });
});
