/** Members: their own keys, requests and costs, within what their groups allow, and nothing else of the whole API, by whatever way it is asked for. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newRequestRow } from '@model-gateway/contracts';
import { periodStart } from '@model-gateway/limits';
import { mintAccessKey } from '@model-gateway/secrets';
import { api, type FreshHarness, startFreshConsole } from './harness.ts';

let harness: FreshHarness;
const call: FreshHarness['call'] = (...given) => harness.call(...given);
const tokens: Record<string, { authorization: string }> = {};
const as = (user: string, method: string, path: string, body?: unknown) => call(method, `${api}/${path}`, body, tokens[user]);
const foreignValue = mintAccessKey();

async function signIn(username: string, email: string | null = null): Promise<void> {
  const password = 'long-enough-1';
  expect((await call('POST', `${api}/users`, { username, password, role: 'member', ...(email !== null && { email }) })).status).toBe(201);
  const { body } = await call('POST', `${api}/login`, { username, password });
  tokens[username] = { authorization: `Bearer ${body.token}` };
}

beforeAll(async () => {
  harness = await startFreshConsole();
  await call('POST', `${api}/upstreams`, { name: 'up', protocol: 'alpha', base_url: 'https://h.example.com', api_keys: [{ key: 'sk-foreign-0123456789' }] });
  for (const name of ['best', 'secret-model']) await call('POST', `${api}/models`, { name, upstream: 'up', upstream_model_id: name });
  const member_keys = { max: 2, max_budget: { limit: '10', period: 'month' }, max_days: 30 };
  await call('POST', `${api}/key-groups`, { name: 'team', models: ['best'], members: ['ada', 'Bob@Example.com'], member_keys });
  await call('POST', `${api}/key-groups`, { name: 'looked-at', models: ['best'], members: ['ada'] });
  await call('POST', `${api}/key-groups`, { name: 'nobodys', models: ['*'], member_keys: { max: 9 } });
  await call('POST', `${api}/access-keys`, { name: 'foreign', group: 'nobodys', key: foreignValue, owner: 'eve@example.com' });
  await signIn('ada');
  await signIn('bob', 'bob@example.com');
  await signIn('eve');
});
afterAll(() => harness.close());

test('a member sees the own groups, with what their keys may call, and nothing of groups of others', async () => {
  const { body } = await as('ada', 'GET', 'my/groups');
  expect(body.items).toMatchObject([
    { name: 'looked-at', member_keys: null, models: ['best'] },
    {
      name: 'team',
      is_member: true,
      keys: 0,
      models: ['best'],
      member_keys: { max: 2, max_days: 30, max_budget: { limit: '10', period: 'month', currency: 'USD' } },
    },
  ]);
  expect((await as('bob', 'GET', 'my/groups')).body.items.map(({ name }: { name: string }) => name)).toEqual(['team']);
  expect((await as('eve', 'GET', 'my/groups')).body.items).toEqual([]);
});

test('keys are made within what the group allows', async () => {
  const made = await as('ada', 'POST', 'my/keys', { name: 'laptop', group: 'team' });
  expect([made.status, made.body.name, made.body.budget]).toEqual([201, 'ada.laptop', { limit: '10', period: 'month', currency: 'USD' }]);
  expect(made.body.key).toMatch(/^gk-/);
  expect(Date.parse(made.body.expires_at) - Date.now()).toBeLessThanOrEqual(30 * 86_400_000);
  const refused = async (body: object) => (await as('ada', 'POST', 'my/keys', { name: 'x', group: 'team', ...body })).status;
  expect(await refused({ budget: { limit: '10.01', period: 'month' } })).toBe(422);
  expect(await refused({ budget: { limit: '1', period: 'day' } })).toBe(422);
  expect(await refused({ budget: { limit: '1', period: 'month', currency: 'EUR' } })).toBe(422);
  const topped = { from: periodStart('month', Date.now()), topped_up_micros: 1_000_000_000 };
  expect(await refused({ budget: { limit: '1', period: 'month', credit: topped } })).toBe(422);
  expect(await refused({ days: 31 })).toBe(422);
  expect(await refused({ name: '../x' })).toBe(422);
  expect(await refused({ name: 'laptop' })).toBe(409);
  for (const more of [{ owner: 'eve' }, { rate_limit: { rpm: 9 } }, { key: mintAccessKey() }, { enabled: false }, { anonymous: true }])
    expect(await refused(more)).toBe(422);
  expect(await refused({ group: 'looked-at' })).toBe(403);
  expect(await refused({ group: 'nobodys' })).toBe(404);
  expect(await refused({ group: 'no-such-group' })).toBe(404);
  // Two at once: one place is left.
  const both = await Promise.all(['one', 'two'].map((name) => as('ada', 'POST', 'my/keys', { name, group: 'team', days: 1 })));
  expect(both.map(({ status }) => status).sort()).toEqual([201, 409]);
  const record = (await call('GET', `${api}/audit-logs?entity_id=ada.laptop&action=create`)).body.items[0];
  expect(record).toMatchObject({ actor: 'ada', entity_type: 'access_key' });
});

test('own keys are shown, copied, rotated and switched off; on again does an admin', async () => {
  const { body } = await as('ada', 'GET', 'my/keys');
  expect(body.items.map(({ name }: { name: string }) => name)).toContain('ada.laptop');
  const value = (await as('ada', 'GET', 'my/keys/ada.laptop/api-key')).body.key;
  const rotated = await as('ada', 'POST', 'my/keys/ada.laptop/rotate', { overlap_hours: 1 });
  expect([rotated.status, rotated.body.key === value, rotated.body.previous_valid_until === null]).toEqual([200, false, false]);
  expect((await as('ada', 'PATCH', 'my/keys/ada.laptop', { enabled: true })).status).toBe(422);
  expect((await as('ada', 'PATCH', 'my/keys/ada.laptop', { enabled: false, description: 'lost' })).body).toMatchObject({ enabled: false, description: 'lost' });
});

const row = (access_key: string, more: object = {}) =>
  newRequestRow({
    id: `r-${Math.random()}`,
    started_at: Date.now(),
    authority: 2,
    access_key,
    key_group: 'team',
    model: 'best',
    status: 200,
    cost_micros: 5_000,
    currency: 'USD',
    upstream: 'up',
    ...more,
  } as never);

test('own requests and costs are seen, and those of others are not', async () => {
  await harness.storage.requests.insertRows([row('ada.laptop'), row('foreign', { model: 'secret-model', client_ip: '192.0.2.99' })]);
  const seen = await as('ada', 'GET', 'my/requests');
  expect(seen.body.items.map(({ access_key }: { access_key: string }) => access_key)).toEqual(['ada.laptop']);
  expect(seen.text).not.toContain('"up"');
  expect((await as('ada', 'GET', 'my/requests?key=foreign')).body.items).toEqual([]);
  const costs = (await as('ada', 'GET', 'my/costs')).body;
  expect(costs.keys).toMatchObject([{ value: 'ada.laptop', requests: 1, cost: [{ currency: 'USD', cost: '0.005' }] }]);
  expect(costs.models).toMatchObject([{ value: 'best' }]);
  // A time that begins after the key was made, in the same hour.
  const { created_at } = (await as('ada', 'GET', 'my/keys')).body.items.find(({ name }: { name: string }) => name === 'ada.laptop');
  const since = new Date(Date.parse(created_at) + 1).toISOString();
  expect((await as('ada', 'GET', `my/costs?from=${since}`)).body.keys).toMatchObject([{ value: 'ada.laptop', requests: 1 }]);
  // Part of its budget is spent: made anew, it would have the whole again.
  expect((await as('ada', 'DELETE', 'my/keys/ada.laptop')).status).toBe(422);
});

test('what a member sees of a budget holds top-ups and resets', async () => {
  const shown = async () => {
    const { budget, spent } = (await as('ada', 'GET', 'my/keys')).body.items.find(({ name }: { name: string }) => name === 'ada.laptop');
    return { ...budget, spent };
  };
  expect(await shown()).toEqual({ limit: '10', period: 'month', currency: 'USD', spent: '0.005' });
  await call('POST', `${api}/budgets/key/ada.laptop/reset`);
  await call('POST', `${api}/budgets/key/ada.laptop/top-up`, { amount: '2.5' });
  expect(await shown()).toEqual({ limit: '12.5', period: 'month', currency: 'USD', spent: '0' });
});

test('what a key cost holds all of its models, also where more were used than are told apart', async () => {
  // In an hour after that in which the key was made: they are read from the sums.
  const later = Date.now() + 3_600_000;
  const many = Array.from({ length: 103 }, (_, at) => row('ada.laptop', { id: `many-${at}`, model: `model-${at}`, started_at: later }));
  await harness.storage.requests.insertRows(many);
  const { keys, models } = (await as('ada', 'GET', `my/costs?to=${new Date(later + 1).toISOString()}`)).body;
  expect(keys).toMatchObject([{ value: 'ada.laptop', requests: 104, cost: [{ cost_micros: 520_000 }] }]);
  expect(models).toHaveLength(101);
});

test('a key that is taken away is gone from the own ones at once, and what it did as well', async () => {
  await call('PATCH', `${api}/access-keys/ada.laptop`, { owner: 'bob@example.com' });
  expect((await as('ada', 'GET', 'my/requests')).body.items).toEqual([]);
  expect((await as('ada', 'GET', 'my/keys/ada.laptop/api-key')).status).toBe(404);
  expect((await as('bob', 'GET', 'my/keys')).body.items.map(({ name }: { name: string }) => name)).toEqual(['ada.laptop']);
  await call('PATCH', `${api}/access-keys/ada.laptop`, { owner: 'ada' });
});

/** What a member may call; everything else of the document is refused. */
const open = /^\/console\/api\/(?:login|logout|me|me\/password|sessions|sessions\/\{id\}|sign-in-options|oidc\/\w+|openapi\.json|my\/.+)$/;
const foreignNames = ['foreign', 'nobodys', 'secret-model', 'a%2Fb'];

