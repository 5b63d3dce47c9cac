/** A key that turned up somewhere: whose it is, found by the whole value alone, which stands nowhere afterwards. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mintAccessKey } from '@model-gateway/secrets';
import { api, type FreshHarness, startFreshConsole } from './harness.ts';

let harness: FreshHarness;
const value = mintAccessKey();
const upstreamValue = 'sk-canary-upstream-0123456789';
const call: FreshHarness['call'] = (...given) => harness.call(...given);
const lookup = (key: unknown, headers?: Record<string, string>) => call('POST', `${api}/access-keys/lookup`, { key }, headers);
const nothing = { access_key: null, upstream_keys: [] };

beforeAll(async () => {
  harness = await startFreshConsole();
  const upstream = (name: string, api_keys: object[]) => ({ name, protocol: 'beta', base_url: 'https://h.example.com', api_keys });
  await call('POST', `${api}/upstreams`, upstream('main', [{ key: 'sk-other-0123456789' }, { key: upstreamValue, label: 'from finance', weight: 0 }]));
  await call('POST', `${api}/upstreams`, { ...upstream('spare', [{ key: upstreamValue }]), enabled: false });
  await call('POST', `${api}/key-groups`, { name: 'team' });
  await call('POST', `${api}/access-keys`, { name: 'interns', group: 'team', key: value, enabled: false });
});
afterAll(() => harness.close());

test('an access key is found by its whole value, and by nothing less', async () => {
  harness.seen.length = 0;
  const { status, body } = await lookup(value);
  expect([status, body]).toEqual([
    200,
    {
      access_key: { name: 'interns', group: 'team', owner: '', enabled: false, expires_at: null, last_used_at: null, superseded: null },
      upstream_keys: [],
    },
  ]);
  expect((await lookup(` ${value}\n`)).body).toEqual(body);
  for (const part of [value.slice(0, -1), value.slice(-4), value.slice(0, 7), `${value}x`, '%', '*', 'interns'])
    expect((await lookup(part)).body).toEqual(nothing);
  // Neither answers, nor log lines, nor audit records have it.
  await call('GET', `${api}/audit-logs?action=lookup`);
  expect(harness.seen.join('\n')).not.toContain(value.slice(8, -5));
});

test('a value that was rotated away is found until the next rotation, whether it stopped at once, was ended early, or still works', async () => {
  await call('POST', `${api}/access-keys`, { name: 'rotated', group: 'team' });
  const rotate = async (body?: object) => (await call('POST', `${api}/access-keys/rotated/rotate`, body)).body;
  const first = (await rotate()).key;
  const second = await rotate();
  expect(second.previous_valid_until).toBeNull();
  const found = async (key: string) => (await lookup(key)).body.access_key;
  expect(await found(first)).toMatchObject({ name: 'rotated', superseded: { valid_until: null } });
  const third = await rotate({ overlap_hours: 1 });
  expect(await found(first)).toBeNull();
  expect(await found(second.key)).toMatchObject({ name: 'rotated', superseded: { valid_until: third.previous_valid_until } });
  const ended = await call('POST', `${api}/access-keys/rotated/end-overlap`);
  expect(ended.body.previous_valid_until).toBeNull();
  // A change of another kind leaves it known.
  await call('PATCH', `${api}/access-keys/rotated`, { description: 'changed' });
  expect(await found(second.key)).toMatchObject({ name: 'rotated', superseded: { valid_until: null } });
  expect(await found(third.key)).toMatchObject({ name: 'rotated', superseded: null });
});

test('an upstream key is found wherever it is used, with its label and its fingerprint', async () => {
  harness.seen.length = 0;
  const { body } = await lookup(upstreamValue);
  expect(body).toMatchObject({
    access_key: null,
    upstream_keys: [
      { upstream: 'main', upstream_enabled: true, position: 2, label: 'from finance', fingerprint: expect.stringMatching(/^[0-9a-f]{8}$/) },
      { upstream: 'spare', upstream_enabled: false, position: 1, label: null },
    ],
  });
  const [first, second] = body.upstream_keys;
  expect(second.fingerprint).toBe(first.fingerprint);
  const shown = (await call('GET', `${api}/upstreams/main`)).body;
  expect(shown.api_keys).toMatchObject([{ key: '********' }, { key: '********', label: 'from finance', fingerprint: first.fingerprint }]);
  expect(shown.api_keys[0].fingerprint).not.toBe(first.fingerprint);
  expect(harness.seen.join('\n')).not.toContain('canary');
});

test('what was read may be sent back whole; a label stays with its key, in files too', async () => {
  const { id: _id, created_at: _created, updated_at: _updated, etag: _etag, ...shown } = (await call('GET', `${api}/upstreams/main`)).body;
  const back = await call('PUT', `${api}/upstreams/main`, shown);
  expect(back.status).toBe(200);
  expect(back.body.api_keys).toEqual(shown.api_keys);
  const file = (await call('GET', `${api}/export?format=json`)).body;
  expect(file.upstreams[0].api_keys[1]).toMatchObject({ label: 'from finance' });
  expect(file.upstreams[0].api_keys[1]).not.toHaveProperty('fingerprint');
  expect((await call('POST', `${api}/import`, file)).body.changes).toEqual([]);
});

test('each search is recorded without the value', async () => {
  const { body } = await call('GET', `${api}/audit-logs?action=lookup&limit=200`);
  expect(body.items).toContainEqual(
    expect.objectContaining({ actor: 'secret_key', entity_type: 'access_key', entity_id: 'interns', diff: { found: true, upstream_keys: [] } }),
  );
  expect(body.items).toContainEqual(expect.objectContaining({ entity_type: 'upstream', entity_id: 'main' }));
  expect(body.items).toContainEqual(expect.objectContaining({ entity_id: '', diff: { found: false, upstream_keys: [] } }));
});

test('admins alone may search, and not without end', async () => {
  await call('POST', `${api}/users`, { username: 'looker', password: 'long-enough-1', role: 'monitor', enabled: true });
  const { body } = await call('POST', `${api}/login`, { username: 'looker', password: 'long-enough-1' });
  expect((await lookup(value, { authorization: `Bearer ${body.token}` })).status).toBe(403);
  expect((await lookup('')).status).toBe(422);
  expect((await call('GET', `${api}/access-keys/lookup?key=x`)).status).toBeGreaterThanOrEqual(404);
  let last = await lookup('more');
  for (let count = 0; count < 40 && last.status === 200; count++) last = await lookup('more');
  expect([last.status, last.headers.get('retry-after')]).toEqual([429, '60']);
});
