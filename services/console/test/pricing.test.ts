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
  const made = await harness.call('POST', `${api}/pricing`, { model: 'vendor/big-*', input: '3', output: '15.00', cache_read: '0.3' });
  expect(made.status).toBe(201);
  expect(made.body).toMatchObject({
    name: 'vendor/big-*',
    currency: 'USD',
    mode: 'per_token',
    input: '3',
    output: '15',
    cache_read: '0.3',
    reasoning: null,
    tiers: [],
  });
  const path = `${api}/pricing/${encodeURIComponent('vendor/big-*')}`;
  const changed = await harness.call('PATCH', path, { tiers: [{ above_tokens: 200_000, input: '6.5' }], cache_read: null });
  expect(changed.body).toMatchObject({ input: '3', cache_read: null, tiers: [{ above_tokens: 200_000, input: '6.5', output: null }] });
  const later = await harness.call('POST', `${api}/pricing`, {
    name: 'big from March',
    model: 'vendor/big-*',
    input: '1',
    output: '2',
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
  [{ model: 'm', input: '1.0000001', output: '1' }, 'input'],
  [{ model: 'm', input: '-1', output: '1' }, 'input'],
  [{ model: 'm', input: 3, output: '1' }, 'input'],
  [{ model: 'm', input: '1e3', output: '1' }, 'input'],
  [{ model: 'm', input: '', output: '1' }, 'input'],
  [{ model: 'm', input: '1', output: '1', tiers: [{ above_tokens: 1, cache_read: 3 }] }, 'tiers.0.cache_read'],
  [{ model: 'm', input: '1' }, 'output'],
  [{ model: 'm', mode: 'per_image' }, 'unit'],
  [{ model: 'm', input: '1', output: '1', currency: 'usd' }, 'currency'],
  [{ model: 'm', input: '1', output: '1', tiers: [{ above_tokens: 0 }] }, 'tiers.0.above_tokens'],
  [{ model: 'm', input: '1', output: '1', valid_from: 'tomorrow' }, 'valid_from'],
  [{ model: 'm', input: '1', output: '1', price: 3 }, 'price'],
  [{ input: '1', output: '1' }, 'model'],
  [{ model: ' m', name: 'm', input: '1', output: '1' }, 'model'],
])('refuses %j and names the field', async (body, field) => {
  const { status, body: answer } = await harness.call('POST', `${api}/pricing`, body);
  expect(status).toBe(422);
  expect(answer.error.details.map((detail: { field: string }) => detail.field)).toContain(field);
});

test('prices travel with the configuration', async () => {
  await harness.call('POST', `${api}/pricing`, { model: 'travels', mode: 'per_image', unit: '40000' });
  const { body } = await harness.call('GET', `${api}/export`);
  expect(body.pricing.find(({ name }: { name: string }) => name === 'travels')).toMatchObject({ mode: 'per_image', unit: '40000' });
  await harness.call('DELETE', `${api}/pricing/travels`);
  const back = await harness.call('POST', `${api}/import`, { version: body.version, pricing: body.pricing });
  expect(back.body.created.pricing).toContain('travels');
});

test('the number that an older client sends is refused with both of its readings, whichever verb it comes by', async () => {
  await harness.call('POST', `${api}/pricing`, { model: 'read-twice', input: '3', output: '15' });
  for (const [method, path] of [
    ['POST', 'pricing'],
    ['PATCH', 'pricing/read-twice'],
    ['PUT', 'pricing/read-twice'],
  ] as const) {
    const { status, body } = await harness.call(method, `${api}/${path}`, { model: 'read-twice', input: 3, output: 15_000_000 });
    expect(status).toBe(422);
    expect(body.error.details).toEqual([
      { field: 'input', message: expect.stringMatching(/"3" \(currency for a million tokens\).*micro-units.*"0\.000003"/) },
      { field: 'output', message: expect.stringMatching(/"15000000" \(currency for a million tokens\).*micro-units.*"15"/) },
    ]);
  }
  expect((await harness.call('GET', `${api}/pricing/read-twice`)).body).toMatchObject({ input: '3', output: '15' });
});

test('a natural price costs what it says, and history shows it as it was sent', async () => {
  await harness.call('POST', `${api}/pricing`, { model: 'natural', input: '3', output: '15' });
  expect((await storage.catalog.load()).pricing?.find(({ name }) => name === 'natural')).toMatchObject({ input: 3_000_000, output: 15_000_000 });
  await harness.call('PATCH', `${api}/pricing/natural`, { input: '2.5' });
  const { body } = await harness.call('GET', `${api}/history?limit=1`);
  const commit = await harness.call('GET', `${api}/history/${body.items[0].revision}`);
  expect(commit.body.changes[0].fields).toEqual({ input: { before: '3', after: '2.5' } });
});
