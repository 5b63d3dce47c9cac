/** Every try at an upstream counts where it happened, whatever became of the request. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { AttemptRecord } from '@model-gateway/contracts';
import { type AttemptQuery, medianOf, type Storage } from '../src/index.ts';
import { outcomeOf } from '../src/stats/attempts.ts';
import { engines } from './engines.ts';
import { sampleRow } from './samples.ts';

const hour = 3_600_000;
const begin = Date.UTC(2026, 2, 1, 10);
const attempt = (upstream: string, status: number | null, error_code: string | null, over: Partial<AttemptRecord> = {}): AttemptRecord => ({
  upstream,
  key_index: 0,
  status,
  error_code,
  duration_ms: 100,
  model: 'm',
  key: `key-of-${upstream}`,
  ...over,
});
const query = (over: Partial<AttemptQuery> = {}): AttemptQuery => ({
  from: begin,
  to: begin + 24 * hour,
  grain: 'hour',
  filters: {},
  by: 'upstream',
  limit: 9,
  overTime: false,
  ...over,
});

test('outcomes are few, whatever a vendor calls its failures', () => {
  const of = (status: number | null, error_code: string | null) => outcomeOf({ status, error_code });
  expect([of(200, null), of(429, 'rate_limit_exceeded'), of(500, 'req_8f21'), of(null, 'connect_dns'), of(200, 'overloaded_error')]).toEqual([
    'ok',
    'http_429',
    'http_500',
    'connect_dns',
    'overloaded_error',
  ]);
  expect([of(404, 'no_count'), of(404, 'no_such_path'), of(500, 'count_failed')]).toEqual(['no_count', 'no_such_path', 'http_500']);
  expect([of(200, 'failure 8f21 of request 77'), of(200, 'client_gone'), of(null, 'x'.repeat(64))]).toEqual(['broken', 'client_gone', 'broken']);
});

describe.each(engines())('attempts on $name', (engine) => {
  let storage: Storage;
  beforeAll(() => engine.start());
  beforeEach(async () => {
    storage = await engine.open(() => begin);
  });
  afterEach(() => storage.close());
  afterAll(() => engine.stop());
  const shown = async (over: Partial<AttemptQuery> = {}) =>
    (await storage.requests.readAttempts(query(over))).map(({ value, attempts, failed }) => `${value} ${attempts} ${failed}`);

  const failedOver = sampleRow({
    id: 'over',
    started_at: begin,
    authority: 2,
    upstream: 'good',
    attempts: [
      attempt('ill', 500, 'server_error'),
      attempt('ill', 429, 'rate', { key: 'second' }),
      attempt('good', 200, null, { duration_ms: 900, model: 'other' }),
    ],
  });

  test('failures before a failover, of refused requests and of orphans are counted under their upstream', async () => {
    await storage.requests.insertRows([
      failedOver,
      sampleRow({
        id: 'refused',
        started_at: begin + 1,
        authority: 2,
        status: 502,
        error_code: 'upstream_failed',
        upstream: 'ill',
        attempts: [attempt('ill', null, 'connect_dns')],
      }),
      sampleRow({ id: 'lost', started_at: begin + 2, authority: 1, status: 503, error_code: 'service_lost', attempts: [], usage_source: null }),
      sampleRow({ id: 'lost', started_at: begin + 2, authority: 2, upstream: 'good', attempts: [attempt('good', 200, null)] }),
      sampleRow({
        id: 'left',
        started_at: begin + 3,
        authority: 2,
        upstream: 'good',
        status: 499,
        error_code: 'client_gone',
        attempts: [attempt('good', 200, 'client_gone')],
      }),
    ]);
    expect(await shown()).toEqual(['good 3 0', 'ill 3 3']);
    expect(await shown({ by: 'key' })).toEqual(['key-of-good 3 0', 'key-of-ill 2 2', 'second 1 1']);
    expect(await shown({ by: 'model' })).toEqual(['m 5 3', 'other 1 0']);
    expect(await shown({ by: 'outcome', filters: { upstream: 'ill' } })).toEqual(['connect_dns 1 1', 'http_429 1 1', 'http_500 1 1']);
    expect(await shown({ grain: 'day', from: Date.UTC(2026, 2, 1), to: Date.UTC(2026, 2, 2), limit: 1 })).toEqual(['good 3 0']);
    const [good] = await storage.requests.readAttempts(query());
    expect(good).toMatchObject({
      start: null,
      upstream: null,
      averageMs: 367,
      outcomes: [
        { outcome: 'ok', attempts: 2 },
        { outcome: 'client_gone', attempts: 1 },
      ],
    });
    expect(good?.duration.p99).toBeGreaterThan(800);
    expect((await storage.requests.readAttempts(query({ by: 'key', overTime: true })))[1]).toMatchObject({
      start: begin,
      upstream: 'ill',
      value: 'key-of-ill',
    });
  });

  test('a row delivered twice, or replaced by a better one, counts its attempts once', async () => {
    await storage.requests.insertRows([failedOver]);
    await storage.requests.insertRows([failedOver, failedOver]);
    expect(await shown()).toEqual(['ill 2 2', 'good 1 0']);
    const edge = sampleRow({ id: 'two', started_at: begin, authority: 1, status: 499, error_code: 'client_gone', attempts: [attempt('edge', 200, null)] });
    await storage.requests.insertRows([edge]);
    await storage.requests.insertRows([{ ...edge, authority: 2, attempts: [attempt('good', 200, null)] }]);
    expect(await shown()).toEqual(['good 2 0', 'ill 2 2']);
  });

  test('a search by an upstream finds every request that touched it, page by page', async () => {
    const rows = Array.from({ length: 7 }, (_, at) =>
      at % 2 === 0
        ? { ...failedOver, id: `over-${at}`, started_at: begin + at }
        : sampleRow({ id: `own-${at}`, started_at: begin + at, upstream: 'ill', status: 502, error_code: 'x', attempts: [attempt('ill', 500, 'x')] }),
    );
    await storage.requests.insertRows([...rows, sampleRow({ id: 'else', started_at: begin + 3, upstream: 'good' })]);
    const found: string[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await storage.requests.listRows({
        filters: { upstream: 'ill', from: begin, to: begin + hour },
        limit: 2,
        ...(cursor !== undefined && { cursor }),
      });
      found.push(...page.items.map(({ id }) => id));
      if (page.nextCursor === null) break;
      cursor = page.nextCursor;
    }
    expect(found).toEqual(['over-6', 'own-5', 'over-4', 'own-3', 'over-2', 'own-1', 'over-0']);
    expect((await storage.requests.listRows({ filters: { upstream: 'ill', failed: true }, limit: 9 })).items.map(({ id }) => id)).toEqual([
      'own-5',
      'own-3',
      'own-1',
    ]);
    expect((await storage.requests.listRows({ filters: { upstream: 'good' }, limit: 9 })).items).toHaveLength(5);
  });

  test('the latest attempts are counted by key, model and outcome, and what was before them is known', async () => {
    const minute = 60_000;
    const at = begin + 2 * hour;
    const ended = (id: string, minutesAgo: number, ...attempts: AttemptRecord[]) =>
      sampleRow({ id, started_at: at - minutesAgo * minute, authority: 2, attempts });
    await storage.requests.insertRows([
      ended('now', 1, attempt('ill', 500, 'x'), attempt('good', 200, null, { duration_ms: 900 })),
      ended('before', 5, attempt('ill', 500, 'x')),
      ended('earlier', 40, attempt('ill', 500, 'x'), attempt('ill', 200, null)),
      ended('past', 26 * 60, attempt('gone', 200, null)),
    ]);
    const { recent, seen } = await storage.requests.readRecentAttempts({ at, window: 15 * minute, back: 6 * hour, seenDays: 30 });
    const shown = recent.map(({ upstream, outcome, attempts, first, last }) => [upstream, outcome, attempts, (at - first) / minute, (at - last) / minute]);
    expect(shown.sort()).toEqual([
      ['good', 'ok', 1, 1, 1],
      ['ill', 'http_500', 2, 40, 1],
      ['ill', 'ok', 0, 40, 40],
    ]);
    expect(medianOf(recent.filter(({ upstream }) => upstream === 'good').map(({ durations }) => durations))).toBeGreaterThan(800);
    expect(medianOf(recent.filter(({ outcome, upstream }) => outcome === 'ok' && upstream === 'ill').map(({ durations }) => durations))).toBeNull();
    expect(seen.map(({ upstream, key }) => `${upstream} ${key}`).sort()).toEqual(['gone key-of-gone', 'good key-of-good', 'ill key-of-ill']);
  });

  test('old sums are forgotten with those of requests', async () => {
    await storage.requests.insertRows([failedOver]);
    await storage.requests.prune({ rows: begin + 1, sessions: null, sums: { minute: null, hour: begin + 3 * hour, day: null } });
    expect(await shown()).toEqual([]);
    expect(await shown({ grain: 'day', from: Date.UTC(2026, 2, 1), to: Date.UTC(2026, 2, 2) })).toEqual(['ill 2 2', 'good 1 0']);
  });
});
