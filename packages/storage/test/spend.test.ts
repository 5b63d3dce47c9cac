/** Money by owner and day: each row counts once, whatever comes twice or is replaced. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Storage } from '../src/index.ts';
import { type Engine, engines } from './engines.ts';
import { sampleGroup, sampleKey, sampleRow } from './samples.ts';

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

  test('what a wrong clock dated ahead is not of the present day and month', async () => {
    const today = Math.floor(Date.now() / 86_400_000) * 86_400_000;
    await storage.requests.insertRows([row('a', 10, { started_at: today }), row('b', 20, { started_at: today + 40 * 86_400_000 })]);
    expect(await spent(today)).toEqual([10, 10]);
    // By the sums of months.
    expect(await spent(Date.UTC(new Date(today).getUTCFullYear(), new Date(today).getUTCMonth(), 1))).toEqual([10, 10]);
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

  test('a month is the sum of its days, on its first and last millisecond, and a row that is replaced changes both', async () => {
    const may = Date.UTC(2026, 4, 1);
    const june = Date.UTC(2026, 5, 1);
    await storage.requests.insertRows([
      row('a', 1, { started_at: may - 1 }),
      row('b', 10, { started_at: may, authority: 1 }),
      row('c', 100),
      row('d', 1_000, { started_at: june - 1 }),
      row('e', 10_000, { started_at: june }),
    ]);
    expect(await spent(may)).toEqual([11_110, 11_110]);
    expect(await spent(june)).toEqual([10_000, 10_000]);
    expect(await spent(0)).toEqual([11_111, 11_111]);
    await storage.requests.insertRows([row('b', 30, { started_at: may, authority: 2 })]);
    expect(await spent(may)).toEqual([11_130, 11_130]);
    // What begins within a month is counted by days.
    expect(await spent(may + 86_400_000)).toEqual([11_100, 11_100]);
  });

  test('of thousands of owners the sums are read together', async () => {
    const names = Array.from({ length: 2_500 }, (_, index) => `key-${index}`);
    await storage.requests.insertRows(names.slice(0, 10).map((name, index) => row(`m${index}`, index + 1, { access_key: name })));
    const owners = names.map((name) => ({ kind: 'key' as const, name, currency: 'USD', from: day }));
    expect(await storage.requests.spent(owners)).toEqual(names.map((_, index) => (index < 10 ? index + 1 : 0)));
  });

  test('whoever has a budget is found, and no longer when it is taken away', async () => {
    const budget = { limit: 5, period: 'month' as const, currency: 'USD' as const };
    await storage.catalog.change(async (writer) => {
      await writer.keyGroups.insert('g1', sampleGroup({ name: 'team', budget: { ...budget, period: 'total' } }));
      await writer.accessKeys.insert('k1', sampleKey({ name: 'ada', group: 'team', budget }));
      await writer.accessKeys.insert('k2', sampleKey({ name: 'bob', group: 'team', hash: 'b'.repeat(64) }));
    });
    const team = { kind: 'group', name: 'team', budget: { ...budget, period: 'total' } };
    expect(await storage.catalog.budgetHolders()).toEqual([team, { kind: 'key', name: 'ada', budget }]);
    await storage.catalog.change(async (writer) => {
      const ada = await writer.accessKeys.find('ada');
      if (ada) await writer.accessKeys.update(ada, { ...ada.document, budget: null });
    });
    expect(await storage.catalog.budgetHolders()).toEqual([team]);
  });

  test('the last use of many keys, not of those that never were used or are gone', async () => {
    await storage.catalog.change(async (writer) => {
      await writer.keyGroups.insert('g1', sampleGroup({ name: 'team' }));
      for (const name of ['ada', 'bob']) await writer.accessKeys.insert(name, sampleKey({ name, group: 'team', hash: name.padStart(64, '0') }));
    });
    await storage.requests.insertRows([row('a', 1), row('b', 1, { started_at: day + 5_000_000 }), row('c', 1, { access_key: 'carol' })]);
    expect(await storage.lastUsed(['ada', 'bob', 'carol'])).toEqual(new Map([['ada', day + 5_000_000]]));
    expect(await storage.lastUsed([])).toEqual(new Map());
  });
});
