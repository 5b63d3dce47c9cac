import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { GatewayError } from '@model-gateway/contracts/errors';
import { openStorage, type Storage } from '@model-gateway/storage';
import { silent } from '../../../packages/storage/test/engines.ts';
import { rollBack } from '../src/history/rollback.ts';
import { type Answer, api, type FreshHarness, type Harness, seed, startConsole, startFreshConsole } from './harness.ts';

const from = encodeURIComponent('2020-01-01T00:00:00Z');
let storage: Storage;
let harness: FreshHarness;
let call: Harness['call'];
beforeEach(async () => {
  harness = await startFreshConsole();
  ({ storage, call } = harness);
});
afterEach(() => harness.close());

const ok = (answer: Answer, status = 200): Answer => {
  if (answer.status !== status) throw new Error(`${answer.status}: ${answer.text}`);
  return answer;
};
const audit = async (query = '') => ok(await call('GET', `${api}/audit-logs?from=${from}${query}`)).body.items;
const exported = async () => ok(await call('GET', `${api}/export`)).body;
/** The configuration without the seals, which differ from print to print. */
const plain = async () => JSON.parse(JSON.stringify(await exported(), (name, value) => (name === 'key' ? undefined : value)));
const revision = async (): Promise<number> => (await call('GET', `${api}/history?limit=1`)).body.revision;

