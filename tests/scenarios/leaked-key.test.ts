/** A key that leaked: whose it is, where it was used, and that disabling and rotating it, with and without an overlap, hold at every edge. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mintAccessKey } from '@model-gateway/secrets';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { askFrom } from '../support/ask-from.ts';
import { arrangements, startGateway, type TestGateway, until } from '../support/gateway.ts';

const second = 1 / 3600;

describe.each(arrangements('leaked keys'))('leaked keys, %s', (arrangement) => {
  let upstream: FakeUpstream;
  let gateway: TestGateway;
  const value = mintAccessKey();

  beforeAll(async () => {
    upstream = await startFakeUpstream();
    gateway = await startGateway({ arrangement, ...(arrangement === 'split' && { twice: ['edge', 'console'] as const }) });
    await gateway.configure({
      upstreams: [{ name: 'fake', protocol: 'alpha', base_url: upstream.url, api_keys: [{ key: 'sk-fake' }] }],
      models: [{ name: 'best', upstream: 'fake', upstream_model_id: 'text:20' }],
      access_keys: [{ name: 'ada', group: 'everyone', key: value, owner: 'Ada@Example.com' }],
    });
  });
  afterAll(async () => {
    await gateway?.stop();
    await upstream?.close();
  });

  const call = (key: string, { edge = gateway.url, from = '127.0.0.1', agent = 'suite' } = {}) =>
    askFrom(from, `${edge}/v1/chat/completions`, {
      key,
      body: { model: 'best', messages: [{ role: 'user', content: 'hi' }] },
      headers: { 'user-agent': agent },
    });
  /** What each edge answers to a question that costs nothing. */
  const admitted = (key: string) =>
    Promise.all(gateway.edgeUrls.map((edge) => askFrom('127.0.0.1', `${edge}/v1/models`, { key }).then(({ status }) => status)));
  const everywhere = (key: string, status: number) => until(async () => (await admitted(key)).every((one) => one === status), `every edge to answer ${status}`);
  const key = async () => (await gateway.console('GET', '/access-keys/ada')).body;
  const attention = async () => (await gateway.console('GET', '/attention')).body.new_addresses;

  test('it is found by its value, its owner is told with it, and lists go by owners', async () => {
    const { body } = await gateway.console('POST', '/access-keys/lookup', { key: value });
    expect(body.access_key).toMatchObject({ name: 'ada', owner: 'Ada@Example.com', superseded: null });
    const found = await gateway.console('GET', '/access-keys?owner=ada@example.com');
    expect(found.body.items.map(({ name }: { name: string }) => name)).toEqual(['ada']);
    expect((await gateway.console('PATCH', '/access-keys/ada', { owner: 'ada@example.com\r\nBcc: x@example.com' })).status).toBe(422);
  });

  test('a use from a new address is named within a minute, until somebody says whose it is', async () => {
    expect((await call(value, { agent: 'laptop/1' })).status).toBe(200);
    await until(async () => (await gateway.console('GET', '/access-keys/ada/use')).body.total?.requests === 1, 'the use to be known');
    expect((await attention()).items).toEqual([]);
    expect((await call(value, { from: '127.0.0.7', agent: 'stranger/1' })).status).toBe(200);
    await until(async () => (await attention()).total === 1, 'the new address to be named', 60_000);
    expect((await attention()).items).toMatchObject([{ access_key: 'ada', addresses: ['127.0.0.7'] }]);
    const use = (await gateway.console('GET', '/access-keys/ada/use')).body;
    expect(use.total).toMatchObject({ requests: 2, errors: 0 });
    expect(use.addresses.map((one: { value: string; requests: number }) => [one.value, one.requests]).sort()).toEqual([
      ['127.0.0.1', 1],
      ['127.0.0.7', 1],
    ]);
    expect(use.user_agents.map((one: { value: string }) => one.value).sort()).toEqual(['laptop/1', 'stranger/1']);
    expect(use.models).toMatchObject([{ value: 'best', requests: 2 }]);
    expect(use.known_addresses.filter((one: { is_new: boolean }) => one.is_new)).toMatchObject([{ address: '127.0.0.7' }]);
    expect((await gateway.console('POST', '/access-keys/ada/accept-addresses')).body).toEqual({ accepted: 2 });
    expect((await attention()).total).toBe(0);
  });

  test('rotated with an overlap, both values work at every edge until it is ended, and it is all audited', async () => {
    const { body: rotated } = await gateway.console('POST', '/access-keys/ada/rotate', { overlap_hours: 1 });
    expect(rotated.key).toMatch(/^gk-/);
    expect(Date.parse(rotated.previous_valid_until) - Date.now()).toBeGreaterThan(3_000_000);
    await everywhere(rotated.key, 200);
    await everywhere(value, 200);
    expect((await call(value)).status).toBe(200);
    const old = await gateway.console('POST', '/access-keys/lookup', { key: value });
    expect(old.body.access_key).toMatchObject({ name: 'ada', superseded: { valid_until: rotated.previous_valid_until } });
    // A change of another kind leaves the old value working.
    await gateway.console('PATCH', '/access-keys/ada', { description: 'changed' });
    await gateway.settle();
    expect(await admitted(value)).toEqual(gateway.edgeUrls.map(() => 200));
    const { body: ended } = await gateway.console('POST', '/access-keys/ada/end-overlap');
    expect(ended.previous_valid_until).toBeNull();
    await everywhere(value, 401);
    const leaked = await gateway.console('POST', '/access-keys/lookup', { key: value });
    expect(leaked.body.access_key).toMatchObject({ name: 'ada', superseded: { valid_until: null } });
    expect(await admitted(rotated.key)).toEqual(gateway.edgeUrls.map(() => 200));
    const { body: audit } = await gateway.console('GET', '/audit-logs?entity_type=access_key&entity_id=ada&action=rotate');
    expect(audit.items[0].diff).toMatchObject({ previous_valid_until: { before: null, after: rotated.previous_valid_until } });
    expect(JSON.stringify(audit)).not.toContain(rotated.key.slice(8, -4));
  });

  test('the old value stops by itself when its time is over, and at once when the key is disabled', async () => {
    const before = (await gateway.console('GET', '/access-keys/ada/api-key')).body.key;
    const first = (await gateway.console('POST', '/access-keys/ada/rotate')).body.key;
    // Whoever knows the new value refuses the old one.
    await everywhere(first, 200);
    expect(await admitted(before)).toEqual(gateway.edgeUrls.map(() => 401));
    const leaked = await gateway.console('POST', '/access-keys/lookup', { key: before });
    expect(leaked.body.access_key).toMatchObject({ name: 'ada', superseded: { valid_until: null } });
    const { body } = await gateway.console('POST', '/access-keys/ada/rotate', { overlap_hours: 20 * second });
    await everywhere(body.key, 200);
    expect(new Set(await admitted(first)).size).toBe(1);
    await everywhere(first, 401);
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(body.previous_valid_until) - 1);
    expect((await key()).previous_valid_until).toBeNull();
    const { body: again } = await gateway.console('POST', '/access-keys/ada/rotate', { overlap_hours: 5 });
    await everywhere(body.key, 200);
    await gateway.console('PATCH', '/access-keys/ada', { enabled: false });
    await everywhere(body.key, 401);
    await everywhere(again.key, 401);
    for (const overlap_hours of [-1, 745, 'x']) expect((await gateway.console('POST', '/access-keys/ada/rotate', { overlap_hours })).status).toBe(422);
  });
});
