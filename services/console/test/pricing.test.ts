import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Storage } from '@model-gateway/storage';
import { api, type FreshHarness, startFreshConsole } from './harness.ts';

let storage: Storage;
let harness: FreshHarness;
beforeAll(async () => {
  harness = await startFreshConsole();
  ({ storage } = harness);
});
afterAll(() => harness.close());

test('a price is named after its model, reads, merges, lists and goes', async () => {
  const made = await harness.call('POST', `${api}/pricing`, { model: 'vendor/big-*', input: 3_000_000, output: 15_000_000, cache_read: 300_000 });
  expect(made.status).toBe(201);
  expect(made.body).toMatchObject({ name: 'vendor/big-*', currency: 'USD', mode: 'per_token', cache_read: 300_000, reasoning: null, tiers: [] });
  const path = `${api}/pricing/${encodeURIComponent('vendor/big-*')}`;
  const changed = await harness.call('PATCH', path, { tiers: [{ above_tokens: 200_000, input: 6_000_000 }], cache_read: null });
  expect(changed.body).toMatchObject({ input: 3_000_000, cache_read: null, tiers: [{ above_tokens: 200_000, input: 6_000_000, output: null }] });
  const later = await harness.call('POST', `${api}/pricing`, {
    name: 'big from March',
    model: 'vendor/big-*',
    input: 1,
    output: 2,
    valid_from: '2027-03-01T00:00:00Z',
  });
  expect(later.status).toBe(201);
  const listed = await harness.call('GET', `${api}/pricing?q=BIG-&sort=-model`);
  expect(listed.body.items.map(({ name }: { name: string }) => name).sort()).toEqual(['big from March', 'vendor/big-*']);
  expect((await storage.catalog.load()).pricing?.map(({ name }) => name)).toEqual(['big from March', 'vendor/big-*']);
  expect((await harness.call('DELETE', path)).status).toBe(204);
  expect((await harness.call('GET', path)).status).toBe(404);
});

test.each([
  [{ model: 'm', input: 1.5, output: 1 }, 'input'],
  [{ model: 'm', input: -1, output: 1 }, 'input'],
  [{ model: 'm', input: 1 }, 'output'],
  [{ model: 'm', mode: 'per_image' }, 'unit'],
  [{ model: 'm', input: 1, output: 1, currency: 'usd' }, 'currency'],
  [{ model: 'm', input: 1, output: 1, tiers: [{ above_tokens: 0 }] }, 'tiers.0.above_tokens'],
  [{ model: 'm', input: 1, output: 1, valid_from: 'tomorrow' }, 'valid_from'],
  [{ model: 'm', input: 1, output: 1, price: 3 }, 'price'],
  [{ input: 1, output: 1 }, 'model'],
  [{ model: ' m', name: 'm', input: 1, output: 1 }, 'model'],
])('refuses %j and names the field', async (body, field) => {
  const { status, body: answer } = await harness.call('POST', `${api}/pricing`, body);
  expect(status).toBe(422);
  expect(answer.error.details.map((detail: { field: string }) => detail.field)).toContain(field);
});

test('prices travel with the configuration', async () => {
  await harness.call('POST', `${api}/pricing`, { model: 'travels', mode: 'per_image', unit: 40_000_000_000 });
  const { body } = await harness.call('GET', `${api}/export`);
  expect(body.pricing.find(({ name }: { name: string }) => name === 'travels')).toMatchObject({ mode: 'per_image', unit: 40_000_000_000 });
  await harness.call('DELETE', `${api}/pricing/travels`);
  const back = await harness.call('POST', `${api}/import`, { pricing: body.pricing });
  expect(back.body.created.pricing).toContain('travels');
});