describe('audit log', () => {
  test('every change has its record, newest first, with the caller and masks only', async () => {
    await seed(harness);
    const headers = { 'z-request-id': 'theirs-7' };
    ok(
      await call(
        'PATCH',
        `${api}/upstreams/main`,
        { enabled: false, custom_headers: { 'x-auth': 'canary-header' }, api_keys: [{ key: 'canary-new-key' }] },
        headers,
      ),
    );
    ok(await call('POST', `${api}/access-keys/ada/rotate`));
    ok(await call('GET', `${api}/access-keys/ada/api-key`));
    ok(await call('DELETE', `${api}/models/fast`), 204);
    const items = await audit();
    expect(items.map((item: { action: string; entity_type: string; entity_id: string }) => [item.action, item.entity_type, item.entity_id])).toEqual([
      ['delete', 'model', 'fast'],
      ['reveal', 'access_key', 'ada'],
      ['rotate', 'access_key', 'ada'],
      ['update', 'upstream', 'main'],
      ['create', 'access_key', 'ada'],
      ['create', 'key_group', 'team'],
      ['create', 'model', 'fast'],
      ['create', 'upstream', 'main'],
    ]);
    const [, , rotate, update] = items;
    expect(update).toMatchObject({
      actor: 'secret_key',
      ip_address: expect.stringContaining('127.0.0.1'),
      request_id: 'theirs-7',
      occurred_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      diff: {
        enabled: { before: true, after: false },
        custom_headers: { before: {}, after: { 'x-auth': '********' }, secret_changed: true },
        api_keys: { after: [expect.objectContaining({ key: '********' })], secret_changed: true },
      },
    });
    expect(rotate.diff.key.before).toMatch(/^gk-.\*+.{4}$/);
    expect(JSON.stringify(items)).not.toMatch(/canary|sealed/);
  });

  test('of header rules, what headers that carry a credential are compared with alone is a secret', async () => {
    await seed(harness);
    const secret = (value: string) => ({ header: 'Authorization', match: 'equals', value, action: 'allow' });
    const plainRule = { header: 'x-team', match: 'equals', value: 'red', action: 'deny' };
    const diffOf = async (header_acl: unknown) => {
      ok(await call('PATCH', `${api}/key-groups/team`, { header_acl }));
      return (await audit())[0].diff.header_acl;
    };
    await diffOf([secret('canary-one')]);
    expect(await diffOf([plainRule, secret('canary-one')])).toEqual({ before: [secret('********')], after: [plainRule, secret('********')] });
    expect(await diffOf([plainRule, secret('canary-two')])).toMatchObject({ after: [plainRule, secret('********')], secret_changed: true });
  });

  test('a range is read in UTC, a page has the size it was asked for by either of its names', async () => {
    await seed(harness);
    for (const [from, first] of [
      ['2026-03-01', '2026-03-01T00:00:00.000Z'],
      ['2026-03-01T01:30:00', '2026-03-01T01:30:00.000Z'],
      ['2026-03-01T01:30:00.123456+02:00', '2026-02-28T23:30:00.123Z'],
      ['1772323200000', '2026-03-01T00:00:00.000Z'],
    ] as const) {
      for (const text of [encodeURIComponent(from), from]) {
        const { body } = await call('GET', `${api}/stats/top?by=session&from=${text}&to=2026-04-01`);
        expect([text, new Date(body.from).toISOString()]).toEqual([text, first]);
      }
    }
    for (const text of ['2026-02-30', '2026-03-01T25:00:00', 'yesterday'])
      expect([text, (await call('GET', `${api}/audit-logs?from=${text}`)).body.error?.details[0].field]).toEqual([text, 'from']);
    // What a form left empty is left out.
    expect((await audit('&actor=&action=&entity_type=&to=&q=')).length).toBe((await audit()).length);
    expect((await call('GET', `${api}/logs?request_id=&model=&from=`)).status).toBe(200);
    for (const path of ['audit-logs', 'history', 'logs']) {
      for (const name of ['limit', 'page_size']) {
        const { status, body } = await call('GET', `${api}/${path}?${name}=1`);
        expect([path, name, status, body.items.length]).toEqual([path, name, 200, path === 'logs' ? 0 : 1]);
        expect((await call('GET', `${api}/${path}?${name}=0`)).body.error.details[0].field).toBe(name);
      }
    }
  });

  test('filters, cursor, window; reading leaves no record', async () => {
    await seed(harness);
    expect(await audit('&action=create&entity_type=model,upstream')).toHaveLength(2);
    expect(await audit('&actor=CRET_')).toHaveLength(4);
    expect(await audit('&actor=%25')).toHaveLength(0);
    expect(await audit('&entity_id=team')).toHaveLength(1);
    const first = (await call('GET', `${api}/audit-logs?limit=3`)).body;
    const second = (await call('GET', `${api}/audit-logs?limit=3&cursor=${first.next_cursor}`)).body;
    expect([...first.items, ...second.items].map(({ entity_id }: { entity_id: string }) => entity_id)).toEqual(['ada', 'team', 'fast', 'main']);
    expect(second.next_cursor).toBeNull();
    expect((await call('GET', `${api}/audit-logs?q=ada`)).body.items).toHaveLength(1);
    for (const [query, field] of [
      ['q=ada&from=2020-01-01T00:00:00Z', 'q'],
      ['action=destroy', 'action'],
      ['entity_type=planet', 'entity_type'],
      ['from=2&to=1', 'from'],
      ['limit=0', 'limit'],
      ['cursor=nonsense', 'cursor'],
    ]) {
      const answer = await call('GET', `${api}/audit-logs?${query}`);
      expect([answer.status, answer.body.error.details[0].field]).toEqual([422, field]);
    }
    expect(await audit()).toHaveLength(4);
  });

  test('what changes nothing leaves no trace', async () => {
    await seed(harness);
    const before = await revision();
    const same = ok(await call('PUT', `${api}/models/fast`, { aliases: ['quick'] }));
    expect(same.headers.get('etag')).toBe((await call('GET', `${api}/models/fast`)).headers.get('etag'));
    expect(await revision()).toBe(before);
    expect(await audit('&action=update')).toEqual([]);
  });

  test('a change is kept when its audit record cannot be stored', async () => {
    const { bus } = harness;
    const { publishDurable } = bus;
    const { change } = storage.catalog;
    bus.publishDurable = () => Promise.reject(new Error('full'));
    // As when the database refuses the records.
    storage.catalog.change = async (work, options) => ({ ...(await change(work, options)), recorded: false });
    expect((await call('POST', `${api}/key-groups`, { name: 'kept' })).status).toBe(201);
    bus.publishDurable = publishDurable;
    storage.catalog.change = change;
    expect((await call('GET', `${api}/key-groups/kept`)).status).toBe(200);
    expect(harness.seen.join('')).toContain('audit record could not be published');
  });

  test('the record of a change needs nobody but the database', async () => {
    const { bus } = harness;
    const { publishDurable } = bus;
    bus.publishDurable = () => Promise.reject(new Error('told'));
    expect((await call('POST', `${api}/key-groups`, { name: 'recorded' })).status).toBe(201);
    bus.publishDurable = publishDurable;
    expect(await audit('&entity_id=recorded')).toMatchObject([{ action: 'create', entity_type: 'key_group', actor: 'secret_key' }]);
  });
});

