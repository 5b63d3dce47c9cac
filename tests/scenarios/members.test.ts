/** Members over NATS and PostgreSQL, with two consoles: what a member makes at one works at every edge, is counted, and is seen by nobody else. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { clients } from '@model-gateway/client-setup';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { askFrom } from '../support/ask-from.ts';
import { arrangements, startGateway, type TestGateway, until } from '../support/gateway.ts';

const password = 'long-enough-1';

// What SQLite and one process make of it is told by the console's own suite.
describe.each(arrangements('members', ['split']))('members, %s', (arrangement) => {
  let upstream: FakeUpstream;
  let gateway: TestGateway;
  const tokens: Record<string, string> = {};
  /** Value of ada's key. */
  let value = '';

  const as = (user: string, method: string, path: string, body?: unknown) => gateway.console(method, path, body, { authorization: `Bearer ${tokens[user]}` });
  const ask = (key: string, edge: string, model = 'best') =>
    askFrom('127.0.0.1', `${edge}/v1/chat/completions`, {
      key,
      body: { model, messages: [{ role: 'user', content: 'hi' }] },
      headers: { 'user-agent': 'agent/1' },
    });
  const everywhere = (key: string, status: number) =>
    until(
      async () => (await Promise.all(gateway.edgeUrls.map((edge) => askFrom('127.0.0.1', `${edge}/v1/models`, { key })))).every((one) => one.status === status),
      `every edge to answer ${status}`,
    );

  beforeAll(async () => {
    upstream = await startFakeUpstream();
    gateway = await startGateway({ arrangement, twice: ['edge', 'console'] });
    await gateway.configure({
      upstreams: [{ name: 'main', protocol: 'alpha', base_url: upstream.url, api_keys: [{ key: 'sk-of-main-000' }] }],
      models: [
        { name: 'best', upstream: 'main', upstream_model_id: 'text:20' },
        { name: 'secret-model', upstream: 'main', upstream_model_id: 'text:20' },
      ],
      key_groups: [
        {
          name: 'team',
          models: ['best'],
          members: ['ada', 'Bob@Example.com'],
          member_keys: { max: 2, max_budget: { limit: 0.05, period: 'total', currency: 'USD' }, max_days: 30 },
        },
      ],
    });
    await gateway.console('POST', '/pricing', { name: 'best', model: 'best', input: '1', output: '1000' });
    for (const [username, email] of [
      ['ada', null],
      ['bob', 'bob@example.com'],
      ['eve', null],
    ] as const) {
      expect((await gateway.console('POST', '/users', { username, password, role: 'member', ...(email && { email }) })).status).toBe(201);
      tokens[username] = (await gateway.console('POST', '/login', { username, password })).body.token;
    }
  });
  afterAll(async () => {
    await gateway?.stop();
    await upstream?.close();
  });

  test('two consoles at once make no more keys than the group allows, and no other key at all', async () => {
    const made = await Promise.all(Array.from({ length: 6 }, (_, at) => as('ada', 'POST', '/my/keys', { name: `key-${at}`, group: 'team', days: 7 })));
    const kept = made.filter(({ status }) => status === 201);
    expect(made.map(({ status }) => status).sort()).toEqual([201, 201, 409, 409, 409, 409]);
    expect(kept.map(({ body }) => body.budget)).toEqual(kept.map(() => ({ limit: '0.05', period: 'total', currency: 'USD' })));
    value = kept[0]?.body.key;
    expect((await as('eve', 'POST', '/my/keys', { name: 'x', group: 'team' })).status).toBe(404);
    expect((await as('bob', 'POST', '/my/keys', { name: 'x', group: 'team', budget: { limit: '0.06', period: 'total' } })).status).toBe(422);
    expect((await as('bob', 'POST', '/my/keys', { name: 'x', group: 'team' })).status).toBe(201);
  });

  test('the key works at every edge for what the group grants, and the settings of each client hold it', async () => {
    await everywhere(value, 200);
    for (const edge of gateway.edgeUrls) expect((await ask(value, edge)).status).toBe(200);
    expect((await ask(value, gateway.url, 'secret-model')).status).toBe(403);
    const { body } = await as('ada', 'GET', '/my/groups');
    const [{ models }] = body.items;
    expect(models).toEqual(['best']);
    for (const client of clients) {
      const settings = JSON.stringify(client.steps({ baseUrl: gateway.url, key: value, model: models[0] }));
      expect([client.id, settings.includes(value)]).toEqual([client.id, true]);
    }
  });

  test('own requests and costs are seen, however late they come, and those of others are not', async () => {
    await until(
      async () => (await as('ada', 'GET', '/my/costs')).body.keys.some((one: { requests: number }) => one.requests === 3),
      'three requests to be counted',
    );
    const seen = (await as('ada', 'GET', '/my/requests')).body.items as { access_key: string; status: number }[];
    expect(new Set(seen.map(({ access_key }) => access_key)).size).toBe(1);
    expect(seen.map(({ status }) => status).sort()).toEqual([200, 200, 403]);
    const { keys, models } = (await as('ada', 'GET', '/my/costs')).body;
    expect(Number(keys[0].cost[0].cost)).toBeGreaterThan(0);
    expect(models.find((one: { value: string }) => one.value === 'best')).toMatchObject({ requests: 2 });
    for (const other of ['bob', 'eve']) {
      expect((await as(other, 'GET', '/my/requests')).body.items).toEqual([]);
      expect(JSON.stringify((await as(other, 'GET', '/my/keys')).body)).not.toContain('ada.');
    }
  });

  test('its budget ends it at every edge, and a key that a member disables is refused', async () => {
    await until(
      async () => {
        const answers = await Promise.all(gateway.edgeUrls.map((edge) => ask(value, edge)));
        return answers.every(({ status }) => status === 402);
      },
      'the budget to be spent at every edge',
      60_000,
    );
    const [{ name }] = (await as('ada', 'GET', '/my/keys')).body.items.filter((one: { spent: string }) => Number(one.spent) > 0);
    const rotated = (await as('ada', 'POST', `/my/keys/${name}/rotate`, { overlap_hours: 1 })).body.key as string;
    await everywhere(rotated, 200);
    // A new value is the same budget.
    expect((await ask(rotated, gateway.url)).status).toBe(402);
    expect((await as('ada', 'PATCH', `/my/keys/${name}`, { enabled: false })).body.enabled).toBe(false);
    for (const one of [value, rotated]) await everywhere(one, 401);
    expect((await as('ada', 'PATCH', `/my/keys/${name}`, { enabled: true })).status).toBe(422);
    const { body } = await gateway.console('GET', `/audit-logs?entity_type=access_key&entity_id=${name}&limit=50`);
    expect(new Set(body.items.map(({ actor }: { actor: string }) => actor))).toEqual(new Set(['ada']));
    expect(new Set(body.items.map(({ action }: { action: string }) => action))).toEqual(new Set(['create', 'rotate', 'update']));
  });

  test('who is taken out of the group keeps the keys that are there and makes none; a user who is gone sees nothing', async () => {
    await gateway.console('PATCH', '/key-groups/team', { members: ['Bob@Example.com'] });
    await gateway.settle();
    expect((await as('ada', 'POST', '/my/keys', { name: 'late', group: 'team' })).status).toBe(404);
    expect((await as('ada', 'GET', '/my/keys')).body.items.length).toBe(2);
    await gateway.console('PATCH', '/users/ada', { enabled: false });
    await until(async () => (await as('ada', 'GET', '/my/keys')).status === 401, 'the session to end');
  });
});
