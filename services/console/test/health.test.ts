/** How upstreams, their keys, models, balancers, groups and access keys stand, by what became of the latest attempts. */
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { sealedAs } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import type { RecentAttempts } from '@model-gateway/storage';
import { sampleRow } from '../../../packages/storage/test/samples.ts';
import { until } from '../../../tests/support/gateway.ts';
import { noState, type ResourceState, stateOfAttempts, stateOfMany } from '../src/health/state-of-attempts.ts';
import { api, type FreshHarness, startFreshConsole } from './harness.ts';

const minute = 60_000;
const begin = Date.UTC(2026, 10, 23, 12);
const some = (outcome: string, attempts: number, { first = 0, last = 10 } = {}): RecentAttempts => ({
  upstream: 'u',
  key: 'k',
  model: 'm',
  outcome,
  attempts,
  durations: `20:${attempts}`,
  first: begin + first * minute,
  last: begin + last * minute,
});

describe('the rules', () => {
  test.each<[string, RecentAttempts[], ResourceState['status']]>([
    ['everything works', [some('ok', 9)], 'healthy'],
    ['one in a hundred fails', [some('ok', 99), some('http_500', 1)], 'healthy'],
    ['one in five fails', [some('ok', 8), some('http_500', 2)], 'degraded'],
    ['everything fails', [some('http_500', 3), some('connect_dns', 2)], 'failing'],
    ['most fails', [some('ok', 4), some('http_503', 6)], 'failing'],
    ['it failed, and works since', [some('ok', 1, { first: 9 }), some('http_500', 50, { last: 8 })], 'degraded'],
    ['its key is not accepted', [some('http_401', 3)], 'refused'],
    ['it asks to wait', [some('http_429', 3), some('http_500', 1)], 'limited'],
    ['callers sent nonsense, and left', [some('http_400', 30), some('client_gone', 3), some('ok', 1)], 'healthy'],
    ['callers sent nonsense alone', [some('http_400', 30)], 'idle'],
    ['callers asked for paths that it does not have', [some('no_such_path', 30)], 'idle'],
    ['it counts no tokens, and works', [some('no_count', 40), some('ok', 1)], 'healthy'],
    ['it failed hours ago', [some('http_500', 0)], 'idle'],
  ])('%s', (_what, found, status) => expect(stateOfAttempts(found, true).status).toBe(status));

  test('it fails since the last success, or since the first failure', () => {
    const at = (minutes: number) => new Date(begin + minutes * minute).toISOString();
    expect(stateOfAttempts([some('http_500', 5, { first: 3 })], true).since).toBe(at(3));
    expect(stateOfAttempts([some('ok', 0, { last: 5 }), some('http_500', 5, { first: 1 })], true).since).toBe(at(5));
    expect(stateOfAttempts([some('http_500', 5)], true)).toMatchObject({ attempts: 5, failed: 5, last_error: 'http_500' });
    expect(stateOfAttempts([], false).status).toBe('unused');
  });

  test('a balancer works while one of its entries may', () => {
    const of = (...all: ResourceState['status'][]) => stateOfMany(all.map(noState)).status;
    expect([of('failing', 'healthy'), of('failing', 'limited'), of('failing', 'idle'), of('disabled', 'healthy'), of('disabled')]).toEqual([
      'degraded',
      'failing',
      'degraded',
      'healthy',
      'disabled',
    ]);
    expect([of(), of('unused', 'idle'), of('unused'), of('degraded', 'healthy')]).toEqual(['disabled', 'idle', 'unused', 'degraded']);
  });
});