describe('history', () => {
  test('each commit is a revision with its author and what it changed', async () => {
    await seed(harness);
    ok(await call('PATCH', `${api}/models/fast`, { enabled: false, aliases: ['brisk'] }));
    const page = (await call('GET', `${api}/history?limit=2`)).body;
    expect(page.items[0]).toMatchObject({
      actor: 'secret_key',
      action: 'update',
      entity_type: 'model',
      entity_id: 'fast',
      changes: 1,
      revision: page.revision,
    });
    expect((await call('GET', `${api}/history?limit=50&cursor=${page.next_cursor}`)).body.items).toHaveLength(3);
    const one = (await call('GET', `${api}/history/${page.revision}`)).body;
    expect(one.changes).toEqual([
      {
        section: 'models',
        name: 'fast',
        change: 'updated',
        fields: { enabled: { before: true, after: false }, aliases: { before: ['quick'], after: ['brisk'] } },
      },
    ]);
    const back = (await call('GET', `${api}/history/${page.revision - 1}/diff?against=current`)).body;
    expect(back.changes[0].fields.enabled).toEqual({ before: false, after: true });
    expect((await call('GET', `${api}/history/1/diff?against=current`)).body.changes.map(({ change }: { change: string }) => change)).toEqual(
      Array(4).fill('deleted'),
    );
    for (const path of ['999', 'x', '0', '999/diff', '3/diff?against=999']) expect((await call('GET', `${api}/history/${path}`)).status).toBe(404);
  });

  test('rollback brings everything back, secrets and names included, as one more commit', async () => {
    const { key } = await seed(harness);
    ok(await call('POST', `${api}/models`, { name: 'slow', upstream: 'main', upstream_model_id: 'vendor-slow' }), 201);
    ok(await call('POST', `${api}/load-balancers`, { name: 'both', entries: [{ model: 'fast' }, { model: 'slow' }] }), 201);
    ok(await call('PUT', `${api}/load-balancers/both/pins`, { access_key: 'ada', entry: 'slow' }));
    ok(await call('POST', `${api}/pricing`, { model: 'fast', input: '1', output: '2' }), 201);
    const target = await revision();
    const before = await plain();
    const ids = { upstream: (await call('GET', `${api}/upstreams/main`)).body.id, balancer: (await call('GET', `${api}/load-balancers/both`)).body.id };

    // Everything goes; some of it comes back under the same names and other ids, with other secrets.
    ok(await call('DELETE', `${api}/load-balancers/both`), 204);
    for (const name of ['fast', 'slow']) ok(await call('DELETE', `${api}/models/${name}`), 204);
    ok(await call('DELETE', `${api}/upstreams/main`), 204);
    ok(await call('DELETE', `${api}/access-keys/ada`), 204);
    ok(await call('DELETE', `${api}/pricing/fast`), 204);
    ok(
      await call('POST', `${api}/upstreams`, { name: 'main', protocol: 'beta', base_url: 'https://other.example.com', api_keys: [{ key: 'canary-other' }] }),
      201,
    );
    ok(await call('POST', `${api}/models`, { name: 'quick', upstream: 'main', upstream_model_id: 'x', aliases: ['fast', 'slow'] }), 201);
    ok(await call('POST', `${api}/load-balancers`, { name: 'both', entries: [{ model: 'quick' }] }), 201);
    ok(await call('POST', `${api}/access-keys`, { name: 'bob', group: 'team', key }), 201);
    ok(await call('PUT', `${api}/load-balancers/both/pins`, { access_key: 'bob', entry: 'quick' }));

    const rehearsal = ok(await call('POST', `${api}/history/${target}/rollback?dry_run=true`)).body;
    expect(rehearsal).toMatchObject({ dry_run: true, revision: null, rolled_back_to: target });
    expect(rehearsal.changes.find(({ name }: { name: string }) => name === 'bob').change).toBe('deleted');
    expect(await plain()).not.toEqual(before);

    const done = ok(await call('POST', `${api}/history/${target}/rollback`)).body;
    expect(done.total_changes).toBe(rehearsal.total_changes);
    expect(await plain()).toEqual(before);
    expect((await call('GET', `${api}/upstreams/main`)).body.id).toBe(ids.upstream);
    expect((await call('GET', `${api}/load-balancers/both`)).body.id).toBe(ids.balancer);
    expect((await call('GET', `${api}/access-keys/ada/api-key`)).body.api_key).toBe(key);
    // Its sealed keys open again: an export opens and seals each of them anew.
    expect((await exported()).upstreams[0].api_keys).toHaveLength(2);
    expect((await call('POST', `${api}/models`, { name: 'quick', upstream: 'main', upstream_model_id: 'x' })).status).toBe(409);
    expect(await audit('&action=rollback')).toMatchObject([{ entity_type: 'config', entity_id: String(target) }]);

    // The way back from the way back.
    ok(await call('POST', `${api}/history/${done.revision - 1}/rollback`));
    expect((await call('GET', `${api}/access-keys/bob/api-key`)).body.api_key).toBe(key);
    expect(JSON.stringify(await call('GET', `${api}/history/${done.revision}`))).not.toMatch(/canary|sealed/);
  });

  test('keys that exchanged their values since have their own again', async () => {
    const { key } = await seed(harness);
    const other = ok(await call('POST', `${api}/access-keys`, { name: 'bob', group: 'team' }), 201).body.key;
    const target = await revision();
    const give = async (name: string, value: string) => ok(await call('POST', `${api}/import`, { access_keys: [{ name, group: 'team', key: value }] }));
    await give('ada', 'a-third-value-of-its-own');
    await give('bob', key);
    await give('ada', other);
    ok(await call('POST', `${api}/history/${target}/rollback`));
    expect((await call('GET', `${api}/access-keys/ada/api-key`)).body.api_key).toBe(key);
    expect((await call('GET', `${api}/access-keys/bob/api-key`)).body.api_key).toBe(other);
  });

  test('all conflicts are listed, and nothing is changed', async () => {
    await seed(harness);
    const target = await revision();
    const before = await exported();
    for (const name of ['one', 'two', 'three']) ok(await call('POST', `${api}/key-groups`, { name }), 201);
    ok(await call('PATCH', `${api}/upstreams/main`, { enabled: false }));
    const now = await revision();
    // What the tables themselves would refuse: no way of the API leads there.
    const refused = new Set(['one', 'three']);
    const problem = await storage.catalog
      .change((writer) =>
        rollBack(
          {
            ...writer,
            keyGroups: {
              ...writer.keyGroups,
              remove: (stored) =>
                refused.has(stored.document.name) ? Promise.reject(new GatewayError('in_use', { message: 'It is used.' })) : writer.keyGroups.remove(stored),
            },
          },
          target,
          { missingKey: () => null },
        ),
      )
      .catch((error: unknown) => error);
    expect(problem).toMatchObject({
      status: 409,
      details: [
        { field: 'key_groups.one', message: 'It is used.' },
        { field: 'key_groups.three', message: 'It is used.' },
      ],
    });
    expect(await revision()).toBe(now);
    expect((await call('GET', `${api}/key-groups`)).body.total).toBe(4);
    ok(await call('POST', `${api}/history/${target}/rollback`));
    expect((await exported()).key_groups).toEqual(before.key_groups);
  });

  test('nothing to put back is no commit; what is out of reach is refused', async () => {
    await seed(harness);
    const now = await revision();
    expect(ok(await call('POST', `${api}/history/${now}/rollback`)).body).toMatchObject({ revision: null, total_changes: 0 });
    expect((await call('POST', `${api}/history/${now + 1}/rollback`)).status).toBe(404);
    expect(await revision()).toBe(now);
  });

  test('only so many revisions are remembered', async () => {
    const small = openStorage({ mode: 'sqlite', file: ':memory:' }, { logger: silent, historyRevisions: 3 });
    const other = await startConsole(small);
    for (let index = 0; index < 5; index++) await other.call('POST', `${api}/key-groups`, { name: `g${index}` });
    expect((await other.call('GET', `${api}/history`)).body.items.map(({ revision }: { revision: number }) => revision)).toEqual([6, 5, 4]);
    expect((await other.call('POST', `${api}/history/2/rollback`)).status).toBe(404);
    expect((await other.call('POST', `${api}/history/3/rollback`)).status).toBe(200);
    expect((await other.call('GET', `${api}/key-groups`)).body.total).toBe(2);
    await other.close();
    await small.close();
  });
});

