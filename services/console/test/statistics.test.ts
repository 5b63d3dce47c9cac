import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Storage } from '@model-gateway/storage';
import { sampleRow } from '../../../packages/storage/test/samples.ts';
import { until } from '../../../tests/support/gateway.ts';
import { csvLine } from '../src/statistics/csv.ts';
import { api, type FreshHarness, secretKey, startFreshConsole } from './harness.ts';

const now = Date.now();
const evil = '=HYPERLINK("http://evil.example","x"),\r\n"';

describe('statistics and logs', () => {
  let storage: Storage;
  let harness: FreshHarness;
  const get = (path: string, headers = {}) => harness.call('GET', `${api}/${path}`, undefined, headers);
  beforeAll(async () => {
    harness = await startFreshConsole();
    ({ storage } = harness);
    const priced = { cost_micros: 1_500_000, currency: 'USD', authority: 2 as const };
    await storage.requests.insertRows([
      sampleRow({ id: 'a', started_at: now - 60_000, session_id: 'agent-1', ...priced }),
      sampleRow({ id: 'b', started_at: now - 50_000, session_id: 'agent-1', ...priced, duration_ms: 5_000 }),
      sampleRow({ id: 'c', started_at: now - 40_000, access_key: evil, user_agent: evil, status: 502, error_code: 'upstream_failed' }),
      sampleRow({ id: 'd', started_at: now - 30 * 3_600_000, model: 'old', ...priced }),
    ]);
  });
  afterAll(() => harness.close());

  test('a summary of the last day, compared with the day before', async () => {
    const { body } = await get('stats/summary?compare=true');
    expect(body).toMatchObject({
      granularity: 'hour',
      requests: 3,
      errors: 1,
      input_tokens: 30,
      unpriced_requests: 1,
      cost: [{ currency: 'USD', cost: '3', cost_micros: 3_000_000 }],
    });
    expect(body.error_rate).toBeCloseTo(1 / 3);
    expect(body.duration_ms.p99).toBeGreaterThan(4_500);
    expect(body.duration_ms.average).toBe(Math.round(5_060 / 3));
    expect(body.previous).toMatchObject({ requests: 1, to: body.from });
    // The short words narrow as the long ones do.
    for (const [short, long] of [
      ['key=ada', 'access_key=ada'],
      ['group=nobodys', 'key_group=nobodys'],
      ['protocol=beta', 'client_protocol=beta'],
    ] as const) {
      const [one, other] = [(await get(`stats/summary?${short}`)).body, (await get(`stats/summary?${long}`)).body];
      expect([short, one]).toEqual([short, other]);
      if (!short.startsWith('key')) expect(one.requests).toBe(0);
    }
    expect((await get('stats/summary?key=ada&access_key=eve')).body.error.details[0].field).toBe('key');
    expect((await get('stats/summary?model=nothing')).body).toMatchObject({
      requests: 0,
      error_rate: null,
      cost: [],
      duration_ms: { average: null, p50: null },
    });
  });

  test('attempts show failures that another upstream made good', async () => {
    const tried = (upstream: string, status: number, error_code: string | null) => ({
      upstream,
      key_index: 0,
      status,
      error_code,
      duration_ms: 40,
      model: 'm',
      key: 'k1',
    });
    const attempts = [tried('ill', 500, 'server_error'), tried('well', 200, null)];
    await storage.requests.insertRows([sampleRow({ id: 'over', started_at: now - 3 * 86_400_000, upstream: 'well', attempts })]);
    const range = `from=${now - 3 * 86_400_000 - 3_600_000}&to=${now - 3 * 86_400_000 + 1}`;
    expect((await get(`stats/attempts?${range}`)).body).toMatchObject({
      by: 'upstream',
      granularity: 'hour',
      items: [
        { value: 'ill', attempts: 1, failed: 1, failure_rate: 1, outcomes: [{ outcome: 'http_500', attempts: 1 }], duration_ms: { average: 40 } },
        { value: 'well', attempts: 1, failed: 0, failure_rate: 0 },
      ],
    });
    expect((await get(`stats/attempts?${range}&by=key&upstream=ill&over_time=true`)).body.items).toMatchObject([{ value: 'k1', upstream: 'ill', attempts: 1 }]);
    expect((await get(`stats/attempts?${range}&format=csv`)).text).toContain('"ill",1,1,40');
    expect((await get('stats/attempts?by=banana')).status).toBe(422);
    expect((await get(`logs?${range}&upstream=ill`)).body.items.map(({ id }: { id: string }) => id)).toEqual(['over']);
  });

  test('a table that may not hold all says so, and may have more values than a chart', async () => {
    const first = async (path: string) => (await get(`stats/${path}`)).headers.get('x-first-only');
    expect([await first('top?by=access_key&format=csv&limit=1'), await first('top?by=access_key&format=csv&limit=100')]).toEqual(['1', null]);
    expect([await first('series?by=key&format=csv&limit=2'), await first('series?by=key&format=csv&limit=1000')]).toEqual(['2', null]);
    expect((await get('stats/series?by=key&limit=21')).body.error.details[0].field).toBe('limit');
    expect((await get('stats/series?by=key&limit=20')).status).toBe(200);
  });

  test('series choose their grain; minutes are for the last hours of all', async () => {
    const live = (await get(`stats/series?from=${now - 3_600_000}&to=${now}`)).body;
    expect(live.granularity).toBe('minute');
    expect(live.items.reduce((sum: number, { requests }: { requests: number }) => sum + requests, 0)).toBe(3);
    expect((await get(`stats/series?from=${now - 3_600_000}&to=${now}&by=model`)).body).toMatchObject({ granularity: 'hour', by: 'model' });
    expect((await get(`stats/series?from=${now - 10 * 86_400_000}`)).body.granularity).toBe('day');
    const refused = await get(`stats/series?granularity=minute&model=fast`);
    expect([refused.status, refused.body.error.details[0].field]).toEqual([422, 'granularity']);
    expect((await get(`stats/series?granularity=hour&from=2000-01-01T00:00:00Z`)).status).toBe(422);
  });

  test('who had the most, also of sessions', async () => {
    const top = (await get('stats/top?by=error')).body;
    expect(top.items.map(({ value, requests }: { value: string; requests: number }) => [value, requests])).toEqual([
      [null, 2],
      ['upstream_failed', 1],
    ]);
    expect((await get('stats/top?by=key&model=fast&order=cost')).body.items[0]).toMatchObject({ value: 'ada', requests: 2 });
    expect((await get('stats/top?by=tag')).body).toMatchObject({ by: 'tag', items: [{ value: null, requests: 3 }] });
    expect((await get('stats/series?by=tag&order=cost')).body).toMatchObject({
      by: 'tag',
      items: expect.arrayContaining([expect.objectContaining({ value: null })]),
    });
    expect((await get('stats/top?by=session')).body.items).toMatchObject([{ value: 'agent-1', requests: 2, cost: [{ cost_micros: 3_000_000 }] }]);
    expect((await get('stats/sessions')).body.items).toMatchObject([
      { session_id: 'agent-1', access_key: 'ada', first_at: now - 60_000, last_at: now - 50_000 },
    ]);
    expect((await get('stats/sessions?key=ada')).body.items).toHaveLength(1);
    expect((await get('stats/sessions?key=eve')).body.items).toEqual([]);
    expect((await get('stats/sessions?key=ada&access_key=eve')).body.error.details[0].field).toBe('key');
    expect((await get('stats/top')).body).toMatchObject({ by: 'model' });
    const wide = await get('stats/top?by=session&model=fast');
    expect([wide.status, wide.body.error.details[0].field]).toEqual([422, 'model']);
    for (const bad of ['stats/top?by=user', 'stats/summary?from=tomorrow', 'stats/summary?from=2030-01-01T00:00:00Z&to=2029-01-01T00:00:00Z'])
      expect((await get(bad)).status).toBe(422);
  });

  test('tables hold text, never formulas', async () => {
    for (const path of ['stats/top?by=access_key&format=csv', 'logs?format=csv']) {
      const { status, text, headers } = await get(path);
      expect(status).toBe(200);
      expect(headers.get('content-type')).toBe('text/csv; charset=utf-8');
      expect(headers.get('content-disposition')).toMatch(/^attachment/);
      expect(text).toContain(`"'=HYPERLINK(""http://evil.example""`);
      expect(text).not.toMatch(/(?:^|[,\n])"?=/);
    }
    for (const begins of ['=', '+', '-', '@', '\t', '＝', '＋', '－', '＠']) expect(csvLine([`${begins}1`])).toBe(`"'${begins}1"\r\n`);
    const lines = (await get('stats/series?by=key&format=csv')).text.trim().split('\r\n');
    expect(lines[0]).toMatch(/^"start","access_key","requests".*"cost_USD"$/);
    expect((await get('logs?format=csv')).text).toContain(',1.5,1,1\r\n');
  });

  test('a table of requests has every count that prices go by', async () => {
    const [head = ''] = (await get('logs?format=csv')).text.split('\r\n', 1);
    const tokens = [
      'input',
      'output',
      'cache_read',
      'cache_write',
      'cache_write_1h',
      'reasoning',
      'audio_input',
      'audio_output',
      'image_input',
      'image_output',
    ];
    for (const column of [...tokens.map((kind) => `${kind}_tokens`), 'images', 'seconds', 'characters', 'currency', 'cost'])
      expect(head.split(',')).toContain(`"${column}"`);
  });

  test('the log by what went wrong, by session, by duration, and one request', async () => {
    const ids = async (query: string) => (await get(`logs?${query}`)).body.items.map(({ id }: { id: string }) => id);
    expect(await ids('errors_only=true')).toEqual(['c']);
    expect(await ids('errors_only=false')).toEqual(['b', 'a']);
    expect(await ids('session_id=agent-1&min_duration_ms=1000')).toEqual(['b']);
    expect(await ids('client_protocol=alpha&upstream_protocol=beta')).toHaveLength(3);
    expect(await ids('q=AGENT-1')).toContain('b');
    expect(await ids('q=%25')).toEqual([]);
    for (const path of ['logs', 'audit-logs']) expect((await get(`${path}?q=a&from=${Date.now() - 7 * 24 * 3_600_000 - 500}`)).status).toBe(200);
    const wide = await get(`logs?q=a&from=${Date.now() - 8 * 24 * 3_600_000}`);
    expect([wide.status, wide.body.error.details[0].field]).toEqual([422, 'q']);
    expect((await get('logs/d')).body).toMatchObject({ id: 'd', model: 'old', attempts: [{ upstream: 'main' }] });
    expect((await get('logs/nothing')).status).toBe(404);
  });

  test('budgets, the fullest first', async () => {
    const made = await harness.call('POST', `${api}/key-groups`, { name: 'team', budget: { limit: 4, period: 'total' } });
    expect(made.status).toBe(201);
    await harness.call('POST', `${api}/key-groups`, { name: 'others', budget: { limit: 1, period: 'day' } });
    const { body } = await get('budgets');
    expect(body).toMatchObject({
      total: 2,
      items: [
        { kind: 'group', name: 'team', limit: '4', limit_micros: 4_000_000, spent: '4.5', spent_micros: 4_500_000, state: 'exhausted', to: null },
        { kind: 'group', name: 'others', spent_micros: 0, state: 'ok' },
      ],
    });
  });

  test('the live tail: rows that match, once somebody looks on; who signs out sees no more', async () => {
    const watched: unknown[] = [];
    const hearing = harness.bus.listen('logs.watch', (event) => void watched.push(event));
    const { body: user } = await harness.call('POST', `${api}/users`, { username: 'mona', role: 'monitor', password: 'correct horse' });
    expect(user.username).toBe('mona');
    const { body: signedIn } = await harness.call('POST', `${api}/login`, { username: 'mona', password: 'correct horse' });
    const open = async (token: string, query = '') => {
      const response = await fetch(`${harness.url}${api}/logs/stream${query}`, { headers: { authorization: `Bearer ${token}` } });
      const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
      let text = '';
      return {
        until: async (part: string) => {
          while (!text.includes(part)) {
            const { value, done } = await reader.read();
            if (done) throw new Error(`ended before ${part}: ${text}`);
            text += value;
          }
          return text;
        },
        rest: async () => {
          for (;;) {
            const { value, done } = await reader.read();
            if (done) return text;
            text += value;
          }
        },
        leave: () => reader.cancel(),
      };
    };
    const monitor = await open(signedIn.token, '?errors_only=true');
    await monitor.until(': open');
    const admin = await open(secretKey);
    await admin.until(': open');
    expect(watched.length).toBeGreaterThanOrEqual(2);
    harness.bus.publish('logs.rows', { rows: [sampleRow({ id: 'fine' }), sampleRow({ id: 'broken', error_code: 'upstream_failed' })], dropped: 3 });
    const seen = await monitor.until('event: dropped');
    expect(seen).toContain('"id":"broken"');
    expect(seen).not.toContain('"id":"fine"');
    expect(seen).toContain('{"count":3}');
    await admin.until('"id":"fine"');
    await harness.call('POST', `${api}/logout`, undefined, { authorization: `Bearer ${signedIn.token}` });
    await expect(monitor.rest()).rejects.toThrow();
    await admin.leave();
    await hearing.dispose();
    expect((await get('logs/stream?status=9')).status).toBe(422);
  });

  test('HEAD of the live tail is answered, and watches nothing', async () => {
    const watched: unknown[] = [];
    const hearing = harness.bus.listen('logs.watch', (event) => void watched.push(event));
    const asked = await fetch(`${harness.url}${api}/logs/stream`, {
      method: 'HEAD',
      headers: { authorization: `Bearer ${secretKey}` },
      signal: AbortSignal.timeout(30_000),
    });
    expect([asked.status, asked.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
    // What is heard first is of the reader that comes after it.
    const listening = await fetch(`${harness.url}${api}/logs/stream`, { headers: { authorization: `Bearer ${secretKey}` } });
    await until(async () => watched.length > 0, 'the live tail to be watched');
    expect(watched).toHaveLength(1);
    await listening.body?.cancel();
    await hearing.dispose();
  });

  test('a request of an edge whose clock is ahead is in the log at once', async () => {
    await storage.requests.insertRows([sampleRow({ id: 'ahead', started_at: Date.now() + 300_000, upstream: 'ahead' })]);
    expect((await harness.call('GET', `${api}/logs?upstream=ahead`)).body.items).toMatchObject([{ id: 'ahead' }]);
    expect((await harness.call('GET', `${api}/logs?request_id=ahead`)).body.items).toMatchObject([{ id: 'ahead' }]);
  });
});
