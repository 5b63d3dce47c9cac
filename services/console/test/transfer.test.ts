// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references of configuration files look like this
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sealedAs } from '@model-gateway/contracts';
import type { Storage } from '@model-gateway/storage';
import { parse as parseYaml } from 'yaml';
import { type Engine, engines } from '../../../packages/storage/test/engines.ts';
import { api, type Harness, seed, startConsole } from './harness.ts';

const none = {
  upstreams: [],
  models: [],
  load_balancers: [],
  mcp_servers: [],
  alert_channels: [],
  pricing: [],
  search_providers: [],
  search_config: [],
  key_groups: [],
  access_keys: [],
  load_balancer_pins: [],
  sso_credentials: [],
};

describe.each(engines().map((engine) => [engine.name, engine] as [string, Engine]))('export and import on %s', (_name, engine) => {
  let storage: Storage;
  let harness: Harness;
  let call: Harness['call'];
  beforeAll(() => engine.start());
  afterAll(() => engine.stop());
  beforeEach(async () => {
    storage = await engine.open();
    harness = await startConsole(storage);
    call = harness.call;
  });
  afterEach(async () => {
    await harness.close();
    await storage.close();
  });
  const importText = (text: string, query = '') => call('POST', `${api}/import${query}`, text, { 'content-type': 'application/yaml' });

  test('what was exported changes nothing when it comes back', async () => {
    await seed(harness);
    await call('POST', `${api}/access-keys`, { name: 'anon', group: 'team', anonymous: true });
    await call('PATCH', `${api}/upstreams/main`, { custom_headers: { 'x-api-token': 'canary-header', 'x-team': 'plain' } });
    const before = await storage.catalog.load();
    const { text, headers } = await call('GET', `${api}/export?format=yaml`);
    expect(headers.get('content-type')).toContain('application/yaml');
    expect(parseYaml(text).upstreams[0].custom_headers).toEqual({ 'x-api-token': expect.stringMatching(/^enc:/), 'x-team': 'plain' });
    expect(parseYaml(text)).toMatchObject({ version: 2, upstreams: [{ name: 'main', api_keys: [{ key: expect.stringMatching(/^enc:/) }, {}] }] });
    const again = await importText(text);
    expect(again.body).toEqual({
      dry_run: false,
      created: none,
      updated: none,
      unchanged: { ...none, upstreams: ['main'], models: ['fast'], key_groups: ['team'], access_keys: ['ada', 'anon'] },
      revision: null,
      total_changes: 0,
      changes: [],
    });
    expect(await storage.catalog.load()).toEqual(before);
  });

  test('an export makes the same gateway elsewhere', async () => {
    const { key } = await seed(harness);
    await call('POST', `${api}/access-keys`, { name: 'anon', group: 'team', anonymous: true });
    const file = (await call('GET', `${api}/export`, undefined, { accept: 'application/json' })).body;
    const otherStorage = await engine.open();
    const other = await startConsole(otherStorage, { keyring: harness.keyring });
    const answer = await other.call('POST', `${api}/import`, file);
    expect(answer.body.created).toEqual({ ...none, upstreams: ['main'], models: ['fast'], key_groups: ['team'], access_keys: ['ada', 'anon'] });
    expect((await other.call('GET', `${api}/access-keys/ada/api-key`)).body.api_key).toBe(key);
    const stored = (await otherStorage.catalog.upstreams.find('main'))!;
    expect(stored.document.api_keys.map(({ id, sealed }) => harness.keyring.open(sealed, sealedAs.upstreamKey(stored.id, id)))).toEqual([
      'canary-upstream-one',
      'canary-upstream-two',
    ]);
    expect((await otherStorage.catalog.load()).access_keys.map(({ hash }) => hash)).toEqual((await storage.catalog.load()).access_keys.map(({ hash }) => hash));
    await other.close();
    await otherStorage.close();
    const stranger = await engine.open();
    const foreign = await startConsole(stranger);
    const refused = await foreign.call('POST', `${api}/import`, file);
    expect([refused.status, refused.body.error.details[0].field]).toEqual([422, 'upstreams.0.api_keys.0.key']);
    await foreign.close();
    await stranger.close();
  });

  test('a dry run reports the differences and changes nothing', async () => {
    await seed(harness);
    const before = await storage.catalog.load();
    const file = `
upstreams: [{name: spare, protocol: beta, base_url: https://h, api_keys: [{key: plain-value}]}]
models: [{name: fast, upstream: spare, upstream_model_id: other}]
key_groups: [{name: team, models: ['*']}]
`;
    const dry = await importText(file, '?dry_run=true');
    expect(dry.body).toMatchObject({
      dry_run: true,
      revision: null,
      total_changes: 2,
      created: { ...none, upstreams: ['spare'] },
      updated: { ...none, models: ['fast'] },
      unchanged: { ...none, key_groups: ['team'] },
    });
    expect(await storage.catalog.load()).toEqual(before);
    const { created, updated, unchanged } = dry.body;
    expect((await importText(file)).body).toMatchObject({ dry_run: false, revision: expect.any(Number), created, updated, unchanged });
    expect((await call('GET', `${api}/models/fast`)).body).toMatchObject({ upstream: 'spare', aliases: [] });
  });

  test('what was rehearsed is done only while nothing else was changed', async () => {
    await seed(harness);
    const file = "key_groups: [{name: team, models: ['*'], description: of the file}]";
    const rehearsed = (await importText(file, '?dry_run=true')).headers.get('etag') ?? '';
    await call('PATCH', `${api}/key-groups/team`, { description: 'of somebody else' });
    const outdated = await call('POST', `${api}/import`, file, { 'content-type': 'application/yaml', 'if-match': rehearsed });
    expect([outdated.status, outdated.body.error.code]).toEqual([412, 'precondition_failed']);
    expect((await call('GET', `${api}/key-groups/team`)).body.description).toBe('of somebody else');
    const again = (await importText(file, '?dry_run=true')).headers.get('etag') ?? '';
    const done = await call('POST', `${api}/import`, file, { 'content-type': 'application/yaml', 'if-match': again });
    expect([done.status, done.headers.get('etag')]).toEqual([200, `"${done.body.revision}"`]);
    const { revision } = done.body;
    const back = (headers: Record<string, string>) => call('POST', `${api}/history/${revision - 1}/rollback`, undefined, headers);
    expect([(await back({ 'if-match': again })).status, (await back({ 'if-match': `"${revision}"` })).status]).toEqual([412, 200]);
  });

  test('keys that a file leaves out stay, and a price is named after its model', async () => {
    await seed(harness);
    const { api_keys } = (await call('GET', `${api}/upstreams/main`)).body;
    const taken = await importText(`
upstreams: [{name: main, protocol: alpha, base_url: https://elsewhere.example.com}]
pricing: [{model: 'vendor-*', input: '1', output: '2'}]
`);
    expect(taken.body).toMatchObject({ updated: { upstreams: ['main'] }, created: { pricing: ['vendor-*'] } });
    expect((await call('GET', `${api}/upstreams/main`)).body).toMatchObject({ base_url: 'https://elsewhere.example.com', api_keys });
    expect((await call('GET', `${api}/pricing/vendor-*`)).body).toMatchObject({ name: 'vendor-*', model: 'vendor-*' });
  });

  test('headers that carry a credential stay when a file says nothing of headers, and go when it does', async () => {
    await seed(harness);
    await call('PATCH', `${api}/upstreams/main`, { custom_headers: { 'x-api-token': 'canary-header', 'x-team': 'plain' } });
    const { id, document } = (await storage.catalog.upstreams.find('main'))!;
    const file = 'upstreams: [{name: main, protocol: alpha, base_url: https://api.example.com/v1';
    expect((await importText(`${file}}]`)).body.updated.upstreams).toEqual(['main']);
    const kept = (await storage.catalog.upstreams.find('main'))!;
    expect(kept.document).toMatchObject({ custom_headers: {}, sealed_headers: document.sealed_headers });
    expect(harness.keyring.open(kept.document.sealed_headers!['x-api-token']!, sealedAs.upstreamHeader(id, 'x-api-token'))).toBe('canary-header');
    expect((await importText(`${file}}]`)).body.unchanged.upstreams).toEqual(['main']);
    await importText(`${file}, custom_headers: {x-other: '1'}}]`);
    const { custom_headers, sealed_headers } = (await storage.catalog.upstreams.find('main'))!.document;
    expect([custom_headers, sealed_headers]).toEqual([{ 'x-other': '1' }, undefined]);
  });

  test('a reference to the environment is not stored instead of its secret', async () => {
    await seed(harness);
    const upstream = (fields: string) => `upstreams: [{name: spare, protocol: beta, base_url: https://h, ${fields}}]`;
    for (const [file, field] of [
      [upstream("api_keys: [{key: '${A_KEY}'}]"), 'upstreams.0.api_keys.0.key'],
      [upstream("custom_headers: {x-api-token: '${A_KEY}'}"), 'upstreams.0.custom_headers.x-api-token'],
      ["access_keys: [{name: k, group: team, key: '${A_KEY}'}]", 'access_keys.0.key'],
    ] as const) {
      const answer = await importText(file);
      expect([answer.status, answer.body.error.details[0]]).toEqual([422, { field, message: expect.stringContaining('model-gateway apply') }]);
    }
  });

  test('all or nothing: one bad entry, and none is taken', async () => {
    await seed(harness);
    const before = await storage.catalog.load();
    const good = 'upstreams: [{name: spare, protocol: beta, base_url: https://h, api_keys: []}]\n';
    const cases: [string, string][] = [
      [`${good}models: [{name: new, upstream: nobody, upstream_model_id: x}]`, 'models.0.upstream'],
      [
        `${good}models: [{name: new, upstream: spare, upstream_model_id: x}, {name: newer, upstream: spare, upstream_model_id: x, aliases: [fast]}]`,
        'models.1.aliases.0',
      ],
      [`${good}key_groups: [{name: g, colour: red}]`, 'key_groups.0.colour'],
      [`${good}key_groups: [{name: g}, {name: g}]`, 'key_groups.1.name'],
      [`${good}access_keys: [{name: k, group: team, budget: {limit: 1}}]`, 'access_keys.0.budget.period'],
      [`${good}balancers: []`, 'balancers'],
      [`${good}version: 7`, 'version'],
    ];
    for (const [file, field] of cases) {
      const answer = await importText(file);
      expect([file, answer.status >= 400, answer.body.error.details.map((detail: { field: string }) => detail.field)]).toEqual([
        file,
        true,
        expect.arrayContaining([field]),
      ]);
    }
    expect(await storage.catalog.load()).toEqual(before);
  });

  test('models of one file may exchange names, and a key may be given anew', async () => {
    await seed(harness);
    await call('POST', `${api}/models`, { name: 'slow', upstream: 'main', upstream_model_id: 's', aliases: ['calm'] });
    const swapped = await importText(`
models:
  - {name: fast, upstream: main, upstream_model_id: vendor-fast-1, aliases: [calm]}
  - {name: slow, upstream: main, upstream_model_id: s, aliases: [quick]}
access_keys: [{name: ada, group: team, key: imported-value-0123}]
`);
    expect(swapped.body.updated).toEqual({ ...none, models: ['fast', 'slow'], access_keys: ['ada'] });
    expect((await call('GET', `${api}/models/slow`)).body.aliases).toEqual(['quick']);
    expect((await call('GET', `${api}/access-keys/ada/api-key`)).body.api_key).toBe('imported-value-0123');
    expect((await call('POST', `${api}/models`, { name: 'calm', upstream: 'main', upstream_model_id: 's' })).status).toBe(409);
  });
});
