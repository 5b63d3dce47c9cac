/** Top-ups and resets of budgets: exact amounts, recorded, of the present period alone. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { budgetSchema } from '@model-gateway/contracts';
import { creditOf, periodEnd, periodStart, spendableMicros } from '@model-gateway/limits';
import { creditBudget } from '../src/statistics/credit-budget.ts';
import { api, type FreshHarness, startFreshConsole } from './harness.ts';

let harness: FreshHarness;
beforeAll(async () => {
  harness = await startFreshConsole();
  await harness.call('POST', `${api}/key-groups`, { name: 'team', budget: { limit: '10', period: 'month' } });
  await harness.call('POST', `${api}/access-keys`, { name: 'ada', group: 'team', budget: { limit: '0.1', period: 'day' } });
  await harness.call('POST', `${api}/access-keys`, { name: 'free', group: 'team' });
});
afterAll(() => harness.close());

const credit = (kind: string, name: string, what: string, body?: unknown) => harness.call('POST', `${api}/budgets/${kind}/${name}/${what}`, body);

test('a top-up adds exactly what was said, to the present period, with a record of who did it', async () => {
  const first = await credit('key', 'ada', 'top-up', { amount: '0.2' });
  expect(first.status).toBe(200);
  const { body } = await credit('key', 'ada', 'top-up', { amount: '0.000001' });
  expect(body).toMatchObject({ kind: 'key', name: 'ada', limit: '0.300001', limit_micros: 300_001, topped_up: '0.200001', spent: '0', forgiven: '0' });
  const { items } = (await harness.call('GET', `${api}/audit-logs?limit=10`)).body;
  expect(items[0]).toMatchObject({ action: 'update', entity_type: 'access_key', entity_id: 'ada' });
  expect(JSON.stringify(items[0].diff)).toContain('topped_up_micros');
  // Its own limit stays what it was.
  expect((await harness.call('GET', `${api}/access-keys/ada`)).body.budget).toMatchObject({ limit: '0.1', period: 'day' });
});

test('a reset ends top-ups and forgets what was spent', async () => {
  const { body } = await credit('key', 'ada', 'reset');
  expect(body).toMatchObject({ limit: '0.1', topped_up_micros: 0, spent_micros: 0 });
});

test.each([
  [{ amount: '-1' }, 422],
  [{ amount: '0' }, 422],
  [{ amount: 5 }, 422],
  [{ amount: '1e3' }, 422],
  [{}, 422],
])('refuses %j', async (body, status) => expect((await credit('group', 'team', 'top-up', body)).status).toBe(status));

test.each([
  ['key', 'nobody'],
  ['key', 'free'],
  ['team', 'team'],
])('there is no budget of %s %s', async (kind, name) => expect((await credit(kind, name, 'reset')).status).toBe(404));

test('a credit means nothing in the next period', () => {
  const at = Date.UTC(2026, 0, 15, 12);
  const budget = budgetSchema.parse({ limit: '5', period: 'month' });
  const topped = creditBudget(creditBudget(budget, { topUpMicros: 2_000_000 }, at), { topUpMicros: 500_000 }, at + 1);
  expect(spendableMicros(topped, at)).toBe(7_500_000);
  expect(spendableMicros(topped, periodEnd('month', at) ?? 0)).toBe(5_000_000);
  const reset = creditBudget(topped, { forgiveMicros: 4_200_000 }, at);
  expect([spendableMicros(reset, at), creditOf(reset, at)]).toEqual([9_200_000, expect.objectContaining({ topped_up_micros: 0, forgiven_micros: 4_200_000 })]);
  expect(reset.credit?.from).toBe(periodStart('month', at));
  // One that was given in an earlier period is not carried on.
  expect(spendableMicros(creditBudget(reset, { topUpMicros: 1 }, Date.UTC(2026, 1, 2)), Date.UTC(2026, 1, 2))).toBe(5_000_001);
});

test('a credit is money of its currency: it ends where the budget gets another one', async () => {
  await credit('group', 'team', 'top-up', { amount: '7' });
  const budgetOf = async () => (await harness.call('GET', `${api}/key-groups/team`)).body.budget;
  // As the console's form sends it, with what it does not show.
  const change = async (more: object) =>
    expect((await harness.call('PUT', `${api}/key-groups/team`, { budget: { ...(await budgetOf()), ...more } })).status).toBe(200);
  await change({ limit: '12' });
  expect(await budgetOf()).toMatchObject({ limit: '12', credit: { topped_up_micros: 7_000_000 } });
  await change({ currency: 'EUR' });
  expect(await budgetOf()).toEqual({ limit: '12', period: 'month', currency: 'EUR' });
});

describe('a budget that is written without its credit, as configuration files are', () => {
  const budgetOf = async () => (await harness.call('GET', `${api}/key-groups/team`)).body.budget;
  const write = async (budget: object | null) => expect((await harness.call('PATCH', `${api}/key-groups/team`, { budget })).status).toBe(200);
  const fromFile = async (budget: object) => {
    const file = { version: 2, key_groups: [{ name: 'team', models: ['*'], budget }] };
    expect((await harness.call('POST', `${api}/import`, file)).status).toBe(200);
  };
  const plain = { limit: '20', period: 'month', currency: 'USD' };

  test.each([
    ['by the API', write],
    ['by a file', fromFile],
  ])('keeps it (%s)', async (_how, send) => {
    await write(null);
    await write(plain);
    await credit('group', 'team', 'top-up', { amount: '7' });
    await send({ ...plain, limit: '21' });
    expect(await budgetOf()).toMatchObject({ limit: '21', credit: { topped_up_micros: 7_000_000 } });
  });

  test.each([
    ['another period', { ...plain, period: 'week' }],
    ['another currency', { ...plain, currency: 'EUR' }],
  ])('ends it with %s', async (_what, budget) => {
    await write(null);
    await write(plain);
    await credit('group', 'team', 'top-up', { amount: '7' });
    await write(budget);
    expect(await budgetOf()).toEqual(budget);
  });

  test('ends it with one of zeros', async () => {
    await write(null);
    await write(plain);
    await credit('group', 'team', 'top-up', { amount: '7' });
    const { from } = (await budgetOf()).credit;
    await write({ ...plain, credit: { from, topped_up_micros: 0, forgiven_micros: 0 } });
    expect((await budgetOf()).credit).toMatchObject({ topped_up_micros: 0 });
  });
});
