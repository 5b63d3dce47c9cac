/** Redis is lost for the first time: two processes of a kind let in no more than the limit together, from the first request on. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mintAccessKey } from '@model-gateway/secrets';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { type Arrangement, type SplitService, splitAvailable, startGateway, type TestGateway, until } from '../support/gateway.ts';
import { underLoadFor } from '../support/pauses.ts';
import { type RedisServer, redisAvailable, redisWay, startRedisServer } from '../support/redis-server.ts';

const possible = splitAvailable('limits by share') && redisAvailable('limits by share') && redisWay('') !== null;
/** Processes are known by their heartbeats, one in two seconds. */
const heartbeatMs = 2_500;
/** Who is silent for seven seconds counts as gone, where silence says so. */
const silenceMs = 8_000;
const held = 'pump+slow:50';

interface Stage {
  upstream: FakeUpstream;
  redis: RedisServer;
  gateway: TestGateway;
  /** Of access keys with ten requests an hour. */
  keys: string[];
}

async function openStage(arrangement: Arrangement, twice: readonly SplitService[]): Promise<Stage> {
  const [upstream, redis] = await Promise.all([startFakeUpstream(), startRedisServer({ own: true })]);
  // A busy machine makes Redis slow, which is not what is tested; one that is killed is known to be lost at once.
  const toml = { server: { redis_timeout_ms: 20_000 } };
  const gateway = await startGateway({ arrangement, twice, env: { REDIS_URL: redis.url }, toml });
  const keys = Array.from({ length: 3 }, () => mintAccessKey());
  await gateway.configure({
    upstreams: [{ name: 'fake', protocol: 'alpha', base_url: upstream.url, api_keys: [{ key: 'sk-fake' }] }],
    models: [
      { name: 'free', upstream: 'fake', upstream_model_id: 'text:1' },
      { name: 'held', upstream: 'fake', upstream_model_id: held, rate_limit: { max_concurrency: 4, wait_timeout_secs: 0 } },
    ],
    access_keys: keys.map((key, at) => ({ name: `counted-${at}`, group: 'everyone', key, rate_limit: { rpm: 10, window_secs: 3600 } })),
  });
  await underLoadFor(heartbeatMs);
  return { upstream, redis, gateway, keys };
}

async function closeStage({ upstream, redis, gateway }: Stage): Promise<void> {
  await gateway.stop();
  await Promise.all([upstream.close(), redis.dispose()]);
}

/** So many at once, in turns at either edge. */
function askMany(gateway: TestGateway, count: number, { key, model, signal }: { key: string; model: string; signal?: AbortSignal }): Promise<Response[]> {
  const body = JSON.stringify({ model, stream: signal !== undefined, messages: [{ role: 'user', content: 'hi' }] });
  const headers = { 'x-api-key': key, 'content-type': 'application/json' };
  const ask = (at: number) => fetch(`${gateway.edgeUrls[at % 2]}/v1/chat/completions`, { method: 'POST', headers, body, ...(signal && { signal }) });
  return Promise.all(Array.from({ length: count }, (_, at) => ask(at)));
}

/** How many of 24 the key lets through; no other answer than a refusal for its limit is allowed. */
async function passedOf24(gateway: TestGateway, key: string): Promise<number> {
  const replies = await askMany(gateway, 24, { key, model: 'free' });
  await Promise.all(replies.map((reply) => reply.text()));
  const statuses = replies.map(({ status }) => status);
  expect(statuses.filter((status) => status !== 200 && status !== 429)).toEqual([]);
  return statuses.filter((status) => status === 200).length;
}

/** All processes that show what they are on their second port. */
const allByShare = (gateway: TestGateway, names: readonly string[]) =>
  until(async () => {
    const states = await Promise.all(names.map(async (name) => (await fetch(`http://127.0.0.1:${gateway.processes[name]!.ports[1]}/readyz`)).json()));
    return states.every((state) => JSON.stringify(state).includes('limits-by-share'));
  }, 'all to say that limits hold by share');

(possible ? describe : describe.skip)('two edges and two translators', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage('split', ['edge', 'translator']);
  });
  afterAll(() => closeStage(stage));

  test('Redis killed: calls at once and requests of a key are no more than the limit', async () => {
    const { upstream, redis, gateway, keys } = stage;
    await redis.kill();
    await allByShare(gateway, ['edge', 'edge-2', 'translator', 'translator-2']);
    const leaving = new AbortController();
    const streams = await askMany(gateway, 24, { key: gateway.key, model: 'held', signal: leaving.signal });
    const calls = upstream.requests.filter(({ json, closed }) => json['model'] === held && !closed).length;
    leaving.abort();
    await Promise.allSettled(streams.map((stream) => stream.text()));
    expect(calls).toBe(4);
    expect(await passedOf24(gateway, keys[0]!)).toBe(10);
  });

  test('an edge that starts while Redis is away knows the other before it serves', async () => {
    const { gateway, keys } = stage;
    await gateway.processes['edge-2']!.kill('SIGKILL');
    await gateway.processes['edge-2']!.restart();
    const passed = await passedOf24(gateway, keys[1]!);
    // The other may still count the one that was killed.
    expect(passed).toBeGreaterThanOrEqual(8);
    expect(passed).toBeLessThanOrEqual(10);
  });
});

(possible ? describe : describe.skip)('two processes of a data plane', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage('data-plane', ['data-plane']);
  });
  afterAll(() => closeStage(stage));

  test('Redis and NATS killed: the last known share holds, however long nobody is heard', async () => {
    const { redis, gateway, keys } = stage;
    await Promise.all([redis.kill(), gateway.nats!.kill()]);
    await allByShare(gateway, ['data-plane', 'data-plane-2']);
    expect(await passedOf24(gateway, keys[0]!)).toBe(10);
    await underLoadFor(silenceMs);
    expect(await passedOf24(gateway, keys[1]!)).toBe(10);
    await gateway.nats!.start();
  });
});
