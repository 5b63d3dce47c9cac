/** Money by owner and day: each row counts once, whatever comes twice or is replaced. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Storage } from '../src/index.ts';
import { type Engine, engines } from './engines.ts';
import { sampleRow } from './samples.ts';

const day = Date.UTC(2026, 4, 10);

describe.each(engines().map((engine) => [engine.name, engine] as [string, Engine]))('spend on %s', (_name, engine) => {
  let storage: Storage;
  beforeAll(() => engine.start());
  afterAll(() => engine.stop());
  beforeEach(async () => {
    storage = await engine.open();
  });
  afterEach(() => storage.close());

  const row = (id: string, cost: number | null, more = {}) =>
    sampleRow({ id, started_at: day + 3_600_000, access_key: 'ada', key_group: 'team', cost_micros: cost, currency: cost === null ? null : 'USD', ...more });
  const spent = (from = day, currency = 'USD') =>
    storage.requests.spent([
      { kind: 'key', name: 'ada', currency, from },
      { kind: 'group', name: 'team', currency, from },
    ]);

  test('rows add up, repeats do not, and a higher authority adds the difference', async () => {
    await storage.requests.insertRows([row('a', 100, { authority: 1 }), row('b', 50), row('c', null), row('a', 100, { authority: 1 })]);
    expect(await spent()).toEqual([150, 150]);
    await storage.requests.insertRows([row('a', 100, { authority: 1 }), row('b', 50)]);
    expect(await spent()).toEqual([150, 150]);
    await storage.requests.insertRows([row('a', 130, { authority: 2 })]);
    expect(await spent()).toEqual([180, 180]);
    await storage.requests.insertRows([row('a', 100, { authority: 1 })]);
    expect(await spent()).toEqual([180, 180]);
  });

  test('by day and currency; nobody else is counted', async () => {
    await storage.requests.insertRows([
      row('a', 10),
      row('b', 20, { started_at: day - 1 }),
      row('c', 40, { currency: 'EUR' }),
      row('d', 80, { access_key: 'bob' }),
    ]);
    expect(await spent()).toEqual([10, 90]);
    expect(await spent(0)).toEqual([30, 110]);
    expect(await spent(0, 'EUR')).toEqual([40, 40]);
  });

  test('many owners at once, each by its own time and currency', async () => {
    const names = Array.from({ length: 1_200 }, (_, index) => `key-${index}`);
    await storage.requests.insertRows(names.map((name, index) => row(`m${index}`, index + 1, { access_key: name, key_group: null })));
    const owners = names.flatMap((name) => [
      { kind: 'key' as const, name, currency: 'USD', from: day },
      { kind: 'key' as const, name, currency: 'EUR', from: day },
      { kind: 'key' as const, name, currency: 'USD', from: day + 86_400_000 },
    ]);
    expect(await storage.requests.spent(owners)).toEqual(names.flatMap((_, index) => [index + 1, 0, 0]));
    expect(await storage.requests.spent([])).toEqual([]);
  });

  test('batches delivered twice at the same time count once', async () => {
    const rows = Array.from({ length: 40 }, (_, at) => row(`r${at}`, 7));
    await Promise.all([1, 2, 3, 4].map(() => storage.requests.insertRows(rows)));
    expect(await spent()).toEqual([280, 280]);
  });
});
