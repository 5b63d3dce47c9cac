import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { AuditRow, RequestRow } from '@model-gateway/contracts';
import type { CatalogChange, Storage } from '../src/index.ts';
import { type Engine, engines } from './engines.ts';
import { sampleGroup, sampleKey, sampleModel, sampleRow, sampleUpstream } from './samples.ts';

const seed = (storage: Storage) =>
  storage.catalog.change(async (writer) => {
    await writer.upstreams.insert('u1', sampleUpstream());
    await writer.models.insert('m1', sampleModel({ aliases: ['quick'] }));
    await writer.keyGroups.insert('g1', sampleGroup());
    await writer.accessKeys.insert('a1', sampleKey({ expires_at: '2030-01-01T00:00:00Z' }));
  });

describe.each(engines().map((engine) => [engine.name, engine] as [string, Engine]))('storage on %s', (_name, engine) => {
  let storage: Storage;
  beforeAll(() => engine.start());
  afterAll(() => engine.stop());
  beforeEach(async () => {
    storage = await engine.open();
  });
  afterEach(() => storage.close());

  test('migrating again changes nothing', async () => {
    await seed(storage);
    await storage.migrate();
    expect(await storage.catalog.upstreams.find('main')).not.toBeNull();
    await storage.ping();
  });

  test('every write increments the revision and announces it after the commit', async () => {
    const received: CatalogChange[] = [];
    const before = await storage.catalog.revision();
    storage.catalog.onChange((change) => received.push(change));
    const { revision } = await seed(storage);
    expect(revision).toBe(before + 1);
    expect(await storage.catalog.revision()).toBe(revision);
    expect(received).toMatchObject([{ revision, previous: before }]);
    expect(received[0]?.changes.find(({ section }) => section === 'upstreams')).toMatchObject({ name: 'main', before: null, after: { id: 'u1' } });
    expect((await storage.catalog.upstreams.find('main'))?.etag).toBe(revision);
  });

  test('loads the whole configuration, without values of keys', async () => {
    const { revision } = await seed(storage);
    const rows = await storage.catalog.load();
    expect(rows.revision).toBe(revision);
    expect(rows.upstreams).toEqual([{ id: 'u1', ...sampleUpstream() }]);
    expect(Object.keys(rows.upstreams[0]?.custom_headers ?? {})).toEqual(['x-zeta', 'x-alpha']);
    expect(rows.models).toEqual([{ ...sampleModel({ aliases: ['quick'] }), created_at: expect.any(Number) }]);
    expect(rows.key_groups).toEqual([sampleGroup()]);
    expect(rows.access_keys).toEqual([
      { name: 'ada', group: 'team', enabled: true, expires_at: Date.parse('2030-01-01T00:00:00Z'), hash: 'a'.repeat(64), id: 'a1' },
    ]);
  });

  test('a part that fails is undone, and the transaction goes on', async () => {
    await seed(storage);
    await storage.catalog.change(async (writer) => {
      const twice = writer.attempt(async () => {
        await writer.keyGroups.insert('g2', sampleGroup({ name: 'undone' }));
        await writer.accessKeys.insert('a2', sampleKey({ name: 'bob' }));
      });
      await expect(twice).rejects.toMatchObject({ code: 'conflict' });
      expect(await writer.keyGroups.find('undone')).toBeNull();
      await writer.attempt(() => writer.keyGroups.insert('g3', sampleGroup({ name: 'kept' })));
    });
    expect((await storage.catalog.keyGroups.list({ page: 1, pageSize: 9 })).items.map(({ document }) => document.name)).toEqual(['kept', 'team']);
  });

  test('records are committed with the change, and rejected records do not undo it', async () => {
    const record = (id: string, over: Partial<AuditRow> = {}): AuditRow => ({
      id,
      occurred_at: 1_700_000_000_000,
      actor: 'ada',
      action: 'create',
      entity_type: 'key_group',
      entity_id: id,
      diff: null,
      ip_address: null,
      request_id: null,
      ...over,
    });
    const make = (name: string, row: AuditRow, keep = true) =>
      storage.catalog.change((writer) => writer.keyGroups.insert(`id of ${name}`, sampleGroup({ name })), { keep: () => keep, records: () => [row] });
    expect(await make('one', record('one'))).toMatchObject({ changed: true, recorded: true });
    expect(await make('two', record('two', { action: null as never }))).toMatchObject({ changed: true, recorded: false });
    expect(await make('three', record('three'), false)).toMatchObject({ changed: false, recorded: false });
    await expect(make('one', record('again'))).rejects.toMatchObject({ code: 'conflict' });
    expect((await storage.catalog.keyGroups.list({ page: 1, pageSize: 9 })).items.map(({ document }) => document.name)).toEqual(['one', 'two']);
    const { items } = await storage.audit.listRows({ filters: { from: 0, to: 1_800_000_000_000 }, limit: 10 });
    expect(items).toEqual([record('one')]);
  });

  test('a failing transaction leaves nothing, not even a revision', async () => {
    const before = await storage.catalog.revision();
    const failing = storage.catalog.change(async (writer) => {
      await writer.upstreams.insert('u1', sampleUpstream());
      throw new Error('on purpose');
    });
    await expect(failing).rejects.toThrow('on purpose');
    expect(await storage.catalog.upstreams.find('main')).toBeNull();
    expect(await storage.catalog.revision()).toBe(before);
  });

  test('a dry run gives its result and leaves nothing', async () => {
    const work = async (writer: Parameters<Parameters<Storage['catalog']['change']>[0]>[0]) => (await writer.upstreams.insert('u1', sampleUpstream())).id;
    const outcome = await storage.catalog.change(work, { keep: () => false });
    expect(outcome).toMatchObject({ value: 'u1', changed: false });
    expect(await storage.catalog.upstreams.find('main')).toBeNull();
  });

  test('names and hashes are unique, and what is referred to stays', async () => {
    await seed(storage);
    const change = storage.catalog.change;
    await expect(change((writer) => writer.upstreams.insert('u2', sampleUpstream()))).rejects.toMatchObject({ code: 'conflict' });
    await expect(change((writer) => writer.accessKeys.insert('a2', sampleKey({ name: 'other' })))).rejects.toMatchObject({ code: 'conflict' });
    await expect(change((writer) => writer.upstreams.find('main').then((stored) => writer.upstreams.remove(stored!)))).rejects.toMatchObject({
      code: 'in_use',
    });
    await expect(change((writer) => writer.keyGroups.find('team').then((stored) => writer.keyGroups.remove(stored!)))).rejects.toMatchObject({
      code: 'in_use',
    });
    await expect(change((writer) => writer.models.insert('m2', sampleModel({ name: 'x', upstream: 'nobody' })))).rejects.toMatchObject({ code: 'in_use' });
  });

  test('canonical names and aliases share one space', async () => {
    await seed(storage);
    const change = storage.catalog.change;
    await expect(change((writer) => writer.models.insert('m2', sampleModel({ name: 'quick' })))).rejects.toMatchObject({ code: 'conflict' });
    await expect(change((writer) => writer.models.insert('m2', sampleModel({ name: 'two', aliases: ['fast'] })))).rejects.toMatchObject({ code: 'conflict' });
    expect(await storage.catalog.modelNames.findTaken(['quick', 'fast', 'free'])).toEqual(
      expect.arrayContaining([
        { name: 'quick', kind: 'alias', owner: 'model', of: 'fast' },
        { name: 'fast', kind: 'canonical', owner: 'model', of: 'fast' },
      ]),
    );
    expect(await storage.catalog.modelNames.findTaken(['quick'], 'm1')).toEqual([]);
    await change((writer) => writer.models.find('fast').then((stored) => writer.models.remove(stored!)));
    await change((writer) => writer.models.insert('m2', sampleModel({ name: 'quick', aliases: ['fast'] })));
    expect((await storage.catalog.models.find('quick'))?.id).toBe('m2');
  });

  test('two models exchange an alias in one transaction', async () => {
    await seed(storage);
    await storage.catalog.change((writer) => writer.models.insert('m2', sampleModel({ name: 'slow', aliases: ['calm'] })));
    await storage.catalog.change(async (writer) => {
      const [first, second] = [await writer.models.find('fast'), await writer.models.find('slow')];
      await writer.modelNames.release(['m1', 'm2']);
      await writer.models.update(first!, sampleModel({ aliases: ['calm'] }));
      await writer.models.update(second!, sampleModel({ name: 'slow', aliases: ['quick'] }));
    });
    expect(await storage.catalog.modelNames.findTaken(['calm', 'quick'])).toEqual(
      expect.arrayContaining([
        { name: 'calm', kind: 'alias', owner: 'model', of: 'fast' },
        { name: 'quick', kind: 'alias', owner: 'model', of: 'slow' },
      ]),
    );
  });

  test('lists page, sort and search literally', async () => {
    const names = ['b_1', 'b%1', 'B-2', 'a\\1', 'c'];
    await storage.catalog.change(async (writer) => {
      for (const name of names) await writer.keyGroups.insert(`id-${name}`, sampleGroup({ name }));
    });
    const list = storage.catalog.keyGroups.list;
    const all = await list({ page: 1, pageSize: 10 });
    expect(all.items.map(({ document }) => document.name)).toEqual(['B-2', 'a\\1', 'b%1', 'b_1', 'c']);
    const second = await list({ page: 2, pageSize: 2, sort: { column: 'name', descending: true } });
    expect(second).toMatchObject({ total: 5 });
    expect(second.items.map(({ document }) => document.name)).toEqual(['b%1', 'a\\1']);
    const found = async (search: string) => (await list({ page: 1, pageSize: 10, search })).items.map(({ document }) => document.name);
    expect(await found('%')).toEqual(['b%1']);
    expect(await found('_')).toEqual(['b_1']);
    expect(await found('\\')).toEqual(['a\\1']);
    expect(await found('b')).toEqual(['B-2', 'b%1', 'b_1']);
    expect(await found("' or 1=1 --")).toEqual([]);
  });

  test('a search finds a text as it is written, whatever letters it has; ASCII ones in either case', async () => {
    const names = ['ÉCLAIR', 'Жар', 'İstanbul', '模型'];
    await storage.catalog.change(async (writer) => {
      for (const name of names) await writer.keyGroups.insert(`id-${name}`, sampleGroup({ name }));
    });
    const found = async (search: string) =>
      (await storage.catalog.keyGroups.list({ page: 1, pageSize: 10, search })).items.map(({ document }) => document.name);
    for (const name of names) expect(await found(name)).toEqual([name]);
    expect([await found('Éclair'), await found('ISTANBUL'.slice(1))]).toEqual([['ÉCLAIR'], ['İstanbul']]);
  });

  test('writers at the same time follow one another', async () => {
    const before = await storage.catalog.revision();
    const outcomes = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        storage.catalog.change((writer) => writer.keyGroups.insert(`g${index}`, sampleGroup({ name: `group-${index}` }))),
      ),
    );
    expect(new Set(outcomes.map(({ revision }) => revision)).size).toBe(12);
    expect(await storage.catalog.revision()).toBe(before + 12);
  });

  test('a row comes back as it went in', async () => {
    const row = sampleRow({ client_request_id: 'mine', cost_micros: 12_345_678_901, currency: 'EUR', losses: [] });
    await storage.requests.insertRows([row]);
    expect((await storage.requests.listRows({ filters: {}, limit: 10 })).items).toEqual([row]);
  });

  test('a higher authority replaces, an equal or lower one does not, in one batch or in several', async () => {
    const stored = async () => (await storage.requests.listRows({ filters: {}, limit: 10 })).items.map(({ id, status, authority }) => [id, status, authority]);
    await storage.requests.insertRows([sampleRow({ status: 502 }), sampleRow({ authority: 2, status: 200 }), sampleRow({ status: 503 })]);
    expect(await stored()).toEqual([['r1', 200, 2]]);
    await storage.requests.insertRows([sampleRow({ status: 500 })]);
    await storage.requests.insertRows([sampleRow({ authority: 2, status: 201 })]);
    expect(await stored()).toEqual([['r1', 200, 2]]);
    await storage.requests.insertRows([sampleRow({ id: 'r2', status: 502 })]);
    await storage.requests.insertRows([sampleRow({ id: 'r2', authority: 2, status: 200, output_tokens: 7 })]);
    expect(await stored()).toEqual([
      ['r2', 200, 2],
      ['r1', 200, 2],
    ]);
  });

  test('no text that a caller can send stops a batch', async () => {
    const hostile = sampleRow({ requested_model: `a\0b\ud800${'x'.repeat(10_000)}`, user_agent: "'; drop table request_stats; --", duration_ms: 12.6 });
    hostile.attempts = [{ upstream: 'nul \0 and \udfff', key_index: 0, status: null, error_code: null, duration_ms: 1.5 }];
    await storage.requests.insertRows([hostile]);
    const [row] = (await storage.requests.listRows({ filters: {}, limit: 10 })).items as [RequestRow];
    expect(row.requested_model).toHaveLength(2048);
    expect(row.requested_model?.startsWith('a\u{fffd}b\u{fffd}x')).toBe(true);
    expect(row.user_agent).toBe(hostile.user_agent);
    expect(row.duration_ms).toBe(13);
  });

  test('more rows than one statement holds', async () => {
    const rows = Array.from({ length: 1_700 }, (_, index) => sampleRow({ id: `r${index}`, started_at: 1_700_000_000_000 + index }));
    await storage.requests.insertRows(rows);
    await storage.requests.insertRows(rows);
    let count = 0;
    let cursor: string | undefined;
    let last = Number.POSITIVE_INFINITY;
    do {
      const page = await storage.requests.listRows({ filters: {}, limit: 500, ...(cursor !== undefined && { cursor }) });
      for (const { started_at } of page.items) {
        expect(started_at).toBeLessThan(last);
        last = started_at;
      }
      count += page.items.length;
      cursor = page.nextCursor ?? undefined;
    } while (cursor);
    expect(count).toBe(1_700);
  });

  test('every filter', async () => {
    const other = {
      id: 'r2',
      client_request_id: 'theirs',
      access_key: 'bob',
      key_group: 'crew',
      model: 'slow',
      upstream: 'spare',
      status: 429,
      error_code: 'rate_limited',
      stream: false,
      started_at: 1_700_000_001_000,
    };
    await storage.requests.insertRows([sampleRow(), sampleRow(other)]);
    const ids = async (filters: Parameters<typeof storage.requests.listRows>[0]['filters']) =>
      (await storage.requests.listRows({ filters, limit: 10 })).items.map(({ id }) => id);
    expect(await ids({ requestId: 'r1' })).toEqual(['r1']);
    expect(await ids({ requestId: 'theirs' })).toEqual(['r2']);
    expect(await ids({ accessKey: 'bob' })).toEqual(['r2']);
    expect(await ids({ keyGroup: 'crew' })).toEqual(['r2']);
    expect(await ids({ model: 'fast' })).toEqual(['r1']);
    expect(await ids({ upstream: 'spare' })).toEqual(['r2']);
    expect(await ids({ status: 429 })).toEqual(['r2']);
    expect(await ids({ errorCode: 'rate_limited' })).toEqual(['r2']);
    expect(await ids({ stream: true })).toEqual(['r1']);
    expect(await ids({ stream: false })).toEqual(['r2']);
    expect(await ids({ from: 1_700_000_001_000 })).toEqual(['r2']);
    expect(await ids({ to: 1_700_000_001_000 })).toEqual(['r1']);
    expect(await ids({ stream: true, status: 429 })).toEqual([]);
  });

  test('free search of rows is for a literal text, in every column that names something', async () => {
    await storage.requests.insertRows([
      sampleRow({ id: 'named', started_at: 3, user_agent: 'Agent/100% [x]_' }),
      sampleRow({ id: 'other', started_at: 2, user_agent: null, session_id: 'Session-9' }),
      sampleRow({ id: 'third', started_at: 1, user_agent: null, session_id: null, client_request_id: null }),
    ]);
    const ids = async (search: string) => (await storage.requests.listRows({ filters: { search, from: 0, to: 10 }, limit: 9 })).items.map(({ id }) => id);
    expect(await ids('100%')).toEqual(['named']);
    expect(await ids('X]_')).toEqual(['named']);
    expect(await ids('session-9')).toEqual(['other']);
    expect(await ids('thir')).toEqual(['third']);
    expect(await ids("' or 1=1 --")).toEqual([]);
  });

  test('rows of one millisecond page without gaps', async () => {
    await storage.requests.insertRows(Array.from({ length: 9 }, (_, index) => sampleRow({ id: `same-${index}` })));
    const first = await storage.requests.listRows({ filters: {}, limit: 4 });
    const second = await storage.requests.listRows({ filters: {}, limit: 4, cursor: first.nextCursor! });
    const third = await storage.requests.listRows({ filters: {}, limit: 4, cursor: second.nextCursor! });
    expect([...first.items, ...second.items, ...third.items].map(({ id }) => id)).toEqual(Array.from({ length: 9 }, (_, index) => `same-${8 - index}`));
    expect(third.nextCursor).toBeNull();
    await expect(storage.requests.listRows({ filters: {}, limit: 4, cursor: 'nonsense' })).rejects.toMatchObject({
      code: 'validation_failed',
      param: 'cursor',
    });
  });
});
