/** What the edge itself limits: callers by key and by address, what is under way at once, and money; in both arrangements, as its callers see it. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mintAccessKey } from '@model-gateway/secrets';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { allArrangements, startGateway, type TestGateway, until } from '../support/gateway.ts';

/** A model of this name has a reference price; what answers is the fake. */
const priced = 'gpt-4o';

describe.each(allArrangements('admission limits'))('%s', (arrangement) => {
  let upstream: FakeUpstream;
  let gateway: TestGateway;
  const keys = { plain: mintAccessKey(), own: mintAccessKey(), grouped: mintAccessKey(), poor: mintAccessKey(), shared: mintAccessKey() };

  beforeAll(async () => {
    upstream = await startFakeUpstream();
    gateway = await startGateway({
      arrangement,
      env: { RATE_LIMIT_WINDOW_SECS: '120', TRUSTED_PROXIES: '127.0.0.1', IP_RATE_LIMIT_RPM: '150' },
      toml: { server: { max_global_concurrency: 12 }, streaming: { max_concurrent_streams: 5 } },
    });
    await gateway.configure({
      upstreams: [{ name: 'fake', protocol: 'alpha', base_url: upstream.url, api_keys: [{ key: 'sk-fake' }] }],
      models: [
        { name: 'm', upstream: 'fake', upstream_model_id: 'text:2' },
        { name: 'endless', upstream: 'fake', upstream_model_id: 'pump+slow:20' },
        { name: priced, upstream: 'fake', upstream_model_id: 'text:100' },
        { name: 'first', upstream: 'fake', upstream_model_id: 'text:2', rate_limit: { rpm: 3, wait_timeout_secs: 30 } },
        { name: 'second', upstream: 'fake', upstream_model_id: 'text:2', rate_limit: { rpm: 2, wait_timeout_secs: 30 } },
        { name: 'limited', upstream: 'fake', upstream_model_id: 'text:2', rate_limit: { rpm: 2, wait_timeout_secs: 0 } },
        { name: 'used-up', upstream: 'fake', upstream_model_id: 'text:2', rate_limit: { rpm: 1, wait_timeout_secs: 0 } },
      ],
      load_balancers: [{ name: 'either', entries: [{ model: 'first' }, { model: 'second' }] }],
      key_groups: [
        { name: 'slow', models: ['*'], rate_limit: { rpm: 3, window_secs: 60 } },
        { name: 'thrifty', models: ['*'], budget: { limit: 0.002, period: 'day' } },
      ],
      access_keys: [
        { name: 'plain', group: 'everyone', key: keys.plain },
        { name: 'own', group: 'slow', key: keys.own, rate_limit: { rpm: 10, window_secs: 600 } },
        { name: 'grouped', group: 'slow', key: keys.grouped },
        { name: 'poor', group: 'everyone', key: keys.poor, budget: { limit: 0.003, period: 'month' } },
        { name: 'shared', group: 'thrifty', key: keys.shared },
      ],
    });
  });
  afterAll(async () => {
    await gateway.stop();
    await upstream.close();
  });

  let address = 0;
  /** From an address of its own unless one is given. */
  const ask = (
    key: string,
    { model = 'm', path = '/v1/chat/completions', stream = false, from = `10.0.0.${address++ % 250}`, signal = undefined as AbortSignal | undefined } = {},
  ) =>
    fetch(`${gateway.url}${path}`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json', 'x-forwarded-for': from, 'anthropic-version': '2023-06-01' },
      body: JSON.stringify({ model, stream, max_tokens: 100, messages: [{ role: 'user', content: 'hi' }] }),
      ...(signal && { signal }),
    });
  /** Not more at once than the global cap lets in. */
  async function many(count: number, one: () => Promise<Response>) {
    const replies: { status: number; headers: Headers; text: string }[] = [];
    const work = async () => {
      while (replies.length + running <= count - 1) {
        running++;
        const reply = await one();
        const text = await reply.text();
        running--;
        replies.push({ status: reply.status, headers: reply.headers, text });
      }
    };
    let running = 0;
    await Promise.all(Array.from({ length: 10 }, work));
    return replies;
  }

  test("the key's own limit: exactly so many; then plain text in the very words, without Retry-After", async () => {
    const replies = await many(50, () => ask(keys.own));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(10);
    const refused = replies.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(40);
    for (const { text, headers } of refused) {
      expect(text).toMatch(/^Rate limit exceeded \(10 requests per 600s\)\. Retry after \d+s$/);
      expect(headers.get('content-type')).toMatch(/^text\/plain/);
      expect(headers.has('retry-after')).toBe(false);
      expect(headers.has('x-request-id')).toBe(true);
    }
    const row = await gateway.row(refused[0]!.headers.get('x-request-id')!);
    expect(row).toMatchObject({ status: 429, error_code: 'rate_limited', access_key: 'own' });
  });

  test("the group's limit is each key's own; the default of all keys is 120 when only the window is given", async () => {
    const grouped = await many(5, () => ask(keys.grouped));
    expect(grouped.filter(({ status }) => status === 200)).toHaveLength(3);
    expect(grouped.find(({ status }) => status === 429)!.text).toContain('(3 requests per 60s)');
    const plain = await many(125, () => ask(keys.plain));
    expect(plain.filter(({ status }) => status === 200)).toHaveLength(120);
    expect(plain.find(({ status }) => status === 429)!.text).toContain('(120 requests per 120s)');
  });

  test("an address: JSON in the caller's shape, without Retry-After, whatever the key", async () => {
    const replies = await many(155, () => ask('no-such-key', { from: '192.0.2.7', path: '/v1/messages' }));
    expect(replies.filter(({ status }) => status === 401)).toHaveLength(150);
    const refused = replies.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(5);
    expect(JSON.parse(refused[0]!.text)).toMatchObject({ type: 'error', error: { type: 'rate_limit_error' } });
    expect(refused[0]!.headers.has('retry-after')).toBe(false);
    expect((await ask('no-such-key', { from: '192.0.2.8' })).status).toBe(401);
  });

  test('a model: JSON with Retry-After', async () => {
    const replies = await many(4, () => ask(gateway.key, { model: 'limited' }));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 200, 429, 429]);
    const refused = replies.find(({ status }) => status === 429)!;
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(15);
    expect(refused.headers.get('content-type')).toContain('json');
  });

  test('a load balancer: a node at its limit is passed over at once; all of them: 429 with the soonest Retry-After', async () => {
    const began = performance.now();
    const replies = await many(10, () => ask(gateway.key, { model: 'either' }));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(5);
    const refused = replies.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(5);
    for (const { headers } of refused) {
      expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(5);
      expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(20);
    }
    // A turn at one of them would have come no sooner than this.
    expect(performance.now() - began).toBeLessThan(20_000);
  });

  test('streams and requests at once: 503 at once, and places come back', async () => {
    const leaving = new AbortController();
    const streams = await Promise.all(Array.from({ length: 5 }, () => ask(gateway.key, { model: 'endless', stream: true, signal: leaving.signal })));
    expect(streams.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    const began = performance.now();
    const sixth = await ask(gateway.key, { model: 'endless', stream: true });
    expect([sixth.status, ((await sixth.json()) as { error: { code: string } }).error.code]).toEqual([503, 'too_many_streams']);
    expect(performance.now() - began).toBeLessThan(5000);
    expect((await ask(gateway.key, { model: 'used-up' })).status).toBe(200);
    const limitStatus = async () => (await gateway.console('GET', '/rate-limit-status')).body;
    await until(async () => (await limitStatus()).global.used === 5, 'the other places to be given back');
    const status = await limitStatus();
    expect(status).toMatchObject({ global: { used: 5, limit: 12 }, streams: { used: 5, limit: 5 }, degraded: false, processes: { missing: [] } });
    expect(status.models.find(({ name }: { name: string }) => name === 'used-up')).toMatchObject({ used: 0, waiting: 0, rpm_left: 0, limit: { rpm: 1 } });
    const explained = await gateway.console('POST', '/route/explain', { access_key: 'own', model: 'used-up' });
    expect(explained.body.limits).toEqual(
      expect.arrayContaining([
        { layer: 'global', name: 'streams', limit: 5, left: 0 },
        { layer: 'key', name: 'own', limit: 10, left: 0 },
        { layer: 'model_rpm', name: 'used-up', limit: 1, left: 0 },
      ]),
    );
    expect(status.keys.find(({ name }: { name: string }) => name === 'own')).toMatchObject({ used: 10, limit: 10, window_secs: 600 });
    expect(status.ips.find(({ name }: { name: string }) => name === '192.0.2.7')).toMatchObject({ used: 150, limit: 150 });
    leaving.abort();
    await Promise.allSettled(streams.map((stream) => stream.text()));
    await until(async () => (await gateway.console('GET', '/rate-limit-status')).body.streams.used === 0, 'the places to come back');
  });

  test("a budget: spent, then 402 in the caller's shape; a restart does not forget", async () => {
    const spend = async (key: string) => {
      const statuses: number[] = [];
      while (statuses.at(-1) !== 402 && statuses.length < 20) {
        const reply = await ask(key, { model: priced });
        statuses.push(reply.status);
        if (reply.status === 402) expect((await reply.json()) as object).toMatchObject({ error: { message: expect.stringContaining('budget') } });
        else await reply.text();
      }
      return statuses;
    };
    const statuses = await spend(keys.poor);
    expect(statuses.at(-1)).toBe(402);
    expect(statuses.length).toBeGreaterThan(2);
    expect((await spend(keys.shared)).at(-1)).toBe(402);
    const budgetOf = async () => (await gateway.console('GET', '/rate-limit-status')).body.budgets.find(({ name }: { name: string }) => name === 'poor');
    await until(async () => (await budgetOf()).reserved_micros === 0, 'nothing to be reserved any more');
    const poor = await budgetOf();
    expect(poor).toMatchObject({ kind: 'key', currency: 'USD', period: 'month', limit_micros: 3000 });
    expect(poor.spent_micros).toBeGreaterThanOrEqual(3000);
    const cost = async () => (await gateway.rows()).filter(({ access_key }) => access_key === 'poor').reduce((sum, row) => sum + (row.cost_micros ?? 0), 0);
    await until(async () => (await cost()) === poor.spent_micros, 'the rows to say the same');
    await (gateway.processes['edge'] ?? gateway.processes['data-plane'] ?? gateway.processes['gateway'])!.restart();
    await until(async () => (await ask(gateway.key)).ok, 'the edge to be back');
    expect((await ask(keys.poor, { model: priced })).status).toBe(402);
    const explained = async () => (await gateway.console('POST', '/route/explain', { access_key: 'poor', model: priced })).body.refusal;
    expect(await explained()).toMatchObject({ code: 'budget_exhausted', status: 402 });
    // A budget that is raised counts at once.
    await gateway.console('PATCH', '/access-keys/poor', { budget: { limit: 1, period: 'month' } });
    await gateway.settle();
    expect((await ask(keys.poor, { model: priced })).status).toBe(200);
    // One of other money begins anew, though the edge still holds the former one's account, which alone would be spent.
    await gateway.console('PATCH', '/access-keys/poor', { budget: { limit: 0.003, period: 'month', currency: 'EUR' } });
    await gateway.settle();
    expect((await ask(keys.poor, { model: priced })).status).toBe(200);
    expect(await explained()).toBeNull();
  });
});
