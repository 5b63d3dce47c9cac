/** Two rows of one request, and rows that are no requests: what is stored, what is added up, and what is charged. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { RequestRow } from '@model-gateway/contracts';
import type { Storage } from '../src/index.ts';
import { engines } from './engines.ts';
import { sampleRow } from './samples.ts';

const at = 1_700_000_000_000;
const day = Math.floor(at / 86_400_000) * 86_400_000;
const cost = { cost_micros: 7_000, currency: 'USD' };

const described = (status: number, error_code: string): RequestRow =>
  sampleRow({ authority: 1, status, error_code, attempts: [], usage_source: null, input_tokens: 0, output_tokens: 0, reasoning_tokens: 0, upstream: null });
const ran = (over: Partial<RequestRow> = {}): RequestRow => sampleRow({ authority: 2, status: 200, error_code: null, ...cost, ...over });

describe.each(engines())('rows of one request in $name', (engine) => {
  let storage: Storage;
  beforeAll(() => engine.start());
  beforeEach(async () => {
    storage = await engine.open(() => at);
  });
  afterEach(() => storage.close());
  afterAll(() => engine.stop());

  const rows = async () =>
    (await storage.requests.listRows({ filters: {}, limit: 9 })).items
      .map(({ id, kind, of, status, error_code, cost_micros, authority }) => ({ id, kind, of, status, error_code, cost_micros, authority }))
      .sort((one, other) => (one.id < other.id ? -1 : 1));
  const spent = async () => (await storage.requests.spent([{ kind: 'key', name: 'ada', currency: 'USD', from: day }]))[0];
  const sums = async (filters = {}) =>
    (await storage.requests.readStats({ from: day, to: day + 86_400_000, grain: 'day', filters, overTime: false })).map(({ measures, cost }) => ({
      requests: measures.requests,
      errors: measures.errors,
      input: measures.input,
      duration: measures.duration_ms,
      cost,
    }));
  const paid = [{ currency: 'USD', cost_micros: 7_000 }];

  /** In one batch, one after the other, in reverse order, and each delivered twice. */
  const orders: [string, (one: RequestRow, other: RequestRow) => RequestRow[][]][] = [
    ['one batch', (one, other) => [[one, other]]],
    ['one batch, turned round', (one, other) => [[other, one]]],
    ['one after the other', (one, other) => [[one], [other]]],
    ['the later one first', (one, other) => [[other], [one]]],
    ['each told again', (one, other) => [[one], [other], [one, other], [other], [one]]],
  ];
  const store = async (batches: RequestRow[][]): Promise<RequestRow[]> => {
    const otherwise: RequestRow[] = [];
    for (const batch of batches) otherwise.push(...(await storage.requests.insertRows(batch)));
    return otherwise;
  };

  test.each(orders)('what ran for a request that was answered 503 is an orphan: %s', async (_name, batches) => {
    for (const [id, status] of [
      ['r503', 503],
      ['r504', 504],
    ] as const) {
      const otherwise = await store(batches({ ...described(status, 'service_lost'), id }, ran({ id })));
      expect(otherwise.filter(({ kind }) => kind === 'orphan').map(({ of }) => of)).toEqual([id]);
    }
    expect(await rows()).toEqual(
      [503, 504].flatMap((status) => [
        { id: `r${status}`, kind: 'call', of: null, status, error_code: 'service_lost', cost_micros: null, authority: 1 },
        { id: `r${status}-orphan`, kind: 'orphan', of: `r${status}`, status: 200, error_code: null, cost_micros: 7_000, authority: 2 },
      ]),
    );
    expect(await spent()).toBe(0);
    expect(await sums()).toEqual([{ requests: 2, errors: 2, input: 0, duration: 120, cost: [{ currency: 'USD', cost_micros: 14_000 }] }]);
    expect(await sums({ upstream: 'main' })).toEqual([{ requests: 0, errors: 0, input: 0, duration: 60, cost: [{ currency: 'USD', cost_micros: 14_000 }] }]);
    expect((await sums({ access_key: 'ada' }))[0]?.cost).toEqual([]);
  });

  test.each(orders)('what ran for a caller who disconnected completes the row and is charged: %s', async (_name, batches) => {
    await store(batches(described(499, 'client_gone'), ran()));
    expect(await rows()).toEqual([{ id: 'r1', kind: 'call', of: null, status: 499, error_code: 'client_gone', cost_micros: 7_000, authority: 2 }]);
    expect(await spent()).toBe(7_000);
    expect(await sums()).toEqual([{ requests: 1, errors: 0, input: 10, duration: 30, cost: paid }]);
  });

  test.each(orders)('what ran for a stream that the gateway broke off or finished keeps what its caller saw: %s', async (_name, batches) => {
    const seen = { status: 200, error_code: 'service_lost', duration_ms: 1_500, response_bytes: 640 };
    for (const ending of ['break', 'finish'] as const)
      for (const error_code of ['service_lost', null])
        await store(
          batches(
            sampleRow({ ...described(200, 'service_lost'), ...seen, id: `${ending} ${error_code}`, ending }),
            ran({ id: `${ending} ${error_code}`, error_code, duration_ms: 4_000, response_bytes: 900 }),
          ),
        );
    const { items } = await storage.requests.listRows({ filters: {}, limit: 9 });
    expect(items).toHaveLength(4);
    for (const row of items)
      expect(row).toMatchObject({ ...seen, ending: row.id.split(' ')[0], upstream: 'main', input_tokens: 10, cost_micros: 7_000, authority: 2 });
    expect(await sums()).toMatchObject([{ requests: 4, errors: 4, duration: 6_000, cost: [{ currency: 'USD', cost_micros: 28_000 }] }]);
  });

  test.each(orders)('where nothing ran there is no second row: %s', async (_name, batches) => {
    await store(
      batches(
        described(503, 'service_lost'),
        ran({ status: 503, error_code: 'draining', attempts: [], usage_source: null, cost_micros: null, currency: null }),
      ),
    );
    expect(await rows()).toMatchObject([{ id: 'r1', status: 503, error_code: 'service_lost', authority: 1 }]);
  });

  test('what an upstream answered is no refusal of the gateway', async () => {
    await store([
      [ran({ status: 503, error_code: 'upstream_overloaded', cost_micros: null })],
      [ran({ status: 503, error_code: 'upstream_overloaded', ...cost })],
    ]);
    expect(await rows()).toMatchObject([{ id: 'r1', status: 503, error_code: 'upstream_overloaded', authority: 2 }]);
  });

  test('sessions count time and money only, turns and tasks are requests; audio is counted separately from text', async () => {
    const kinds = ['realtime_session', 'realtime_turn', 'task', 'mcp_call'] as const;
    await storage.requests.insertRows(
      kinds.map((kind) => ran({ id: kind, kind, audio_input_tokens: 5, audio_output_tokens: 6, duration_ms: kind === 'realtime_session' ? 3_600_000 : 100 })),
    );
    const [group] = await storage.requests.readStats({ from: day, to: day + 86_400_000, grain: 'day', filters: {}, overTime: false });
    expect(group?.measures).toMatchObject({ requests: 3, input: 30, audio_input: 15, audio_output: 18, duration_ms: 3_600_300 });
    expect(group?.cost).toEqual([{ currency: 'USD', cost_micros: 28_000 }]);
    expect(group?.duration.p99).toBeLessThan(200);
    expect(await spent()).toBe(28_000);
    expect(await storage.requests.findRow('task')).toMatchObject({ kind: 'task', of: null, audio_input_tokens: 5, audio_output_tokens: 6 });
  });

  test('rows of earlier versions are calls', async () => {
    const { kind: _kind, of: _of, audio_input_tokens: _in, audio_output_tokens: _out, ...old } = sampleRow();
    await storage.requests.insertRows([old as RequestRow]);
    expect((await storage.requests.findRows(['r1', 'nobody'])).map(({ id, turn_id }) => ({ id, turn_id }))).toEqual([{ id: 'r1', turn_id: null }]);
    expect(await storage.requests.findRows([])).toEqual([]);
    expect(await storage.requests.findRow('r1')).toMatchObject({ kind: 'call', of: null, audio_input_tokens: 0, audio_output_tokens: 0 });
  });
});
