import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { RequestRow } from '@model-gateway/contracts';
import fc from 'fast-check';
import type { StatsQuery, Storage } from '../src/index.ts';
import { bucketOf, quantile } from '../src/stats/histogram.ts';
import { engines } from './engines.ts';
import { sampleGroup, sampleKey, sampleRow } from './samples.ts';

const hour = 3_600_000;
const begin = Date.UTC(2026, 2, 1, 10);

describe('histograms', () => {
  test('a quantile lies inside its bucket by its rank: an even spread comes out as it is, and no two spreads alike', () => {
    const spread = (from: number, to: number): Map<number, number> => {
      const histogram = new Map<number, number>();
      for (let ms = from; ms < to; ms++) histogram.set(bucketOf(ms), (histogram.get(bucketOf(ms)) ?? 0) + 1);
      return histogram;
    };
    for (const [from, to] of [
      [600, 700],
      [100, 1_000],
      [1_000, 2_000],
    ] as const)
      for (const share of [0.5, 0.95, 0.99]) {
        const exact = from + Math.ceil((to - from) * share) - 1;
        expect([from, to, share, Math.abs(quantile(spread(from, to), share)! - exact) <= exact * 0.1]).toEqual([from, to, share, true]);
      }
    const p95 = [500, 560, 600, 640].map((ms) => quantile(spread(100, ms), 0.95));
    expect(new Set(p95).size).toBe(4);
    // Of one alone the middle of its bucket.
    expect(quantile(new Map([[bucketOf(30), 1]]), 0.99)).toBe(29);
  });

  test('a quantile is at most a bucket off, whatever the values', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 3_600_000 }), { minLength: 1, maxLength: 200 }), fc.constantFrom(0.5, 0.95, 0.99), (values, share) => {
        const histogram = new Map<number, number>();
        for (const value of values) histogram.set(bucketOf(value), (histogram.get(bucketOf(value)) ?? 0) + 1);
        const exact = [...values].sort((a, b) => a - b)[Math.max(1, Math.ceil(values.length * share)) - 1]!;
        // One more for the rounding to whole milliseconds.
        expect(Math.abs(quantile(histogram, share)! - exact)).toBeLessThanOrEqual(exact * 0.1893 + 1);
      }),
    );
    expect(quantile(new Map(), 0.5)).toBeNull();
    expect(quantile(new Map([[3, 0]]), 0.5)).toBeNull();
  });
});