describe('answers of the API', () => {
  let harness: FreshHarness;
  let keyIds: string[];
  const get = async (path: string) => (await harness.call('GET', `${api}/${path}`)).body;
  const post = (path: string, body: unknown) => harness.call('POST', `${api}/${path}`, body);

  beforeAll(async () => {
    harness = await startFreshConsole();
    const keys = [{ key: 'sk-good', label: 'production' }, { key: 'sk-gone' }];
    for (const name of ['works', 'fails', 'quiet'])
      await post('upstreams', { name, protocol: 'alpha', base_url: 'http://127.0.0.1:9', api_keys: name === 'works' ? keys : [] });
    await post('upstreams', { name: 'off', protocol: 'alpha', base_url: 'http://127.0.0.1:9', api_keys: [], enabled: false });
    for (const [name, upstream] of [
      ['good', 'works'],
      ['bad', 'fails'],
      ['new', 'quiet'],
      ['dark', 'off'],
    ] as const)
      await post('models', { name, upstream, upstream_model_id: name });
    await post('load-balancers', { name: 'pool', entries: [{ model: 'bad' }, { model: 'good' }] });
    await post('load-balancers', { name: 'lost', entries: [{ model: 'bad' }, { model: 'dark' }] });
    await post('key-groups', { name: 'team', models: ['*'] });
    await post('key-groups', { name: 'poor', models: ['*'], budget: { limit: '0.01', period: 'total' } });
    for (const [name, group] of [
      ['ada', 'team'],
      ['eve', 'team'],
      ['old', 'team'],
    ] as const)
      await post('access-keys', { name, group, ...(name === 'old' && { expires_at: '2020-01-01T00:00:00Z' }) });
    keyIds = (await get('upstreams/works')).api_keys.map(({ id }: { id: string }) => id);
    const now = Date.now();
    const attempt = (upstream: string, model: string, status: number, key = '') => ({
      upstream,
      key_index: 0,
      status,
      error_code: status < 400 ? null : `e${status}`,
      duration_ms: 100,
      model,
      key,
    });
    const message = harness.keyring.seal('The server had an error.', sealedAs.attemptMessage('bad-0'));
    await harness.storage.requests.insertRows([
      ...Array.from({ length: 4 }, (_, at) =>
        sampleRow({
          id: `good-${at}`,
          started_at: now - 10 - at,
          access_key: 'ada',
          key_group: 'team',
          upstream: 'works',
          attempts: [attempt('fails', 'bad', 500), attempt('works', 'good', 401, keyIds[1]), attempt('works', 'good', 200, keyIds[0])],
        }),
      ),
      ...Array.from({ length: 3 }, (_, at) =>
        sampleRow({
          id: `bad-${at}`,
          started_at: now - at,
          access_key: 'eve',
          key_group: 'poor',
          upstream: 'fails',
          status: 502,
          error_code: 'upstream_failed',
          cost_micros: 20_000,
          currency: 'USD',
          attempts: [{ ...attempt('fails', 'bad', 500), ...(at === 0 && { message }) }],
        }),
      ),
    ]);
    // What was read a moment ago is used again.
    await until(async () => (await statuses('upstreams'))['fails'] !== 'unused', 'the attempts to be read', 10_000);
  });
  afterAll(() => harness.close());

  const statuses = async (path: string) =>
    Object.fromEntries((await get(path)).items.map(({ name, state }: { name: string; state: ResourceState }) => [name, state.status]));

  test('each list has a state for each of its entries', async () => {
    expect(await statuses('upstreams')).toEqual({ works: 'degraded', fails: 'failing', quiet: 'unused', off: 'disabled' });
    expect(await statuses('models')).toEqual({ good: 'degraded', bad: 'failing', new: 'unused', dark: 'disabled' });
    expect(await statuses('load-balancers')).toEqual({ pool: 'degraded', lost: 'failing' });
    expect(await statuses('access-keys')).toEqual({ ada: 'healthy', eve: 'failing', old: 'expired' });
    expect(await statuses('key-groups')).toEqual({ team: 'healthy', poor: 'exhausted' });
  });

  test('keys of an upstream have states of their own', async () => {
    const { api_keys, state } = await get('upstreams/works');
    expect(api_keys.map((key: { state: ResourceState }) => key.state.status)).toEqual(['healthy', 'refused']);
    expect(state).toMatchObject({ attempts: 8, failed: 4, last_error: 'http_401' });
  });

  test('a resource is sent back as it was shown', async () => {
    const shown = await get('upstreams/works');
    const { status, body } = await harness.call('PUT', `${api}/upstreams/works`, { ...shown, enabled: true });
    expect([status, body.etag]).toEqual([200, shown.etag]);
  });

  test('the health of all upstreams, with what they said', async () => {
    const { items } = await get('health');
    expect(items.map(({ name }: { name: string }) => name)).toEqual(['fails', 'works', 'quiet', 'off']);
    expect(items[0]).toMatchObject({ models: 1, failing_models: ['bad'], last_failure: { request_id: 'bad-0', message: 'The server had an error.' } });
    expect(items[1].keys).toMatchObject([{ label: 'production', state: { status: 'healthy' } }, { state: { status: 'refused' } }]);
  });

  test('what wants attention: what fails, budgets near their end, what has no price, what was set aside', async () => {
    const { upstreams, budgets, unpriced, dead_letters } = await get('attention');
    expect(upstreams).toMatchObject({ total: 1, items: [{ name: 'fails', state: { status: 'failing' }, last_failure: { request_id: 'bad-0' } }] });
    expect(budgets).toMatchObject({ total: 1, items: [{ kind: 'group', name: 'poor', spent: '0.06', limit: '0.01', state: 'exhausted' }] });
    expect(unpriced).toMatchObject({ total: 1, requests: 4, items: [{ requests: 4 }] });
    expect(unpriced.share).toBeCloseTo(4 / 7);
    expect(dead_letters).toBe(0);
  });

  test('a change that was made is answered as such while statistics cannot be read', async () => {
    const away = new GatewayError('service_unavailable');
    const { requests } = harness.storage;
    const mocks = [jest.spyOn(requests, 'readStats'), jest.spyOn(requests, 'readRecentAttempts'), jest.spyOn(requests, 'spent')];
    for (const mock of mocks) mock.mockRejectedValue(away);
    try {
      // States are read anew after two seconds.
      await until(async () => (await harness.call('GET', `${api}/upstreams/works`)).status === 503, 'the states to be asked for again', 10_000);
      const made = await post('key-groups', { name: 'late', models: [], budget: { limit: '1', period: 'day' } });
      expect([made.status, made.body.name, 'state' in made.body]).toEqual([201, 'late', false]);
      const changed = await harness.call('PATCH', `${api}/upstreams/quiet`, { enabled: true });
      expect([changed.status, changed.headers.get('etag')]).toEqual([200, expect.any(String)]);
    } finally {
      for (const mock of mocks) mock.mockRestore();
    }
    expect((await harness.call('GET', `${api}/key-groups/late`)).status).toBe(200);
  });

  test('an upstream without a model has nothing to test; one that is not there is 404', async () => {
    await post('upstreams', { name: 'bare', protocol: 'alpha', base_url: 'http://127.0.0.1:9', api_keys: [] });
    expect((await post('upstreams/bare/test', {})).body).toMatchObject({ upstream: 'bare', model: null, ok: false });
    expect((await post('upstreams/none/test', {})).status).toBe(404);
  });
});
