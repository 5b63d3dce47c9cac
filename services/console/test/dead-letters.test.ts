import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Storage } from '@model-gateway/storage';
import { sampleRow } from '../../../packages/storage/test/samples.ts';
import { mayUse } from '../src/api/permissions.ts';
import { api, type FreshHarness, seed, startFreshConsole } from './harness.ts';

let storage: Storage;
let harness: FreshHarness;
beforeAll(async () => {
  harness = await startFreshConsole();
  ({ storage } = harness);
});
afterAll(() => harness.close());

const letter = (id: string, at: number) => ({
  id,
  subject: 'stats.request',
  item_id: `item-${id}`,
  reason: 'is not an object',
  excerpt: 'null',
  bytes: 4,
  first_at: at,
  last_at: at,
  times: 2,
});

test('what was set aside is listed for admins, counted on the overview, and dropped with a record', async () => {
  expect((await harness.call('GET', `${api}/stats/summary`)).body.dead_letters).toBe(0);
  await storage.deadLetters.add([letter('one', 1_700_000_000_000), letter('two', 1_700_000_001_000), letter('odd', Number.MAX_SAFE_INTEGER)]);
  const { body } = await harness.call('GET', `${api}/dead-letters?limit=2`);
  expect(body.items.map(({ id, last_at }: { id: string; last_at: string }) => [id, last_at])).toEqual([
    ['odd', '9999-12-31T23:59:59.999Z'],
    ['two', '2023-11-14T22:13:21.000Z'],
  ]);
  const rest = await harness.call('GET', `${api}/dead-letters?limit=2&cursor=${body.next_cursor}&subject=stats.request`);
  expect(rest.body).toMatchObject({
    items: [{ id: 'one', item_id: 'item-one', reason: 'is not an object', excerpt: 'null', bytes: 4, times: 2 }],
    next_cursor: null,
  });
  expect((await harness.call('GET', `${api}/dead-letters?subject=other`)).status).toBe(422);
  expect((await harness.call('GET', `${api}/stats/summary`)).body.dead_letters).toBe(3);

  expect((await harness.call('DELETE', `${api}/dead-letters/one`)).status).toBe(204);
  expect((await harness.call('DELETE', `${api}/dead-letters/one`)).status).toBe(404);
  const { body: records } = await harness.call('GET', `${api}/audit-logs?entity_type=dead_letter`);
  expect(records.items).toMatchObject([{ action: 'delete', entity_id: 'one', diff: { subject: 'stats.request', item_id: 'item-one', times: 2 } }]);
  expect(mayUse('monitor', { path: `${api}/dead-letters`, method: 'get' })).toBe(false);
  expect(mayUse('monitor', { path: `${api}/dead-letters/{id}`, method: 'delete' })).toBe(false);
});

test('a row of a clock that is far ahead makes no answer fail', async () => {
  await seed(harness);
  const used = Date.now() - 5_000;
  await storage.requests.insertRows([
    sampleRow({ id: 'sane', started_at: used }),
    sampleRow({ id: 'far', started_at: Number.MAX_SAFE_INTEGER }),
    sampleRow({ id: 'farther', started_at: 8_640_000_000_000_000 }),
  ]);
  const answer = await harness.call('GET', `${api}/access-keys`);
  expect([answer.status, answer.body.items?.[0].last_used_at]).toEqual([200, new Date(used).toISOString()]);
  expect((await harness.call('GET', `${api}/access-keys/ada`)).status).toBe(200);
  const table = await harness.call('GET', `${api}/logs?format=csv&from=0&to=999999999999999`);
  expect(table.status).toBe(200);
  await storage.audit.insertRows([
    {
      id: 'far',
      occurred_at: 8_640_000_000_000_001,
      actor: 'ada',
      action: 'create',
      entity_type: 'model',
      entity_id: 'm',
      diff: null,
      ip_address: null,
      request_id: null,
    },
  ]);
  for (const path of ['audit-logs?to=999999999999999&from=0', 'logs/far', 'stats/sessions?format=csv'])
    expect([path, (await harness.call('GET', `${api}/${path}`)).status]).toEqual([path, 200]);
});