describe('batch', () => {
  const edits = [
    {
      action: 'create',
      resource: 'upstreams',
      body: { name: 'spare', protocol: 'beta', base_url: 'https://spare.example.com', api_keys: [{ key: 'canary-spare' }] },
    },
    { action: 'create', resource: 'models', body: { name: 'slow', upstream: 'spare', upstream_model_id: 'vendor-slow' } },
    { action: 'update', resource: 'models', name: 'fast', body: { enabled: false } },
    { action: 'delete', resource: 'access-keys', name: 'ada' },
    { action: 'create', resource: 'access-keys', body: { name: 'eve', group: 'team' } },
  ];

  test('is one commit with one record for each edit and one for itself', async () => {
    await seed(harness);
    const before = await revision();
    const rehearsal = ok(await call('POST', `${api}/batch?dry_run=true`, { entries: edits })).body;
    expect(rehearsal).toMatchObject({ dry_run: true, revision: null, total_changes: 5 });
    expect(JSON.stringify(rehearsal)).not.toMatch(/gk-[0-9A-Za-z]{10}/);
    expect(await revision()).toBe(before);
    const { body } = ok(await call('POST', `${api}/batch`, { entries: edits }));
    expect(body.revision).toBe(before + 1);
    expect(body.results.map(({ status, name }: { status: number; name: string }) => [status, name])).toEqual([
      [201, 'spare'],
      [201, 'slow'],
      [200, 'fast'],
      [204, 'ada'],
      [201, 'eve'],
    ]);
    expect(body.results[4].body.key).toMatch(/^gk-[0-9A-Za-z]{46}$/);
    const records = await audit('&action=batch_update,batch_commit');
    expect(records.map(({ action, entity_id }: { action: string; entity_id: string }) => [action, entity_id])).toEqual([
      ['batch_commit', '5 edits'],
      ['batch_update', 'eve'],
      ['batch_update', 'ada'],
      ['batch_update', 'fast'],
      ['batch_update', 'slow'],
      ['batch_update', 'spare'],
    ]);
    expect(records[3].diff).toEqual({ action: 'update', enabled: { before: true, after: false } });
    expect(JSON.stringify([body, records])).not.toContain('canary');
  });

  test.each([
    [{ action: 'create', resource: 'models', body: { name: 'x', upstream: 'nobody', upstream_model_id: 'x' } }, 422, 'entries.1.upstream'],
    [{ action: 'create', resource: 'models', body: { name: 'fast', upstream: 'main', upstream_model_id: 'x' } }, 409, 'entries.1.name'],
    [{ action: 'create', resource: 'planets', body: {} }, 422, 'entries.1.resource'],
    [{ action: 'create', resource: 'models', body: {}, extra: 1 }, 422, 'entries.1.extra'],
    [{ action: 'update', resource: 'models', name: 'fast', etag: '"1"', body: { enabled: false } }, 412, 'entries.1'],
    [{ action: 'delete', resource: 'upstreams', name: 'main' }, 422, 'entries.1.models'],
    [{ action: 'delete', resource: 'models', name: 'nobody' }, 404, 'entries.1'],
  ])('%j undoes what came before it', async (entry, status, field) => {
    await seed(harness);
    const before = await revision();
    const answer = await call('POST', `${api}/batch`, { entries: [{ action: 'create', resource: 'key-groups', body: { name: 'first' } }, entry] });
    expect([answer.status, answer.body.error.details[0].field]).toEqual([status, field]);
    expect((await call('GET', `${api}/key-groups/first`)).status).toBe(404);
    expect(await revision()).toBe(before);
    expect(await audit('&action=batch_update')).toEqual([]);
  });
});

test('an import reports what it would change field by field, and is one revision and one record', async () => {
  await seed(harness);
  const file = {
    models: [{ name: 'fast', upstream: 'main', upstream_model_id: 'vendor-fast-2', aliases: ['quick'] }],
    pricing: [{ name: 'p', model: 'fast', input: '1', output: '2' }],
  };
  const rehearsal = ok(await call('POST', `${api}/import?dry_run=true`, file)).body;
  expect(rehearsal.changes).toEqual([
    { section: 'models', name: 'fast', change: 'updated', fields: { upstream_model_id: { before: 'vendor-fast-1', after: 'vendor-fast-2' } } },
    expect.objectContaining({ section: 'pricing', name: 'p', change: 'created' }),
  ]);
  expect(await audit('&action=import')).toEqual([]);
  const done = ok(await call('POST', `${api}/import`, file)).body;
  expect(done.revision).toBe(await revision());
  expect(await audit('&action=import')).toMatchObject([{ entity_type: 'config', diff: { 'models updated': ['fast'], 'pricing created': ['p'] } }]);
});
