/** Load balancers and their pins through the console's API: one space of names, references both ways, export and import. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Storage } from '@model-gateway/storage';
import { type Engine, engines } from '../../../packages/storage/test/engines.ts';
import { type Answer, api, type Harness, seed, startConsole } from './harness.ts';

const fields = (answer: Answer): string[] => (answer.body?.error?.details ?? []).map(({ field }: { field: string }) => field);
const path = `${api}/load-balancers`;

describe.each(engines().map((engine) => [engine.name, engine] as [string, Engine]))('load balancers on %s', (_name, engine) => {
  let storage: Storage;
  let harness: Harness;
  let call: Harness['call'];
  beforeAll(() => engine.start());
  afterAll(() => engine.stop());
  beforeEach(async () => {
    storage = await engine.open();
    harness = await startConsole(storage);
    call = harness.call;
    await seed(harness);
    await call('POST', `${api}/models`, { name: 'slow', upstream: 'main', upstream_model_id: 's', hide_name: true });
  });
  afterEach(async () => {
    await harness.close();
    await storage.close();
  });
  const create = (body: object) => call('POST', path, { name: 'pool', aliases: ['any'], entries: [{ model: 'fast', weight: 3 }, { model: 'slow' }], ...body });

  test('create, read, change and delete; defaults are filled', async () => {
    const made = await create({});
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({
      name: 'pool',
      aliases: ['any'],
      enabled: true,
      strategy: 'weighted',
      static_binding: false,
      entries: [
        { model: 'fast', weight: 3, enabled: true },
        { model: 'slow', weight: 1, enabled: true },
      ],
    });
    expect((await call('GET', `${path}/pool`)).body).toEqual(made.body);
    expect((await call('GET', path)).body).toMatchObject({ total: 1, items: [{ name: 'pool' }] });
    const changed = await call('PATCH', `${path}/pool`, { strategy: 'priority', static_binding: true });
    expect(changed.body).toMatchObject({ strategy: 'priority', static_binding: true, entries: made.body.entries });
    expect((await call('PATCH', `${path}/pool`, { enabled: false }, { 'if-match': '"1"' })).status).toBe(412);
    expect((await storage.catalog.load()).load_balancers).toMatchObject([{ name: 'pool', strategy: 'priority' }]);
    expect((await call('DELETE', `${path}/pool`)).status).toBe(204);
    expect((await call('GET', `${path}/pool`)).status).toBe(404);
  });

  test('each change of static_binding is recorded as one, by whatever way it was made', async () => {
    const made = await create({});
    const from = new Date(Date.now() - 60_000).toISOString();
    const records = async () => (await call('GET', `${api}/audit-logs?from=${from}&entity_type=lb_static_binding`)).body.items;
    const record = (before: boolean) => ({ action: 'update', entity_id: 'pool', actor: 'secret_key', diff: { static_binding: { before, after: !before } } });
    expect(await records()).toEqual([]);
    await call('PATCH', `${path}/pool`, { static_binding: true, strategy: 'priority' });
    expect(await records()).toMatchObject([record(false)]);
    const file = (await call('GET', `${api}/export?format=json`)).body;
    await call('PUT', `${path}/pool`, { ...made.body, etag: undefined });
    const update = { action: 'update', resource: 'load-balancers', name: 'pool' };
    await call('POST', `${api}/batch`, { entries: [{ ...update, body: { static_binding: true } }] });
    await call('POST', `${api}/batch`, { entries: [{ ...update, body: { static_binding: false } }] });
    expect((await call('POST', `${api}/import?dry_run=true`, file)).status).toBe(200);
    await call('POST', `${api}/import`, file);
    const [{ revision }] = (await call('GET', `${api}/history?limit=1`)).body.items;
    expect((await call('POST', `${api}/history/${revision - 1}/rollback`)).status).toBe(200);
    expect(await records()).toMatchObject([true, false, true, false, true, false].map(record));
    await call('PATCH', `${path}/pool`, { strategy: 'weighted', static_binding: false });
    await call('DELETE', `${path}/pool`);
    expect(await records()).toHaveLength(6);
    expect((await call('GET', `${api}/audit-logs?from=${from}&entity_type=load_balancer&action=update`)).body.items[0].diff).toHaveProperty('strategy');
  });

  test('names and aliases are one space with those of models', async () => {
    for (const [body, field] of [
      [{ name: 'fast' }, 'name'],
      [{ name: 'quick' }, 'name'],
      [{ aliases: ['x', 'quick'] }, 'aliases.1'],
      [{ aliases: ['slow'] }, 'aliases.0'],
    ] as const) {
      const answer = await create(body);
      expect([answer.status, fields(answer)]).toEqual([409, [field]]);
    }
    expect((await create({})).status).toBe(201);
    for (const [body, field] of [
      [{ name: 'pool' }, 'name'],
      [{ name: 'm', aliases: ['any'] }, 'aliases.0'],
    ] as const) {
      const answer = await call('POST', `${api}/models`, { upstream: 'main', upstream_model_id: 'x', ...body });
      expect([answer.status, fields(answer)]).toEqual([409, [field]]);
    }
    expect((await create({ name: 'other' })).status).toBe(409);
    await call('DELETE', `${path}/pool`);
    expect((await call('POST', `${api}/models`, { name: 'any', upstream: 'main', upstream_model_id: 'x' })).status).toBe(201);
  });

  test.each([
    ['an unknown model', { entries: [{ model: 'fast' }, { model: 'nobody' }] }, 'entries.1.model'],
    ['an alias', { entries: [{ model: 'quick' }] }, 'entries.0.model'],
    ['a model twice', { entries: [{ model: 'fast' }, { model: 'fast' }] }, 'entries.1.model'],
    ['a negative weight', { entries: [{ model: 'fast', weight: -1 }] }, 'entries.0.weight'],
    ['an unknown strategy', { strategy: 'random' }, 'strategy'],
    ['an unknown field', { sticky: true }, 'sticky'],
    ['an alias twice', { aliases: ['x', 'x'] }, 'aliases.1'],
    ['an alias that is its name', { aliases: ['pool'] }, 'aliases.0'],
    ['a name with a star', { name: 'po*ol' }, 'name'],
  ])('422 for %s', async (_what, body, field) => {
    const answer = await create(body);
    expect([answer.status, fields(answer)]).toEqual([422, [field]]);
  });

  test('a load balancer is no entry of another', async () => {
    await create({});
    const answer = await create({ name: 'outer', aliases: [], entries: [{ model: 'pool' }] });
    expect([answer.status, fields(answer)]).toEqual([422, ['entries.0.model']]);
    expect(answer.text).toContain('is a load balancer');
  });

  test('a model that a load balancer or a pin names cannot be deleted', async () => {
    await create({});
    const refused = await call('DELETE', `${api}/models/slow`);
    expect([refused.status, refused.body.error.details]).toEqual([422, [{ field: 'load_balancers', message: 'pool' }]]);
    await call('PUT', `${path}/pool/pins/ada`, { entry: 'slow' });
    await call('PATCH', `${api}/models/fast`, { request_body_rules: [{ mode: 'switch-route', when: [{ path: 'a' }], use_model: 'slow' }] });
    const whole = await call('DELETE', `${api}/models/slow`);
    const all = [
      { field: 'load_balancers', message: 'pool' },
      { field: 'pins', message: 'pool/ada' },
      { field: 'models', message: 'fast' },
    ];
    expect([whole.status, whole.body.error.code, whole.body.error.details]).toEqual([422, 'in_use', all]);
    for (const { message } of all) expect(whole.body.error.message).toContain(message);
    await call('PATCH', `${api}/models/fast`, { request_body_rules: [] });
    await call('DELETE', `${path}/pool/pins/ada`);
    await call('PATCH', `${path}/pool`, { entries: [{ model: 'fast' }] });
    expect((await call('DELETE', `${api}/models/slow`)).status).toBe(204);
  });

  test('pins: put, read, list, delete; each reference is checked', async () => {
    await create({});
    const pins = `${path}/pool/pins`;
    expect((await call('PUT', `${pins}/ada`, { entry: 'slow' })).body).toEqual({ access_key: 'ada', entry: 'slow' });
    expect((await call('PUT', pins, { access_key: 'ada', entry: 'fast' })).status).toBe(200);
    expect((await call('GET', `${pins}/ada`)).body).toEqual({ access_key: 'ada', entry: 'fast' });
    expect((await call('PUT', `${pins}/ada`, (await call('GET', `${pins}/ada`)).body)).status).toBe(200);
    expect((await call('GET', pins)).body).toEqual({ items: [{ access_key: 'ada', entry: 'fast' }], total: 1, page: 1, page_size: 50 });
    await call('POST', `${api}/access-keys`, { name: 'bob', group: 'team' });
    await call('PUT', `${pins}/bob`, { entry: 'slow' });
    const listed = async (query: string) => (await call('GET', `${pins}?${query}`)).body.items.map((one: { access_key: string }) => one.access_key);
    expect(await listed('page=1&page_size=50&q=&sort=')).toEqual(['ada', 'bob']);
    expect([await listed('sort=-entry'), await listed('sort=-access_key')]).toEqual([
      ['bob', 'ada'],
      ['bob', 'ada'],
    ]);
    expect([await listed('q=BO'), await listed('q=fas'), await listed('q=%25')]).toEqual([['bob'], ['ada'], []]);
    expect((await call('GET', `${pins}?q=bo&page_size=1`)).body.total).toBe(1);
    expect(fields(await call('GET', `${pins}?sort=name`))).toEqual(['sort']);
    await call('DELETE', `${api}/access-keys/bob`);
    expect((await storage.catalog.load()).load_balancer_pins).toEqual([{ load_balancer: 'pool', access_key: 'ada', entry: 'fast' }]);
    for (const [where, body, status, field] of [
      [`${pins}/nobody`, { entry: 'fast' }, 422, 'access_key'],
      [`${pins}/ada`, { entry: 'quick' }, 422, 'entry'],
      [`${pins}/ada`, {}, 422, 'entry'],
      [`${pins}/ada`, { access_key: 'bob', entry: 'fast' }, 422, 'access_key'],
      [`${path}/none/pins/ada`, { entry: 'fast' }, 404, undefined],
    ] as const) {
      const answer = await call('PUT', where, body);
      expect([answer.status, fields(answer)[0]]).toEqual([status, field]);
    }
    const lost = await call('PATCH', `${path}/pool`, { entries: [{ model: 'slow' }] });
    expect([lost.status, lost.body.error.code, lost.body.error.details]).toEqual([422, 'in_use', [{ field: 'entries', message: 'fast is pinned by ada' }]]);
    expect((await call('DELETE', `${pins}/ada`)).status).toBe(204);
    expect((await call('DELETE', `${pins}/ada`)).status).toBe(404);
    expect((await call('GET', `${pins}/ada`)).status).toBe(404);
    const posted = await call('POST', pins, { access_key: 'ada', entry: 'slow' });
    expect([posted.status, posted.body]).toEqual([201, { access_key: 'ada', entry: 'slow' }]);
    const again = await call('POST', pins, { access_key: 'ada', entry: 'fast' });
    expect([again.status, fields(again), (await call('GET', `${pins}/ada`)).body.entry]).toEqual([409, ['access_key'], 'slow']);
  });

  test('pins go with their load balancer and with their access key', async () => {
    await create({});
    await call('PUT', `${path}/pool/pins/ada`, { entry: 'slow' });
    expect((await call('DELETE', `${api}/access-keys/ada`)).status).toBe(204);
    expect((await storage.catalog.load()).load_balancer_pins).toEqual([]);
    await call('POST', `${api}/access-keys`, { name: 'bob', group: 'team' });
    await call('PUT', `${path}/pool/pins/bob`, { entry: 'slow' });
    expect((await call('DELETE', `${path}/pool`)).status).toBe(204);
    expect((await storage.catalog.load()).load_balancer_pins).toEqual([]);
  });

  test('export and import carry both, and names may be exchanged between models and load balancers', async () => {
    await create({});
    await call('PUT', `${path}/pool/pins/ada`, { entry: 'slow' });
    const file = (await call('GET', `${api}/export?format=json`)).body;
    expect(file.load_balancer_pins).toEqual([{ load_balancer: 'pool', access_key: 'ada', entry: 'slow' }]);
    const again = await call('POST', `${api}/import`, file);
    expect(again.body.unchanged).toMatchObject({ load_balancers: ['pool'], load_balancer_pins: ['pool/ada'] });
    file.models[0].aliases = ['any'];
    file.load_balancers[0].aliases = ['quick'];
    const swapped = await call('POST', `${api}/import`, file);
    expect(swapped.status).toBe(200);
    expect(swapped.body.updated).toMatchObject({ models: ['fast'], load_balancers: ['pool'] });
    expect((await create({ name: 'other', aliases: ['quick'] })).status).toBe(409);
    const wrong = await call('POST', `${api}/import`, { load_balancer_pins: [{ load_balancer: 'pool', access_key: 'ada', entry: 'nobody' }] });
    expect([wrong.status, fields(wrong)]).toEqual([422, ['load_balancer_pins.0.entry']]);
  });
});
