/**
 * Budgets in money under load, as their callers see them: what is reserved is what a request may cost, so that 50 at once pass a limit by one
 * reservation at most; in one process, and over two edges, two translators and Redis, some of which are killed.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mintAccessKey } from '@model-gateway/secrets';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { type Arrangement, splitAvailable, startGateway, type TestGateway, until } from '../support/gateway.ts';
import { type RedisServer, redisAvailable, redisWay, startRedisServer } from '../support/redis-server.ts';

const sharing = splitAvailable('budgets of several processes') && redisAvailable('budgets of several processes') && redisWay('') !== null;

/** What the fake's replies cost: a family's reference price is 2.5 and 10 dollars for a million tokens, and it writes at most 16,384 at once. */
const priced = 'gpt-4o';
const micros = (outputTokens: number): number => outputTokens * 10;
/** Beside the reply: what vendors add, and the request itself. */
const ofRequest = 4_000;
const longReply = 6_000;
const names = ['named', 'silent', 'streams', 'choices', 'careful', 'shared-1', 'shared-2', 'leaving', 'taking', 'dying', 'rerouted', 'remade'] as const;

describe.each<Arrangement>(sharing ? ['embedded', 'split'] : ['embedded'])('%s', (arrangement) => {
  let upstream: FakeUpstream;
  let redis: RedisServer | undefined;
  let gateway: TestGateway;
  const keys = Object.fromEntries(names.map((name) => [name, mintAccessKey()])) as Record<(typeof names)[number], string>;

  beforeAll(async () => {
    upstream = await startFakeUpstream();
    if (arrangement === 'split') redis = await startRedisServer({ own: true });
    // Redis on a busy machine is slow, not lost: a lost one has suites of its own.
    const shared = redis && { twice: ['edge', 'translator'] as const, env: { REDIS_URL: redis.url }, toml: { server: { redis_timeout_ms: 30_000 } } };
    gateway = await startGateway({ arrangement, ...shared });
    const budget = (limit: number) => ({ budget: { limit, period: 'total' as const } });
    await gateway.configure({
      upstreams: [{ name: 'fake', protocol: 'alpha', base_url: upstream.url, api_keys: [{ key: 'sk-fake' }] }],
      models: [
        { name: priced, upstream: 'fake', upstream_model_id: `text:${longReply}` },
        { name: 'gpt-4o-short', upstream: 'fake', upstream_model_id: 'text:20+slow:2' },
        { name: 'gpt-4o-endless', upstream: 'fake', upstream_model_id: 'pump+slow:50' },
        {
          name: 'gpt-4o-mini',
          upstream: 'fake',
          upstream_model_id: 'text:5',
          request_body_rules: [{ mode: 'switch-route', when: [{ path: 'user' }], use_model: priced }],
        },
      ],
      key_groups: [{ name: 'common', models: ['*'], ...budget(0.2) }],
      access_keys: [
        { name: 'named', group: 'everyone', key: keys.named, ...budget(0.3) },
        { name: 'silent', group: 'everyone', key: keys.silent, ...budget(0.3) },
        { name: 'streams', group: 'everyone', key: keys.streams, ...budget(0.2) },
        { name: 'choices', group: 'everyone', key: keys.choices, ...budget(0.3) },
        { name: 'careful', group: 'everyone', key: keys.careful, ...budget(0.05) },
        { name: 'shared-1', group: 'common', key: keys['shared-1'], ...budget(5) },
        { name: 'shared-2', group: 'common', key: keys['shared-2'] },
        { name: 'leaving', group: 'everyone', key: keys.leaving, ...budget(0.05) },
        { name: 'taking', group: 'everyone', key: keys.taking, ...budget(5) },
        { name: 'dying', group: 'everyone', key: keys.dying, ...budget(0.3) },
        { name: 'rerouted', group: 'everyone', key: keys.rerouted, ...budget(0.2) },
        { name: 'remade', group: 'everyone', key: keys.remade, ...budget(0.05) },
      ],
    });
    for (const url of gateway.edgeUrls) await until(async () => (await ask('rerouted', { model: 'gpt-4o-mini' }, { url })).ok, 'every edge to know the keys');
  });
  afterAll(async () => {
    await gateway?.stop();
    await upstream.close();
    await redis?.dispose();
  });

  let turn = 0;
  const ask = (
    name: (typeof names)[number],
    body: object,
    { url = gateway.edgeUrls[turn++ % gateway.edgeUrls.length]!, signal = undefined as AbortSignal | undefined } = {},
  ) =>
    fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'x-api-key': keys[name], 'content-type': 'application/json' },
      body: JSON.stringify({ model: priced, messages: [{ role: 'user', content: 'hi' }], ...body }),
      ...(signal && { signal }),
    });
  const statuses = (count: number, name: (typeof names)[number], body: object = {}) =>
    Promise.all(
      Array.from({ length: count }, async () => {
        const reply = await ask(name, body);
        await reply.text();
        return reply.status;
      }),
    );
  const countOf = (list: readonly number[], status: number) => list.filter((one) => one === status).length;
  const budgetOf = async (name: string): Promise<{ spent_micros: number; reserved_micros: number; limit_micros: number } | undefined> =>
    (await gateway.console('GET', '/rate-limit-status')).body.budgets.find((one: { name: string }) => one.name === name);
  const costOf = async (...owners: string[]) =>
    (await gateway.rows()).filter(({ access_key }) => owners.includes(access_key ?? '')).reduce((sum, row) => sum + (row.cost_micros ?? 0), 0);

  /** What was settled is on its way to the store for a moment after the reply. */
  const settled = async (name: string) => {
    await until(async () => (await budgetOf(name))?.reserved_micros === 0, `nothing of ${name} to be reserved`);
    return (await budgetOf(name))!;
  };

  /** 50 at once: every one is answered or refused, the rows agree with what was counted, and it is less than a reservation beyond the limit. */
  async function overload(name: (typeof names)[number], body: object, reservation: number): Promise<number> {
    const seen: { spent: number; reserved: number }[] = [];
    let going = true;
    const sampling = (async () => {
      while (going) {
        const known = await budgetOf(name);
        if (known) seen.push({ spent: known.spent_micros, reserved: known.reserved_micros });
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    })();
    const all = await statuses(50, name, body);
    going = false;
    await sampling;
    expect(countOf(all, 200) + countOf(all, 402)).toBe(50);
    expect(countOf(all, 402)).toBeGreaterThan(0);
    const { limit_micros, spent_micros } = await settled(name);
    expect(spent_micros).toBeGreaterThanOrEqual(limit_micros);
    for (const { spent, reserved } of [...seen, { spent: spent_micros, reserved: 0 }]) expect(spent + reserved).toBeLessThan(limit_micros + reservation);
    await until(async () => (await costOf(name)) === spent_micros, 'the rows to say the same');
    expect(countOf(await statuses(5, name, body), 402)).toBe(5);
    return countOf(all, 200);
  }

  test("replies as long as the callers' own cap", async () => {
    // Five such replies are the whole budget; never more than one of them beyond it.
    expect(await overload('named', { max_tokens: longReply }, micros(longReply) + ofRequest)).toBeLessThanOrEqual(6);
  });

  test("no cap: the model's own counts", async () => {
    await overload('silent', {}, micros(16_384) + ofRequest);
  });

  test('streams', async () => {
    await overload('streams', { stream: true, stream_options: { include_usage: true }, max_completion_tokens: longReply }, micros(longReply) + ofRequest);
  });

  test('several replies to one request', async () => {
    await overload('choices', { max_tokens: longReply / 2, n: 2 }, micros(longReply) + ofRequest);
  });

  test('a budget that is smaller than a reservation serves short requests one after another, instead of refusing them', async () => {
    expect(countOf(await statuses(12, 'careful', { model: 'gpt-4o-short' }), 200)).toBe(12);
    expect((await settled('careful')).spent_micros).toBeLessThan(12 * 1_000);
  });

  test('keys of one group share what it has', async () => {
    const all = (await Promise.all([statuses(25, 'shared-1', { max_tokens: longReply }), statuses(25, 'shared-2', { max_tokens: longReply })])).flat();
    expect(countOf(all, 200) + countOf(all, 402)).toBe(50);
    const { spent_micros, limit_micros } = await settled('common');
    expect(spent_micros).toBeGreaterThanOrEqual(limit_micros);
    expect(spent_micros).toBeLessThan(limit_micros + micros(longReply) + ofRequest);
    await settled('shared-1');
  });

  test('a key that is deleted and made again under its name goes on with what was spent', async () => {
    expect((await ask('remade', { max_tokens: longReply })).status).toBe(200);
    const { spent_micros } = await settled('remade');
    expect((await gateway.console('DELETE', '/access-keys/remade')).status).toBe(204);
    keys.remade = mintAccessKey();
    const again = { name: 'remade', group: 'everyone', key: keys.remade, budget: { limit: 0.05, period: 'total' } };
    expect((await gateway.console('POST', '/access-keys', again)).status).toBe(201);
    for (const url of gateway.edgeUrls) await until(async () => (await ask('remade', {}, { url })).status === 402, 'the new key to be refused as the old one');
    expect((await budgetOf('remade'))!.spent_micros).toBe(spent_micros);
  });

  test('a rule may send a request on to a dearer model: its price is reserved', async () => {
    expect(await overload('rerouted', { model: 'gpt-4o-mini', user: 'x', max_tokens: longReply }, micros(longReply) + ofRequest)).toBeLessThanOrEqual(5);
  });

  test('a caller who leaves the line stands in nobody’s way, and one who leaves a reply gives back what it had', async () => {
    const leaving = new AbortController();
    const endless = await ask('leaving', { model: 'gpt-4o-endless', stream: true }, { signal: leaving.signal });
    expect(endless.status).toBe(200);
    const impatient = new AbortController();
    const waiting = Array.from({ length: 5 }, () =>
      ask('leaving', { model: 'gpt-4o-short' }, { signal: impatient.signal }).then(
        () => 'answered',
        () => 'left',
      ),
    );
    await new Promise((resolve) => setTimeout(resolve, 400));
    impatient.abort();
    expect(await Promise.all(waiting)).toEqual(Array(5).fill('left'));
    leaving.abort();
    await endless.text().catch(() => undefined);
    expect((await ask('leaving', { model: 'gpt-4o-short' })).status).toBe(200);
    await settled('leaving');
  });

  test('what a caller took before leaving is known of the budget as soon as it is known of the row', async () => {
    const leaving = new AbortController();
    const endless = await ask('taking', { model: 'gpt-4o-endless', stream: true }, { signal: leaving.signal });
    await endless.body!.getReader().read();
    const left = performance.now();
    leaving.abort();
    let cost = 0;
    await until(async () => {
      cost = await costOf('taking');
      return cost > 0;
    }, 'the row of who left');
    // A row that takes longer than it is waited for comes into the budget with the next requests.
    const isLate = performance.now() - left > 1_500;
    expect(isLate || (await budgetOf('taking'))!.reserved_micros > 0 || (await budgetOf('taking'))!.spent_micros >= cost).toBe(true);
    const { spent_micros } = await settled('taking');
    expect(isLate || spent_micros === cost).toBe(true);
  });

  if (arrangement === 'embedded') return;

  test('kill -9 of an edge and a translator: what they had reserved is free again once their leases are over', async () => {
    const leaving = new AbortController();
    const streams = await Promise.all(gateway.edgeUrls.map((url) => ask('dying', { model: 'gpt-4o-endless', stream: true }, { url, signal: leaving.signal })));
    expect(streams.map(({ status }) => status)).toEqual([200, 200]);
    await until(async () => ((await budgetOf('dying'))?.reserved_micros ?? 0) > 300_000, 'both reservations to be seen');
    const reading = Promise.allSettled(streams.map((stream) => stream.text()));
    await Promise.all(['edge-2', 'translator-2'].map((name) => gateway.processes[name]!.kill('SIGKILL')));
    const died = performance.now();
    leaving.abort();
    await reading;
    await until(async () => {
      const one = await ask('dying', { model: 'gpt-4o-short', max_tokens: 20 }, { url: gateway.url });
      await one.text();
      return one.status === 200 && (await budgetOf('dying'))!.reserved_micros === 0;
    }, 'the reservations of the dead to be gone');
    // A lease is 10 s; the rest is what a busy machine takes to ask.
    expect(performance.now() - died).toBeLessThan(20_000);
  });
});