test('of the whole API a member reads and changes nothing foreign', async () => {
  const document = (await as('ada', 'GET', 'openapi.json')).body;
  const operations = Object.entries(document.paths as Record<string, Record<string, { 'x-roles'?: string[] }>>).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), roles: operation['x-roles'] ?? [] })),
  );
  expect(operations.length).toBeGreaterThan(90);
  const canaries = [foreignValue, 'sk-foreign', 'secret-model', '192.0.2.99', 'eve@example.com', 'nobodys'];
  for (const { path, method, roles } of operations) {
    const isOpen = open.test(path);
    expect([path, method, isOpen || !roles.includes('member')]).toEqual([path, method, true]);
    if (/\/(?:logout|me\/password|login)$|\/oidc\//.test(path) || (method === 'DELETE' && path.endsWith('/sessions'))) continue;
    for (const name of path.includes('{') ? foreignNames : ['']) {
      const asked = path.replaceAll(/\{\w+\}/g, name);
      const filters = method === 'GET' && isOpen ? ['', '?key=foreign&access_key=foreign', '?username=eve', '?owner=eve'] : [''];
      for (const filter of filters) {
        const answer = await call(method, asked + filter, method === 'GET' || method === 'DELETE' ? undefined : {}, tokens['ada']);
        if (!isOpen) expect([method, asked, answer.status]).toEqual([method, asked, 403]);
        if (isOpen && path.includes('{')) expect([method, asked, answer.status >= 400]).toEqual([method, asked, true]);
        if (!path.endsWith('openapi.json')) for (const canary of canaries) expect([asked, answer.text.includes(canary)]).toEqual([asked, false]);
      }
    }
  }
});

test('the secret key has no keys of its own, and a user whose name only looks like an address owns nothing by it', async () => {
  expect((await call('GET', `${api}/my/keys`)).status).toBe(403);
  const { paths } = (await call('GET', `${api}/openapi.json`)).body as { paths: Record<string, Record<string, { responses: object }>> };
  const personal = Object.entries(paths).filter(([path]) => path.startsWith(`${api}/my/`));
  expect(personal.length).toBeGreaterThan(4);
  for (const operation of personal.flatMap(([, operations]) => Object.values(operations))) expect(operation.responses).toHaveProperty('403');
  const { changeUsers } = harness.storage.console;
  const identity = { issuer: 'https://id.example.com', subject: 's1' };
  const claimed = { id: 'u-claimed', username: 'eve@example.com', role: 'member', enabled: true, passwordHash: null, identity } as const;
  const user = await changeUsers((writer) => writer.insert(claimed));
  const { toPerson } = await import('../src/members/person.ts');
  expect(() => toPerson(user)).toThrow('vouches');
  expect(toPerson({ ...user, email: 'Eve@Example.com' }).owners).toEqual(['eve@example.com']);
});