describe.each(engines())('statistics on $name', (engine) => {
  let storage: Storage;
  beforeAll(() => engine.start());
  afterEach(() => storage.close());
  afterAll(() => engine.stop());
  const opened = async (): Promise<Storage> => {
    storage = await engine.open();
    return storage;
  };
  const query = (over: Partial<StatsQuery> = {}): StatsQuery => ({
    from: begin - hour,
    to: begin + 48 * hour,
    grain: 'hour',
    filters: {},
    overTime: false,
    ...over,
  });
  const row = (id: string, over: Partial<RequestRow> = {}): RequestRow =>
    sampleRow({ id, started_at: begin, cost_micros: 100, currency: 'USD', authority: 2, ...over });

  test('by the tags that keys have now: several count in each, none and keys that are gone together', async () => {
    const { requests, catalog } = await opened();
    await catalog.change(async (writer) => {
      await writer.keyGroups.insert('g1', sampleGroup({ name: 'team' }));
      for (const [at, [name, tags]] of (
        [
          ['ada', ['red', 'blue']],
          ['bob', ['blue']],
          ['carol', []],
        ] as const
      ).entries())
        await writer.accessKeys.insert(name, sampleKey({ name, group: 'team', hash: String(at).padStart(64, '0'), tags: [...tags] }));
    });
    await requests.insertRows([
      row('a', { access_key: 'ada', cost_micros: 1, model: 'one' }),
      row('b', { access_key: 'bob', cost_micros: 10, started_at: begin + hour }),
      row('c', { access_key: 'carol', cost_micros: 100 }),
      row('d', { access_key: 'gone', cost_micros: 1_000 }),
    ]);
    const by = { dimension: 'tag' as const, order: 'cost_micros' as const, limit: 10 };
    const costs = (groups: Awaited<ReturnType<typeof requests.readStats>>) => groups.map(({ start, value, cost }) => [start, value, cost[0]?.cost_micros]);
    expect(costs(await requests.readStats(query({ by })))).toEqual([
      [null, '', 1_100],
      [null, 'blue', 11],
      [null, 'red', 1],
    ]);
    expect(costs(await requests.readStats(query({ by: { ...by, limit: 2 }, overTime: true })))).toEqual([
      [begin, '', 1_100],
      [begin, 'blue', 1],
      [begin + hour, 'blue', 10],
    ]);
    expect(costs(await requests.readStats(query({ by, filters: { model: 'one' } })))).toEqual([
      [null, 'blue', 1],
      [null, 'red', 1],
    ]);
  });

  test('sums of all, over time, by each dimension, within filters', async () => {
    const { requests } = await opened();
    await requests.insertRows([
      row('a', { model: 'one', access_key: 'ada', duration_ms: 100 }),
      row('b', {
        model: 'two',
        access_key: 'ada',
        duration_ms: 1_000,
        started_at: begin + hour,
        status: 502,
        error_code: 'upstream_failed',
        cost_micros: null,
        currency: null,
      }),
      row('c', { model: 'one', access_key: 'bob', duration_ms: 100, cost_micros: 7, currency: 'EUR' }),
      row('d', { model: null, access_key: null, status: 499, error_code: 'client_gone', usage_source: null, cost_micros: null, currency: null }),
    ]);
    const [all] = await requests.readStats(query());
    expect(all).toMatchObject({ start: null, value: null, measures: { requests: 4, errors: 1, unpriced: 1, input: 40 } });
    expect(all!.cost.sort((a, b) => (a.currency < b.currency ? -1 : 1))).toEqual([
      { currency: 'EUR', cost_micros: 7 },
      { currency: 'USD', cost_micros: 100 },
    ]);
    expect(all!.duration.p50).toBeGreaterThan(85);
    expect(all!.duration.p99).toBeGreaterThan(900);
    const series = await requests.readStats(query({ overTime: true }));
    expect(series.map(({ start, measures }) => [start, measures.requests])).toEqual([
      [begin, 3],
      [begin + hour, 1],
    ]);
    const byModel = await requests.readStats(query({ by: { dimension: 'model', order: 'requests', limit: 10 } }));
    expect(byModel.map(({ value, measures }) => [value, measures.requests])).toEqual([
      ['one', 2],
      ['', 1],
      ['two', 1],
    ]);
    const drilled = await requests.readStats(query({ filters: { access_key: 'ada' }, by: { dimension: 'error', order: 'errors', limit: 10 } }));
    expect(drilled.map(({ value, measures }) => [value, measures.requests, measures.errors])).toEqual([
      ['upstream_failed', 1, 1],
      ['', 1, 0],
    ]);
    expect(await requests.readStats(query({ filters: { access_key: 'nobody' } }))).toEqual([]);
    expect((await requests.readStats(query({ grain: 'minute', overTime: true }))).map(({ measures }) => measures.requests)).toEqual([3, 1]);
    expect((await requests.readStats(query({ from: begin - 10 * hour, grain: 'day' })))[0]?.measures.requests).toBe(4);
  });

  test('a row that replaces another corrects the sums once, however often both are delivered, in any batches', async () => {
    const { requests } = await opened();
    const edge = row('x', {
      authority: 1,
      status: 500,
      error_code: 'internal',
      upstream: null,
      cost_micros: null,
      currency: null,
      input_tokens: 0,
      duration_ms: 9_000,
      session_id: 's',
    });
    const translator = row('x', { authority: 2, session_id: 's', cost_micros: 70 });
    await requests.insertRows([edge, row('y', { session_id: 's' })]);
    await requests.insertRows([translator, edge]);
    await requests.insertRows([edge]);
    await requests.insertRows([translator]);
    const groups = await requests.readStats(query({ by: { dimension: 'error', order: 'requests', limit: 9 } }));
    expect(groups).toHaveLength(1);
    expect(groups[0]).toMatchObject({ value: '', measures: { requests: 2, errors: 0, input: 20 }, cost: [{ currency: 'USD', cost_micros: 170 }] });
    expect(groups[0]!.duration.p99).toBeLessThan(40);
    expect(await requests.spent([{ kind: 'key', name: 'ada', currency: 'USD', from: 0 }])).toEqual([170]);
    const sessions = await requests.readSessions({ from: 0, to: begin * 2, order: 'cost_micros', limit: 5 });
    expect(sessions).toMatchObject([{ sessionId: 's', accessKey: 'ada', measures: { requests: 2, errors: 0 }, cost: [{ currency: 'USD', cost_micros: 170 }] }]);
  });

  test('rows that were written and not yet added up are added up by the next process, once', async () => {
    const first = await opened();
    const rows = Array.from({ length: 10 }, (_, index) => row(`k${index}`, { started_at: begin + index, authority: 1 }));
    await first.requests.insertRows(rows);
    if (!engine.reopen) return;
    await first.close();
    const second = await engine.reopen();
    await second.requests.insertRows([...rows, row('more'), row('k3', { started_at: begin + 3, cost_micros: 50 })]);
    expect((await second.requests.readStats(query()))[0]).toMatchObject({ measures: { requests: 11 }, cost: [{ cost_micros: 1_050 }] });
    const third = await engine.reopen();
    expect((await third.requests.readStats(query()))[0]).toMatchObject({ measures: { requests: 11 } });
    await Promise.all([second.close(), third.close()]);
  });

  test('what was written while old rows were forgotten is added up by the next process all the same', async () => {
    const first = await opened();
    await Promise.all([
      first.requests.prune({ rows: 1, sessions: null, sums: { minute: null, hour: null, day: null } }),
      first.requests.insertRows([row('late')]),
    ]);
    if (!engine.reopen) return;
    await first.close();
    const second = await engine.reopen();
    expect((await second.requests.readStats(query()))[0]).toMatchObject({ measures: { requests: 1 } });
    await second.close();
  });

  test('concurrent writers of the same rows count each once', async () => {
    const { requests } = await opened();
    const batch = Array.from({ length: 40 }, (_, index) => row(`r${index}`, { started_at: begin + index, access_key: `key-${index % 7}`, authority: 1 }));
    const better = batch.map((one) => ({ ...one, authority: 2 as const, cost_micros: 5 }));
    await Promise.all([
      requests.insertRows(batch),
      requests.insertRows([...batch].reverse()),
      requests.insertRows(better),
      requests.insertRows([...better].reverse()),
    ]);
    const [all] = await requests.readStats(query());
    expect(all).toMatchObject({ measures: { requests: 40 }, cost: [{ currency: 'USD', cost_micros: 200 }] });
    const byKey = await requests.readStats(query({ by: { dimension: 'access_key', order: 'requests', limit: 100 } }));
    expect(byKey.reduce((sum, { measures }) => sum + measures.requests, 0)).toBe(40);
  });

  test('the first of many values are those of the range, where hours of several days are asked for', async () => {
    const { requests } = await opened();
    const day = 24 * hour;
    const midnight = begin - (begin % day);
    const of = (key: string, count: number, started_at: number) =>
      Array.from({ length: count }, (_, at) => row(`${key} ${started_at} ${at}`, { started_at: started_at + at, access_key: key }));
    await requests.insertRows([
      ...[...of('before', 5, midnight + 4 * hour), ...of('before', 1, midnight + day)],
      ...[...of('first hour', 3, midnight + 5 * hour), ...of('middle', 4, midnight + 2 * day - 1), ...of('last hour', 2, midnight + 3 * day + 6 * hour)],
      ...of('after', 6, midnight + 3 * day + 7 * hour),
    ]);
    const range = { from: midnight + 5 * hour, to: midnight + 3 * day + 7 * hour, grain: 'hour' as const };
    const top = async (limit: number) =>
      (await requests.readStats(query({ ...range, by: { dimension: 'access_key', order: 'requests', limit } }))).map(({ value, measures }) => [
        value,
        measures.requests,
      ]);
    const all = [
      ['middle', 4],
      ['first hour', 3],
      ['last hour', 2],
      ['before', 1],
    ];
    expect(await top(9)).toEqual(all);
    expect(await top(2)).toEqual(all.slice(0, 2));
  });

  test('what is too old is forgotten, sums after their rows', async () => {
    const { requests } = await opened();
    const old = begin - 40 * 24 * hour;
    await requests.prepareDay(old);
    await requests.prepareDay(begin);
    await requests.insertRows([row('old', { started_at: old, session_id: 's' }), row('ancient', { started_at: 5 }), row('new')]);
    const before = begin - 24 * hour;
    const gone = await requests.prune({ rows: before, sessions: before, sums: { minute: begin + hour, hour: before, day: null } });
    expect(gone).toEqual(engine.name === 'postgresql' ? { rows: 1, partitions: 1 } : { rows: 2, partitions: 0 });
    expect((await requests.listRows({ filters: {}, limit: 9 })).items.map(({ id }) => id)).toEqual(['new']);
    const counted = async (over: Partial<StatsQuery>) => (await requests.readStats(query({ from: 0, ...over })))[0]?.measures.requests;
    expect(await counted({ grain: 'minute' })).toBeUndefined();
    expect(await counted({ grain: 'hour' })).toBe(1);
    expect(await counted({ grain: 'day' })).toBe(3);
    expect(await requests.readSessions({ from: 0, to: begin, order: 'last_at', limit: 5 })).toEqual([]);
  });

  test('what another process deleted because it had no sums left is counted again by one that wrote it before', async () => {
    const { requests } = await opened();
    const other = engine.another ? await engine.another() : storage;
    const counted = async () => (await requests.readStats(query({ from: 0, filters: { model: 'back' } })))[0]?.measures.requests;
    try {
      await other.requests.insertRows([row('old', { model: 'back', started_at: begin - 40 * 24 * hour })]);
      expect(await counted()).toBe(1);
      await requests.prune({ rows: null, sessions: null, sums: { minute: begin, hour: begin, day: begin } });
      expect(await counted()).toBeUndefined();
      await other.requests.insertRows([row('new', { model: 'back' })]);
      expect(await counted()).toBe(1);
    } finally {
      if (other !== storage) await other.close();
    }
  });

  test('a day that is made after its rows takes them in', async () => {
    const { requests } = await opened();
    await requests.insertRows([row('early')]);
    await requests.prepareDay(begin);
    await requests.prepareDay(begin);
    await requests.insertRows([row('early'), row('later', { started_at: begin + 1 })]);
    expect((await requests.listRows({ filters: { from: begin, to: begin + hour }, limit: 9 })).items.map(({ id }) => id)).toEqual(['later', 'early']);
    expect((await requests.readStats(query()))[0]?.measures.requests).toBe(2);
    expect((await requests.findRow('later', begin + 1))?.cost_micros).toBe(100);
    expect(await requests.findRow('nobody')).toBeNull();
  });

  test('latencies of many batches add up, however long what lies there grows', async () => {
    const { requests } = await opened();
    const durations = Array.from({ length: 600 }, (_, at) => 1 + ((at * 7_919) % 200_000));
    for (let at = 0; at < durations.length; at += 10)
      await requests.insertRows(
        durations.slice(at, at + 10).map((duration_ms, of) => row(`${at + of}`, { duration_ms, first_content_ms: of === 0 ? null : duration_ms })),
      );
    const [all] = await requests.readStats(query());
    const histogram = new Map<number, number>();
    for (const duration of durations) histogram.set(bucketOf(duration), (histogram.get(bucketOf(duration)) ?? 0) + 1);
    expect(all?.duration).toEqual({ p50: quantile(histogram, 0.5), p95: quantile(histogram, 0.95), p99: quantile(histogram, 0.99) });
    expect(all?.measures.requests).toBe(600);
  });

  test('hostile names are only names', async () => {
    const { requests } = await opened();
    const name = `=cmd|' /C calc'!A0\0\ud800'"; drop table stat_sums; --${'x'.repeat(5_000)}`;
    await requests.insertRows([row('h', { model: name, access_key: '__proto__', session_id: name })]);
    const [one] = await requests.readStats(query({ filters: { access_key: '__proto__' }, by: { dimension: 'model', order: 'tokens', limit: 1 } }));
    expect(one?.value).toHaveLength(200);
    expect((await requests.readSessions({ from: 0, to: begin * 2, order: 'requests', limit: 1 }))[0]?.sessionId).toHaveLength(512);
  });
});
