/** Limits over two edges and two translators: exact while Redis is there, no error when it is not, and true again after any death. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mintAccessKey } from '@model-gateway/secrets';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { splitAvailable, startGateway, type TestGateway, until } from '../support/gateway.ts';
import { type RedisServer, redisAvailable, redisWay, startRedisServer } from '../support/redis-server.ts';
import { send } from '../support/send.ts';

const possible = splitAvailable('limits shared by processes') && redisAvailable('limits shared by processes') && redisWay('') !== null;
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

(possible ? describe : describe.skip)('two edges, two translators, one Redis', () => {
  let upstream: FakeUpstream;
  let redis: RedisServer;
  let gateway: TestGateway;
  const keys = { counted: mintAccessKey(), second: mintAccessKey(), poor: mintAccessKey(), flood: mintAccessKey(), modest: mintAccessKey() };

  beforeAll(async () => {
    [upstream, redis] = await Promise.all([startFakeUpstream(), startRedisServer({ own: true })]);
    gateway = await startGateway({
      arrangement: 'split',
      twice: ['edge', 'translator', 'router'],
      env: { REDIS_URL: redis.url },
      // A busy machine makes Redis slow, which is not what is tested; one that is killed is known to be lost at once.
      toml: { streaming: { max_concurrent_streams: 12 }, server: { redis_timeout_ms: 20_000 } },
    });
    await gateway.configure({
      upstreams: [{ name: 'fake', protocol: 'alpha', base_url: upstream.url, api_keys: [{ key: 'sk-fake' }] }],
      models: [
        { name: 'free', upstream: 'fake', upstream_model_id: 'text:2' },
        { name: 'narrow', upstream: 'fake', upstream_model_id: 'text:3+slow:15', rate_limit: { max_concurrency: 4, wait_timeout_secs: 30 } },
        { name: 'held', upstream: 'fake', upstream_model_id: 'pump+slow:50', rate_limit: { max_concurrency: 4, wait_timeout_secs: 0 } },
        { name: 'rationed', upstream: 'fake', upstream_model_id: 'text:1', rate_limit: { rpm: 7, wait_timeout_secs: 0 } },
        { name: 'gpt-4o', upstream: 'fake', upstream_model_id: 'text:100' },
        { name: 'endless', upstream: 'fake', upstream_model_id: 'pump+slow:50' },
        { name: 'single', upstream: 'fake', upstream_model_id: 'text:2+slow:20', rate_limit: { max_concurrency: 1, wait_timeout_secs: 30 } },
      ],
      access_keys: [
        { name: 'counted', group: 'everyone', key: keys.counted, rate_limit: { rpm: 10 } },
        { name: 'second', group: 'everyone', key: keys.second, rate_limit: { rpm: 500 } },
        { name: 'poor', group: 'everyone', key: keys.poor, budget: { limit: 0.05, period: 'total' } },
        { name: 'flood', group: 'everyone', key: keys.flood },
        { name: 'modest', group: 'everyone', key: keys.modest },
      ],
    });
    // The second edge has its own snapshot of the configuration.
    await until(async () => (await ask(keys.second, 'free', { edge: 1 })).ok, 'the second edge to know the keys');
  });
  afterAll(async () => {
    await gateway?.stop();
    await Promise.all([upstream.close(), redis.dispose()]);
  });

  let turn = 0;
  const edgeUrl = (edge: number) => gateway.edgeUrls[edge % 2]!;
  const ask = (key: string, model: string, { stream = false, edge = turn++, signal = undefined as AbortSignal | undefined } = {}) =>
    fetch(`${edgeUrl(edge)}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify({ model, stream, messages: [{ role: 'user', content: 'hi' }] }),
      ...(signal && { signal }),
    });
  const statuses = (count: number, key: string, model: string, options: { stream?: boolean } = {}) =>
    Promise.all(
      Array.from({ length: count }, async () => {
        const reply = await ask(key, model, options);
        await reply.text();
        return reply.status;
      }),
    );
  const countOf = (list: readonly number[], status: number) => list.filter((one) => one === status).length;
  const limitStatus = async () => (await gateway.console('GET', '/rate-limit-status')).body;

  /** The most calls of a model that the upstream had open at once. */
  function maxConcurrent(model: string): number {
    const marks = upstream.requests
      .filter(({ json }) => json['model'] === model)
      .flatMap(({ at, closed }) => [
        { at, step: 1 },
        { at: closed?.at ?? Number.POSITIVE_INFINITY, step: -1 },
      ]);
    marks.sort((a, b) => a.at - b.at || a.step - b.step);
    let now = 0;
    let max = 0;
    for (const { step } of marks) {
      now += step;
      max = Math.max(max, now);
    }
    return max;
  }

  test('50 at once: requests of a key and calls of a model are exact', async () => {
    expect(countOf(await statuses(50, keys.counted, 'free'), 200)).toBe(10);
    expect(countOf(await statuses(50, gateway.key, 'rationed'), 200)).toBe(7);
    let status = await limitStatus();
    // Who has just started is known after its first sign of life.
    await until(async () => {
      status = await limitStatus();
      return status.processes.answered.length >= 4 && status.processes.missing.length === 0;
    }, 'all four to answer');
    expect(status).toMatchObject({ backend: 'redis', degraded: false, processes: { missing: [] } });
    expect(status.processes.answered).toHaveLength(4);
    expect(status.keys.find(({ name }: { name: string }) => name === 'counted')).toMatchObject({ used: 10, limit: 10 });
  });

  test('calls at once: never more at the upstream, all are served, and both translators take part', async () => {
    // Not more streams than the cap on streams lets in, and half of it: the place of one that has just ended may not be free yet.
    const rounds = await Promise.all(
      Array.from({ length: 3 }, async () => {
        const seen: number[] = [];
        for (let round = 0; round < 5; round++) seen.push(...(await statuses(2, gateway.key, 'narrow', { stream: true })));
        return seen;
      }),
    );
    expect(countOf(rounds.flat(), 200)).toBe(30);
    expect(maxConcurrent('text:3+slow:15')).toBeLessThanOrEqual(4);
    await until(async () => (await limitStatus()).models.find(({ name }: { name: string }) => name === 'narrow').used === 0, 'all permits to be back');
  });

  test('streams at once: one cap over both edges, and its places come back', async () => {
    const leaving = new AbortController();
    const streams = await Promise.all(Array.from({ length: 30 }, () => ask(gateway.key, 'endless', { stream: true, signal: leaving.signal })));
    expect(
      countOf(
        streams.map(({ status }) => status),
        200,
      ),
    ).toBe(12);
    expect(
      countOf(
        streams.map(({ status }) => status),
        503,
      ),
    ).toBe(18);
    leaving.abort();
    await Promise.allSettled(streams.map((stream) => stream.text()));
    await until(async () => countOf(await statuses(8, gateway.key, 'free', { stream: true }), 200) === 8, 'the places to come back');
  });

  test('a budget: 50 at once overshoot by one reservation at most, and none is let in afterwards', async () => {
    const first = await statuses(50, keys.poor, 'gpt-4o');
    expect(countOf(first, 200)).toBeGreaterThan(0);
    expect(countOf(first, 402)).toBe(50 - countOf(first, 200));
    let later: number[] = [];
    await until(async () => {
      later = await statuses(10, keys.poor, 'gpt-4o');
      return countOf(later, 402) === 10;
    }, 'the budget to be spent');
    const [budget] = (await limitStatus()).budgets.filter(({ name }: { name: string }) => name === 'poor');
    // One reply of 100 tokens beyond it; what may be reserved is in budgets.test.ts.
    expect(budget.spent_micros).toBeLessThanOrEqual(50_000 + 2_000);
    expect(budget.spent_micros).toBeGreaterThanOrEqual(50_000);
  });

  test('a flood of one key does not keep another from its turn', async () => {
    const flood = Promise.all(Array.from({ length: 60 }, () => ask(keys.flood, 'single').then((reply) => reply.text())));
    await until(async () => upstream.requests.filter(({ json }) => json['model'] === 'text:2+slow:20').length >= 2, 'the flood to be served');
    const began = performance.now();
    const before = upstream.requests.filter(({ json }) => json['model'] === 'text:2+slow:20').length;
    expect((await ask(keys.modest, 'single')).status).toBe(200);
    const after = upstream.requests.filter(({ json }) => json['model'] === 'text:2+slow:20').length;
    // Its turn comes after a call of each process, not after the whole line.
    expect(after - before).toBeLessThan(15);
    expect(performance.now() - began).toBeLessThan(5000);
    await flood;
    expect(maxConcurrent('text:2+slow:20')).toBe(1);
  });

  test('an explanation says what each of two routers would do, and who did not answer', async () => {
    const explain = async () => (await gateway.console('POST', '/route/explain', { access_key: 'second', model: 'free' })).body;
    await until(async () => (await explain()).routers.length === 2, 'both routers to answer');
    const { nodes, routers, processes, limits } = await explain();
    expect(processes).toEqual({ answered: routers.map(({ process }: { process: string }) => process), missing: [] });
    for (const router of routers) expect(router).toMatchObject({ nodes: [{ model: 'free', state: 'healthy', position: 1 }], refusal: null });
    expect(nodes).toEqual(routers[0].nodes);
    expect(limits).toEqual(expect.arrayContaining([expect.objectContaining({ layer: 'key', name: 'second', limit: 500 })]));
    await gateway.processes['router-2']!.kill('SIGSTOP');
    const late = await explain();
    await gateway.processes['router-2']!.kill('SIGCONT');
    expect([late.routers.length, late.processes.missing.length, late.refusal]).toEqual([1, 1, null]);
  });

  test('callers that leave while Redis is asked about them give back their places, and each call leaves its row', async () => {
    const { hostname, port } = new URL(edgeUrl(0));
    const gauge = async (name: string) => Number(new RegExp(`^${name}\\{.*\\} (\\d+)$`, 'm').exec(await gateway.processes['edge']!.metrics())?.[1]);
    await until(async () => (await gauge('gateway_requests_active')) === 0, 'the calls before to be over');
    const body = JSON.stringify({ model: 'free', messages: [{ role: 'user', content: 'hi' }] });
    const post = (path: string, id: string) =>
      `POST ${path} HTTP/1.1\r\nhost: h\r\nx-api-key: ${keys.second}\r\nz-request-id: ${id}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    const ids = Array.from({ length: 30 }, (_, at) => `left-${at}`);
    const callers = [...ids.map((id) => post('/v1/chat/completions', id)), ...ids.map((id) => post('/mcp', id))];
    const before = await gauge('gateway_connections');
    await redis.signal('SIGSTOP');
    const sockets = callers.map((text) => {
      const socket = connect(Number(port), hostname).on('error', () => undefined);
      socket.write(text);
      return socket;
    });
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    // Who is answered came after them.
    expect((await send(edgeUrl(0), '/healthz', { method: 'GET' })).status).toBe(200);
    for (const socket of sockets) socket.destroy();
    await until(async () => (await gauge('gateway_connections')) <= before, 'the callers to be gone');
    await redis.signal('SIGCONT');
    await until(async () => (await gauge('gateway_requests_active')) === 0, 'the places to be given back');
    for (const id of ids) expect(await gateway.row(id)).toMatchObject({ status: 499, error_code: 'client_gone' });
  });

  test('kill -9 of a translator and an edge that hold permits: within 15 s everything can be taken again', async () => {
    const streams = await Promise.all(Array.from({ length: 4 }, () => ask(gateway.key, 'held', { stream: true })));
    expect(streams.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect((await ask(gateway.key, 'held')).status).toBe(429);
    const reading = Promise.allSettled(streams.map((stream) => stream.text()));
    const { 'edge-2': edge, 'translator-2': translator } = gateway.processes;
    await Promise.all([edge!.kill('SIGKILL'), translator!.kill('SIGKILL'), gateway.processes['translator']!.kill('SIGKILL')]);
    const died = performance.now();
    await Promise.all([edge!.restart(), translator!.restart(), gateway.processes['translator']!.restart()]);
    // How long a process takes to start is not what is measured.
    const starting = performance.now() - died;
    await reading;
    const leaving = new AbortController();
    const held: Response[] = [];
    await until(async () => {
      const one = await ask(gateway.key, 'held', { stream: true, edge: 0, signal: leaving.signal });
      if (one.status === 200) held.push(one);
      else await one.text();
      return held.length === 4;
    }, 'all four permits to be free');
    // With what a busy machine takes to ask.
    expect(performance.now() - died - starting).toBeLessThan(15_000 + 10_000);
    expect((await ask(gateway.key, 'held', { edge: 0 })).status).toBe(429);
    leaving.abort();
    await Promise.allSettled(held.map((stream) => stream.text()));
  });

  test('Redis killed, started empty and flushed under load: no error of the data plane, said in the status, back in sync', async () => {
    await until(async () => (await ask(keys.second, 'free', { edge: 1 })).ok, 'the second edge');
    const seen: number[] = [];
    let going = true;
    const load = Promise.all(
      Array.from({ length: 6 }, async () => {
        while (going) {
          const reply = await ask(keys.second, seen.length % 3 === 0 ? 'narrow' : 'free');
          await reply.text();
          seen.push(reply.status);
          await sleep(10);
        }
      }),
    );
    const more = async (): Promise<void> => {
      const sofar = seen.length;
      await until(async () => seen.length >= sofar + 50, 'more requests');
    };
    await more();
    await redis.kill();
    await until(async () => (await limitStatus()).degraded === true, 'the status to say so');
    const ready = await fetch(`${edgeUrl(0)}/readyz`);
    expect([ready.status, await ready.json()]).toEqual([200, { status: 'ready', ready: true, reasons: [], notes: ['limits-by-share'] }]);
    await more();
    await redis.start();
    const back = performance.now();
    await until(async () => (await limitStatus()).degraded === false, 'to be back in sync', 30_000);
    expect(performance.now() - back).toBeLessThan(5000 + 10_000);
    await redis.command('FLUSHALL');
    await more();
    going = false;
    await load;
    expect(seen.length).toBeGreaterThan(50);
    expect(seen.filter((status) => status !== 200 && status !== 429)).toEqual([]);
    expect(maxConcurrent('text:3+slow:15')).toBeLessThanOrEqual(4);
  });
});
