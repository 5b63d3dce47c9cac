import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sealedAs } from '@model-gateway/contracts';
import { hashAccessKey, isAccessKeyFormat } from '@model-gateway/secrets';
import type { Storage } from '@model-gateway/storage';
import { readCustomHeaders } from '@model-gateway/upstream-client';
import { type Engine, engines } from '../../../packages/storage/test/engines.ts';
import { type Answer, api, type Harness, seed, startConsole } from './harness.ts';

const fields = (answer: Answer): string[] => (answer.body?.error?.details ?? []).map(({ field }: { field: string }) => field);

describe.each(engines().map((engine) => [engine.name, engine] as [string, Engine]))('resources on %s', (_name, engine) => {
  let storage: Storage;
  let harness: Harness;
  let call: Harness['call'];
  const open = (sealed: string, boundTo: string): string => harness.keyring.open(sealed, boundTo);
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

  test('create, read, list, change, delete, for every kind', async () => {
    await seed(harness);
    const names = { upstreams: 'main', models: 'fast', 'key-groups': 'team', 'access-keys': 'ada' };
    const changes = { upstreams: { user_agent: 'me' }, models: { hide_name: true }, 'key-groups': { description: 'x' }, 'access-keys': { description: 'x' } };
    for (const [path, name] of Object.entries(names)) {
      const one = await call('GET', `${api}/${path}/${name}`);
      expect([path, one.status]).toEqual([path, 200]);
      expect(one.headers.get('etag')).toBe(`"${one.body.etag}"`);
      expect(Date.parse(one.body.created_at)).toBeGreaterThan(0);
      const list = await call('GET', `${api}/${path}`);
      expect(list.body).toMatchObject({ total: 1, page: 1, page_size: 50 });
      expect(list.body.items).toEqual([one.body]);
      const patch = changes[path as keyof typeof changes];
      const changed = await call('PATCH', `${api}/${path}/${name}`, patch);
      expect(changed.status).toBe(200);
      expect(changed.body).toMatchObject({ ...one.body, ...patch, etag: changed.body.etag, updated_at: changed.body.updated_at });
      expect(changed.body.etag).not.toBe(one.body.etag);
      // A whole object, as a client got it, may be sent back.
      const sentBack = await call('PUT', `${api}/${path}/${name}`, changed.body);
      expect([path, sentBack.status, sentBack.body?.error]).toEqual([path, 200, undefined]);
      expect(sentBack.body).toMatchObject({ ...patch, name });
    }
    for (const path of ['access-keys', 'key-groups', 'models', 'upstreams'] as const) {
      expect((await call('DELETE', `${api}/${path}/${names[path]}`)).status).toBe(204);
      expect((await call('GET', `${api}/${path}/${names[path]}`)).status).toBe(404);
      expect((await call('DELETE', `${api}/${path}/${names[path]}`)).body.error.code).toBe('not_found');
    }
  });

  test('null resets, absent stays', async () => {
    await seed(harness);
    await call('PATCH', `${api}/upstreams/main`, { user_agent: 'me', timeouts: { connect_ms: 5 }, custom_headers: { 'x-a': '1' } });
    const reset = await call('PUT', `${api}/upstreams/main`, { user_agent: null, timeouts: null });
    expect(reset.body).toMatchObject({ user_agent: null, timeouts: {}, custom_headers: { 'x-a': '1' }, base_url: 'https://api.example.com/v1' });
    expect(reset.body.api_keys).toHaveLength(2);
    const required = await call('PUT', `${api}/upstreams/main`, { base_url: null });
    expect([required.status, fields(required)]).toEqual([422, ['base_url']]);
  });

  test('the one request script moves by its position', async () => {
    await seed(harness);
    const script = 'function transform(body) { return body; }';
    const slots = async (body: object) => {
      const answer = await call('PATCH', `${api}/upstreams/main`, body);
      return answer.status === 200 ? [answer.body.request_transform_before, answer.body.request_transform_after] : [answer.status, ...fields(answer)];
    };
    expect(await slots({ script_position: 'before' })).toEqual([422, 'script_position']);
    expect(await slots({ request_script: script })).toEqual([null, script]);
    expect(await slots({ script_position: 'before' })).toEqual([script, null]);
    expect(await slots({ request_script: script, script_position: 'after' })).toEqual([null, script]);
    expect(await slots({ request_transform_before: `${script} ` })).toEqual([`${script} `, script]);
    expect(await slots({ script_position: 'before' })).toEqual([422, 'script_position']);
    expect(await slots({ request_script: 5, request_transform_before: null })).toEqual([422, 'request_transform_after']);
  });

  test('two admins cannot overwrite one another', async () => {
    await seed(harness);
    const before = (await call('GET', `${api}/models/fast`)).headers.get('etag')!;
    expect((await call('PATCH', `${api}/models/fast`, { hide_name: true }, { 'if-match': before })).status).toBe(200);
    const late = await call('PATCH', `${api}/models/fast`, { hide_name: false }, { 'if-match': before });
    expect([late.status, late.body.error.code]).toEqual([412, 'precondition_failed']);
    expect((await call('PUT', `${api}/models/fast`, { hide_name: false, etag: before })).status).toBe(412);
    expect((await call('PATCH', `${api}/models/fast`, { hide_name: false, etag: 1 })).status).toBe(412);
    expect(fields(await call('PATCH', `${api}/models/fast`, { hide_name: false, etag: [] }))).toEqual(['etag']);
    expect((await call('DELETE', `${api}/models/fast`, undefined, { 'if-match': before })).status).toBe(412);
    expect((await call('GET', `${api}/models/fast`)).body.hide_name).toBe(true);
    expect((await call('PATCH', `${api}/models/fast`, { hide_name: false }, { 'if-match': '*' })).status).toBe(200);
  });

  test('names that exist are 409, models and aliases in one space', async () => {
    await seed(harness);
    const upstream = { name: 'main', protocol: 'beta', base_url: 'https://h', api_keys: [{ key: 'sk-x' }] };
    expect((await call('POST', `${api}/upstreams`, upstream)).status).toBe(409);
    expect((await call('POST', `${api}/key-groups`, { name: 'team' })).status).toBe(409);
    expect((await call('POST', `${api}/access-keys`, { name: 'ada', group: 'team' })).status).toBe(409);
    const model = { name: 'other', upstream: 'main', upstream_model_id: 'x' };
    for (const body of [
      { ...model, name: 'fast' },
      { ...model, name: 'quick' },
      { ...model, aliases: ['fast'] },
      { ...model, aliases: ['fresh', 'quick'] },
    ]) {
      const answer = await call('POST', `${api}/models`, body);
      expect([answer.status, answer.body.error.code]).toEqual([409, 'conflict']);
    }
    expect(fields(await call('POST', `${api}/models`, { ...model, aliases: ['fresh', 'quick'] }))).toEqual(['aliases.1']);
    expect((await call('POST', `${api}/models`, model)).status).toBe(201);
    expect((await call('PATCH', `${api}/models/other`, { aliases: ['quick'] })).status).toBe(409);
    expect((await call('PATCH', `${api}/models/fast`, { aliases: ['quick', 'swift'] })).status).toBe(200);
  });

  test('faults name their field', async () => {
    await seed(harness);
    const upstream = { name: 'u', protocol: 'alpha', base_url: 'https://h', api_keys: [{ key: 'sk-x' }] };
    const model = { name: 'm', upstream: 'main', upstream_model_id: 'x' };
    const cases: [string, object, string][] = [
      ['upstreams', { ...upstream, base_url: 'https://h/' }, 'base_url'],
      ['upstreams', { ...upstream, base_url: 'ftp://h' }, 'base_url'],
      ['upstreams', { ...upstream, base_url: 'http://169.254.169.254/latest' }, 'base_url'],
      ['upstreams', { ...upstream, base_url: 'http://[::ffff:a9fe:a9fe]' }, 'base_url'],
      ['upstreams', { ...upstream, base_url: 'http://2852039166' }, 'base_url'],
      ['upstreams', { ...upstream, base_url: 'http://[fe80::1]' }, 'base_url'],
      ['upstreams', { ...upstream, base_url: 'http://[fd00:ec2::254]' }, 'base_url'],
      ['upstreams', { ...upstream, base_url: 'http://100.100.100.200' }, 'base_url'],
      ['upstreams', { ...upstream, base_url: 'http://metadata.google.internal' }, 'base_url'],
      ['upstreams', { ...upstream, protocol: 'nonsense' }, 'protocol'],
      ['upstreams', { ...upstream, bogus: 1 }, 'bogus'],
      ['upstreams', { ...upstream, proxy: 'ftp://p:1' }, 'proxy'],
      ['upstreams', { ...upstream, proxy: 'p:1080' }, 'proxy'],
      ['upstreams', { ...upstream, proxy: 'http://169.254.169.254:80' }, 'proxy'],
      ['upstreams', { ...upstream, proxy: 'socks5://0xa9fea9fe:1080' }, 'proxy'],
      ['upstreams', { ...upstream, proxy: 'socks4://me:pass@p:1080' }, 'proxy'],
      ['upstreams', { ...upstream, proxy: 'http://me:********@p:1080' }, 'proxy'],
      ['upstreams', { ...upstream, dns: { servers: ['1.1.1.1', 'ftp://x'] } }, 'dns.servers.1'],
      ['upstreams', { ...upstream, dns: { servers: ['169.254.169.253'] } }, 'dns.servers.0'],
      ['upstreams', { ...upstream, dns: { servers: [], ttl_secs: 5 } }, 'dns.servers'],
      ['upstreams', { ...upstream, dns: { servers: ['1.1.1.1'], ttl_secs: -1 } }, 'dns.ttl_secs'],
      ['upstreams', { ...upstream, tls: { ca: 'nonsense' } }, 'tls.ca'],
      ['upstreams', { ...upstream, tls: { client_key: '********' } }, 'tls.client_key'],
      ['upstreams', { ...upstream, tls: { min_version: '1.1' } }, 'tls.min_version'],
      ['upstreams', { ...upstream, tls: { insecure_skip_verify: true } }, 'tls.insecure_skip_verify'],
      ['upstreams', { ...upstream, tls: { server_name: 'a b' } }, 'tls.server_name'],
      ['upstreams', { ...upstream, request_body_rules: [{ mode: 'remove', path: 'a[0]' }] }, 'request_body_rules.0.path'],
      ['upstreams', { ...upstream, script_error_mode: 'log-and-retry' }, 'script_error_mode'],
      ['upstreams', { ...upstream, response_transform: 'function transform(body) { retur body }' }, 'response_transform'],
      ['upstreams', { ...upstream, request_script: 'x', script_position: 'middle' }, 'script_position'],
      ['upstreams', { ...upstream, request_transform_after: 'return 1' }, 'request_transform_after'],
      ['upstreams', { ...upstream, custom_headers: { 'x-a': '{{nothing}}' } }, 'custom_headers.x-a'],
      ['upstreams', { ...upstream, custom_headers: { 'x-a': '1', 'X-A': '2' } }, 'custom_headers.X-A'],
      ['upstreams', { ...upstream, custom_headers: { 'x-a': '名' } }, 'custom_headers.x-a'],
      ['upstreams', { ...upstream, user_agent: 'a/{{header:}}' }, 'user_agent'],
      ['upstreams', { ...upstream, custom_headers: { Host: 'x' } }, 'custom_headers.Host'],
      ['upstreams', { ...upstream, custom_headers: { 'x-a': 'a\r\nb: c' } }, 'custom_headers.x-a'],
      ['upstreams', { ...upstream, api_keys: [{ weight: 1 }] }, 'api_keys.0.key'],
      ['upstreams', { ...upstream, api_keys: [{ key: 'a', weight: -1 }] }, 'api_keys.0.weight'],
      ['upstreams', { protocol: 'alpha', base_url: 'https://h', api_keys: [] }, 'name'],
      ['upstreams', { ...upstream, api_keys: undefined }, 'api_keys'],
      ['upstreams', { ...upstream, api_keys: null }, 'api_keys'],
      ['models', { ...model, upstream: 'nobody' }, 'upstream'],
      ['models', { ...model, name: 'a*' }, 'name'],
      ['models', { ...model, name: ' a' }, 'name'],
      ['models', { ...model, base_url: 'https://h/v1?api-version=1' }, 'base_url'],
      ['models', { ...model, base_url: 'https://h/v1/?api-version=1', direct_path: true }, 'base_url'],
      ['models', { ...model, base_url: 'https://h/v1?a=1&api-key=x', direct_path: true }, 'base_url'],
      ['models', { ...model, base_url: 'http://169.254.169.254/x?a=1', direct_path: true }, 'base_url'],
      ['models', { ...model, rate_limit: 'other' }, 'rate_limit'],
      ['models', { ...model, extra_config: { context_window: '200k' } }, 'extra_config.context_window'],
      ['models', { ...model, extra_config: { passthrough_paths: 'files/*' } }, 'extra_config.passthrough_paths'],
      ['upstreams', { ...upstream, extra_config: { api_version: 'newest' } }, 'extra_config.api_version'],
      ['upstreams', { ...upstream, extra_config: { context_window: 200_000 } }, 'extra_config.context_window'],
      ['models', { ...model, rate_limit: { rpm: 0 } }, 'rate_limit.rpm'],
      ['models', { ...model, inference_profile: 'a', upstream_inference_profile: 'b' }, 'upstream_inference_profile'],
      ['models', { ...model, kind: 'delta-audio-asr' }, 'kind'],
      ['models', { ...model, kind: 'delta-multimodal' }, 'kind'],
      ['models', { ...model, protocol: 'delta', kind: 'delta-video' }, 'kind'],
      ['models', { ...model, protocol: 'nonsense' }, 'protocol'],
      ['models', { ...model, direct_path: true }, 'base_url'],
      ['models', { ...model, aliases: ['b', 'b'] }, 'aliases.1'],
      ['models', { ...model, aliases: ['m'] }, 'aliases.0'],
      ['upstreams', { ...upstream, rate_limit: { rpm: 0 } }, 'rate_limit.rpm'],
      ['upstreams', { ...upstream, rate_limit: { initial_tokens: 101 } }, 'rate_limit.initial_tokens'],
      ['upstreams', { ...upstream, rate_limit: 'inherit' }, 'rate_limit'],
      ['models', { ...model, rate_limit: { rpm: 1.5 } }, 'rate_limit.rpm'],
      ['models', { ...model, rate_limit: { rps: 1 } }, 'rate_limit.rps'],
      ['models', { ...model, rate_limit: 'none' }, 'rate_limit'],
      ['key-groups', { name: 'g', rate_limit: { rpm: 10, window_secs: 0 } }, 'rate_limit.window_secs'],
      ['key-groups', { name: 'g', budget: { limit: 1.0000001, period: 'day' } }, 'budget.limit'],
      ['key-groups', { name: 'g', mcp_tool_acl: { allowed: ['*'] } }, 'mcp_tool_acl.allowed'],
      ['key-groups', { name: 'g', mcp_tool_acl: { allowed_tools: ['*', 's1__get_a'] } }, 'mcp_tool_acl.allowed_tools.1'],
      ['key-groups', { name: 'g', mcp_tool_acl: { allowed_tools: ['*'], denied_tools: ['s1.get*'] } }, 'mcp_tool_acl.denied_tools.0'],
      ['mcp-servers', { name: 'SSE', endpoint: 'https://tools.test/mcp' }, 'name'],
      ['mcp-servers', { name: 'sse', endpoint: 'https://tools.test/mcp' }, 'name'],
      ['mcp-servers', { name: 'tools', endpoint: 'https://tools.test/mcp', transport: 'stdio' }, 'transport'],
      ['mcp-servers', { name: 'tools', endpoint: 'https://tools.test/mcp', args: [] }, 'args'],
      ['mcp-servers', { name: 'tools', endpoint: 'http://169.254.169.254/mcp' }, 'endpoint'],
      ['mcp-servers', { name: 'tools', endpoint: 'https://tools.test', connection_type: 'rest_bridge' }, 'extra_config'],
      [
        'mcp-servers',
        { name: 'tools', endpoint: 'https://tools.test', connection_type: 'rest_bridge', transport: 'sse', extra_config: { operations: [] } },
        'transport',
      ],
      ['mcp-servers', { name: 'tools', endpoint: 'https://tools.test', connection_type: 'rest_bridge', extra_config: { swagger: '2.0' } }, 'extra_config'],
      ['mcp-servers', { name: 'tools', endpoint: 'https://tools.test/mcp', auth_header: '********' }, 'auth_header'],
      ['mcp-servers', { name: 'tools', endpoint: 'https://tools.test/mcp', extra_headers: { Authorization: 'x' } }, 'extra_headers.Authorization'],
      ['key-groups', { name: 'g', header_acl: [{ header: 'x-a', match: 'regex', value: 'a(?=b)', action: 'deny' }] }, 'header_acl.0.value'],
      ['key-groups', { name: 'g', header_acl: [{ header: 'x-a', match: 'regex', value: '(a)\\1', action: 'deny' }] }, 'header_acl.0.value'],
      ['key-groups', { name: 'g', header_acl: [{ header: 'x-a', match: 'equals', action: 'deny' }] }, 'header_acl.0.value'],
      ['key-groups', { name: 'g', header_acl: [{ header: 'x-a', match: 'exists', value: 'b', action: 'allow' }] }, 'header_acl.0.value'],
      ['access-keys', { name: 'k', group: 'nobody' }, 'group'],
      ['access-keys', { name: 'k', group: 'team', budget: { limit: 1 } }, 'budget.period'],
      ['access-keys', { name: 'k', group: 'team', budget: { limit: 1, period: 'year' } }, 'budget.period'],
      ['access-keys', { name: 'k', group: 'team', budget: { limit: 1, period: 'day', currency: 'usd' } }, 'budget.currency'],
      ['access-keys', { name: 'k', group: 'team', rate_limit: { window_secs: 10 } }, 'rate_limit.rpm'],
      ['access-keys', { name: 'k', group: 'team', key: 'short' }, 'key'],
      ['access-keys', { name: 'k', group: 'team', key: `gk-${'a'.repeat(46)}` }, 'key'],
      ['access-keys', { name: 'k', group: 'team', expires_at: 'tomorrow' }, 'expires_at'],
    ];
    for (const [path, body, field] of cases) {
      const answer = await call('POST', `${api}/${path}`, body);
      expect([path, body, answer.status, fields(answer)]).toEqual([path, body, 422, expect.arrayContaining([field])]);
      expect(answer.body.error.code).toBe('validation_failed');
      expect(answer.body.error.message).toContain(field);
    }
    expect((await call('POST', `${api}/upstreams`, { ...upstream, base_url: 'https://h/' })).text).toContain('slash');
    expect((await call('POST', `${api}/models`, { ...model, kind: 'x' })).text).toContain('not built yet');
    expect((await call('PATCH', `${api}/models/fast`, { name: 'faster' })).body.error.details[0].field).toBe('name');
  });

  test('neutral values of fields that are not built are accepted and not kept', async () => {
    const whole = {
      name: 'u',
      protocol: 'alpha',
      base_url: 'http://127.0.0.1:11434',
      api_keys: [],
      proxy: null,
      dns: null,
      request_body_rules: [],
      script_error_mode: 'log-and-continue',
      script_position: 'after',
    };
    const created = await call('POST', `${api}/upstreams`, whole);
    expect(created.status).toBe(201);
    expect(created.body).toMatchObject({ proxy: null, dns: null, tls: null });
    expect(created.body).not.toHaveProperty('script_position');
    expect((await call('POST', `${api}/models`, { name: 'm', upstream: 'u', upstream_model_id: 'x', kind: null, rate_limit: 'inherit' })).status).toBe(201);
    const vision = { name: 'vision', upstream: 'u', upstream_model_id: 'x', protocol: 'delta', kind: 'delta-multimodal' };
    expect((await call('POST', `${api}/models`, vision)).body).toMatchObject({ kind: 'delta-multimodal' });
    expect((await call('PATCH', `${api}/models/vision`, { kind: '' })).body).toMatchObject({ kind: null });
    const endpoint = { name: 'whole', upstream: 'u', upstream_model_id: 'x', base_url: 'https://h/chat/completions?api-version=2024-10-21', direct_path: true };
    expect((await call('POST', `${api}/models`, endpoint)).body).toMatchObject({ base_url: endpoint.base_url });
    expect(fields(await call('PATCH', `${api}/models/whole`, { direct_path: false }))).toEqual(['base_url']);
    expect((await call('PATCH', `${api}/models/whole`, { upstream_inference_profile: 'p' })).body).toMatchObject({ inference_profile: 'p' });
  });

  test('nothing new is named . or .., which clients take out of addresses', async () => {
    await seed(harness);
    const bodies: Record<string, object> = {
      upstreams: { protocol: 'alpha', base_url: 'https://h', api_keys: [{ key: 'sk-x' }] },
      models: { upstream: 'main', upstream_model_id: 'x' },
      'load-balancers': { entries: [{ model: 'fast' }] },
      'key-groups': {},
      'access-keys': { group: 'team' },
      pricing: { model: 'fast', currency: 'USD', mode: 'per_token', input: '1', output: '1' },
    };
    for (const [path, body] of Object.entries(bodies))
      for (const name of ['.', '..']) {
        const answer = await call('POST', `${api}/${path}`, { ...body, name });
        expect([path, answer.status, fields(answer)]).toEqual([path, 422, ['name']]);
      }
    expect(fields(await call('PATCH', `${api}/models/fast`, { aliases: ['..'] }))).toEqual(['aliases.0']);
    expect(fields(await call('POST', `${api}/import`, { key_groups: [{ name: '..' }] }))).toEqual(['key_groups.0.name']);
    await storage.catalog.change((writer) =>
      writer.models.find('fast').then((stored) => writer.models.insert('old', { ...stored!.document, name: '..', aliases: ['.'] })),
    );
    const entries = [{ action: 'update', resource: 'models', name: '..', body: { enabled: false } }];
    expect((await call('POST', `${api}/batch`, { entries })).body.results).toMatchObject([{ status: 200, body: { name: '..', enabled: false } }]);
    const file = (await call('GET', `${api}/export?format=json`)).body;
    expect((await call('POST', `${api}/import`, file)).body.unchanged.models).toContain('..');
    expect((await call('POST', `${api}/batch`, { entries: [{ action: 'delete', resource: 'models', name: '..' }] })).status).toBe(200);
  });

  test('an upstream keeps a protocol that knows the kinds of its models', async () => {
    await seed(harness);
    const change = (path: string, body: object) => call('PATCH', `${api}/${path}`, body);
    const upstream = { name: 'native', protocol: 'delta', base_url: 'https://native.example', api_keys: [{ key: 'sk-x' }] };
    await call('POST', `${api}/upstreams`, upstream);
    for (const name of ['ranks', 'reads']) await call('POST', `${api}/models`, { name, upstream: 'native', upstream_model_id: name, kind: 'delta-rerank' });
    await call('POST', `${api}/models`, { name: 'own', upstream: 'native', upstream_model_id: 'o', protocol: 'delta', kind: 'delta-rerank' });
    await call('POST', `${api}/models`, { name: 'plain', upstream: 'native', upstream_model_id: 'p' });
    const refused = await change('upstreams/native', { protocol: 'alpha' });
    expect([refused.status, fields(refused)]).toEqual([422, ['protocol', 'protocol']]);
    expect(refused.body.error.details.map(({ message }: { message: string }) => /model (\w+)/.exec(message)?.[1])).toEqual(['ranks', 'reads']);
    const file = (await call('GET', `${api}/export?format=json`)).body;
    const converted = { ...file, upstreams: file.upstreams.map((one: { name: string }) => (one.name === 'native' ? { ...one, protocol: 'alpha' } : one)) };
    const imported = await call('POST', `${api}/import`, converted);
    expect([imported.status, fields(imported)]).toEqual([422, Array(2).fill(expect.stringMatching(/^upstreams\.\d\.protocol$/))]);
    const models = file.models.map((one: { name: string }) => (/^r/.test(one.name) ? { ...one, kind: null } : one));
    expect((await call('POST', `${api}/import?dry_run=true`, { ...converted, models })).status).toBe(200);
    for (const name of ['ranks', 'reads']) expect((await change(`models/${name}`, { kind: null })).status).toBe(200);
    expect((await change('upstreams/native', { protocol: 'alpha' })).status).toBe(200);
    expect(fields(await change('models/ranks', { kind: 'delta-rerank' }))).toEqual(['kind']);
  });

  test('what something refers to cannot be deleted, and the answer lists it', async () => {
    await seed(harness);
    const upstream = await call('DELETE', `${api}/upstreams/main`);
    expect([upstream.status, upstream.body.error.code]).toEqual([422, 'in_use']);
    expect(upstream.body.error.message).toContain('fast');
    const group = await call('DELETE', `${api}/key-groups/team`);
    expect([group.status, group.body.error.details]).toEqual([422, [{ field: 'access_keys', message: 'ada' }]]);
  });

  test('upstream keys: masked, matched by id, by value or by position, kept sealed', async () => {
    await seed(harness);
    const values = async () => {
      const stored = (await storage.catalog.upstreams.find('main'))!;
      return stored.document.api_keys.map(({ id, sealed }) => harness.keyring.open(sealed, sealedAs.upstreamKey(stored.id, id)));
    };
    const { body } = await call('GET', `${api}/upstreams/main`);
    const [first, second] = body.api_keys;
    expect(first).toEqual({
      id: expect.any(String),
      key: '********',
      fingerprint: expect.stringMatching(/^[0-9a-f]{8}$/),
      weight: 2,
      state: expect.any(Object),
    });
    await call('PUT', `${api}/upstreams/main`, {
      api_keys: [
        { id: second.id, weight: 5 },
        { ...first, account: 'acme' },
      ],
    });
    expect(await values()).toEqual(['canary-upstream-two', 'canary-upstream-one']);
    const rotated = await call('PUT', `${api}/upstreams/main`, { api_keys: [{ key: '********' }, { key: 'canary-upstream-new' }] });
    expect(await values()).toEqual(['canary-upstream-two', 'canary-upstream-new']);
    expect(rotated.body.api_keys.map(({ id }: { id: string }) => id)).toEqual([second.id, first.id]);
    expect(fields(await call('PUT', `${api}/upstreams/main`, { api_keys: [{ key: '********' }] }))).toEqual(['api_keys.0.key']);
    expect(fields(await call('PUT', `${api}/upstreams/main`, { api_keys: [{ id: 'unknown' }] }))).toEqual(['api_keys.0.key']);
    await call('PUT', `${api}/upstreams/main`, {
      api_keys: [{ key: 'canary-upstream-new' }, { key: 'canary-upstream-three' }, { key: 'canary-upstream-two' }],
    });
    expect(await values()).toEqual(['canary-upstream-new', 'canary-upstream-three', 'canary-upstream-two']);
    const { api_keys } = (await call('GET', `${api}/upstreams/main`)).body;
    expect([api_keys[0].id, api_keys[2].id]).toEqual([first.id, second.id]);
  });

  test('custom headers that carry a credential: masked, sealed, kept behind the mask, and never shown twice', async () => {
    await seed(harness);
    const custom_headers = {
      Authorization: 'Bearer canary-header-one',
      'x-functions-key': 'canary-header-two',
      'x-auth-of-caller': 'Bearer {{header:x-session}}',
      'x-forwarded-for-them': 'Basic canary-header-four',
      'x-team': 'plain',
    };
    const masks = { Authorization: '********', 'x-functions-key': '********', 'x-forwarded-for-them': '********' };
    const shown = { ...custom_headers, ...masks };
    const document = async () => (await storage.catalog.upstreams.find('main'))!;
    const stored = async () => {
      const { id, document: upstream } = await document();
      expect(JSON.stringify(await storage.catalog.load())).not.toContain('canary-header');
      return readCustomHeaders({ ...upstream, id }, open);
    };
    expect((await call('PATCH', `${api}/upstreams/main`, { custom_headers })).body.custom_headers).toEqual(shown);
    expect((await call('GET', `${api}/upstreams`)).body.items[0].custom_headers).toEqual(shown);
    // What says nothing new changes nothing: neither masks nor the very values.
    const { etag } = await document();
    for (const same of [shown, custom_headers]) expect((await call('PATCH', `${api}/upstreams/main`, { custom_headers: same })).body.etag).toBe(String(etag));
    expect((await call('PUT', `${api}/upstreams/main`, { ...(await call('GET', `${api}/upstreams/main`)).body, enabled: false })).status).toBe(200);
    expect(await stored()).toEqual(custom_headers);
    await call('PATCH', `${api}/upstreams/main`, { custom_headers: { authorization: '********', 'x-functions-key': 'canary-header-three' } });
    expect(await stored()).toEqual({ authorization: 'Bearer canary-header-one', 'x-functions-key': 'canary-header-three' });
    for (const name of ['x-api-token', 'x-other']) {
      const unknown = await call('PATCH', `${api}/upstreams/main`, { custom_headers: { [name]: '********' } });
      expect([unknown.status, unknown.body.error?.details[0].field]).toEqual([422, `custom_headers.${name}`]);
    }
    const file = (await call('GET', `${api}/export`)).body;
    await call('PATCH', `${api}/upstreams/main`, { custom_headers: {} });
    expect((await call('POST', `${api}/import`, file)).body.updated.upstreams).toEqual(['main']);
    expect(await stored()).toEqual({ authorization: 'Bearer canary-header-one', 'x-functions-key': 'canary-header-three' });
    expect(harness.seen.join('\n')).not.toContain('canary-header');
  });

  test('a credential that an earlier version left among the headers is masked, and sealed by the next change', async () => {
    await seed(harness);
    const { catalog } = storage;
    await catalog.change(async (writer) => {
      const stored = (await writer.upstreams.find('main'))!;
      await writer.upstreams.update(stored, { ...stored.document, custom_headers: { 'x-api-key': 'canary-header-old', 'x-team': 'plain' } });
    });
    expect((await call('GET', `${api}/upstreams/main`)).body.custom_headers).toEqual({ 'x-api-key': '********', 'x-team': 'plain' });
    expect((await call('PATCH', `${api}/upstreams/main`, { enabled: false })).status).toBe(200);
    const { id, document } = (await catalog.upstreams.find('main'))!;
    expect(document.custom_headers).toEqual({ 'x-team': 'plain' });
    expect(readCustomHeaders({ ...document, id }, open)).toEqual({ 'x-api-key': 'canary-header-old', 'x-team': 'plain' });
  });

  test('access keys: shown once, masked after, copied, rotated, imported, anonymous', async () => {
    const { key } = await seed(harness);
    expect(isAccessKeyFormat(key)).toBe(true);
    const mask = `${key.slice(0, 4)}****${key.slice(-4)}`;
    expect((await call('GET', `${api}/access-keys/ada`)).body).toMatchObject({ key: mask, last_used_at: null, anonymous: false });
    expect((await call('GET', `${api}/access-keys/ada/api-key`)).body).toEqual({ name: 'ada', key, api_key: key });
    expect((await call('GET', '/access-keys/ada/api-key')).body).toEqual({ name: 'ada', key, api_key: key });
    expect((await storage.catalog.load()).access_keys[0]?.hash).toBe(hashAccessKey(key));
    const rotated = await call('POST', `${api}/access-keys/ada/rotate`);
    expect(rotated.status).toBe(200);
    expect(isAccessKeyFormat(rotated.body.key)).toBe(true);
    expect(rotated.body.key).not.toBe(key);
    expect((await storage.catalog.load()).access_keys[0]?.hash).toBe(hashAccessKey(rotated.body.key));
    const imported = { name: 'old', group: 'team', key: 'sk-imported-0123456789' };
    expect((await call('POST', `${api}/access-keys`, imported)).body.key).toBe(imported.key);
    expect((await call('POST', `${api}/access-keys`, { ...imported, name: 'twin' })).status).toBe(409);
    expect(fields(await call('PATCH', `${api}/access-keys/old`, { key: 'sk-another-0123456789' }))).toEqual(['key']);
    const anonymous = await call('POST', `${api}/access-keys`, { name: 'anon', group: 'team', anonymous: true });
    expect(isAccessKeyFormat(anonymous.body.key)).toBe(true);
    expect((await call('GET', '/access-keys/anon/api-key')).status).toBe(409);
    expect((await storage.catalog.accessKeys.find('anon'))?.document.sealed).toBeNull();
    expect(fields(await call('PATCH', `${api}/access-keys/anon`, { anonymous: false }))).toEqual(['anonymous']);
    expect((await call('GET', '/access-keys/nobody/api-key')).status).toBe(404);
  });

  test('no answer and no log line holds a secret that was not asked for', async () => {
    const { key } = await seed(harness);
    const asked = harness.seen.length;
    for (const path of [
      'upstreams',
      'upstreams/main',
      'models',
      'key-groups',
      'access-keys',
      'access-keys/ada',
      'export',
      'export?format=yaml',
      'logs',
      'me',
      'openapi.json',
    ]) {
      expect([path, (await call('GET', `${api}/${path}`)).status]).toEqual([path, 200]);
    }
    await call('PUT', `${api}/upstreams/main`, { api_keys: [{ key: 'canary-bad key' }, { key: 'canary-other', weight: 'x' }] });
    await call('POST', `${api}/upstreams`, '{"name":"x","api_keys":[{"key":"canary-broken-json"');
    await call('POST', `${api}/import`, 'upstreams: [{name: x, api_keys: [{key: "canary-broken-yaml', { 'content-type': 'application/yaml' });
    await call('POST', `${api}/import`, { upstreams: [{ name: 'x', protocol: 'alpha', base_url: 'nonsense', api_keys: [{ key: 'canary-import' }] }] });
    await call('POST', `${api}/access-keys`, { name: 'k', group: 'team', key: 'canary key with spaces' });
    await call('PUT', `${api}/upstreams/main`, { api_keys: [{ key: 'canary-fine' }] });
    const described = harness.seen.slice(asked).join('\n');
    expect(described).not.toContain('canary');
    expect(described).not.toContain(key);
    expect(harness.seen.join('\n')).not.toContain('canary');
  });

  test('names of any shape travel in paths', async () => {
    await seed(harness);
    for (const name of ['vendor/big:1', 'a b', 'ü%2F?#', "o'hare", 'toString']) {
      const path = `${api}/models/${encodeURIComponent(name)}`;
      expect([name, (await call('POST', `${api}/models`, { name, upstream: 'main', upstream_model_id: 'x' })).status]).toEqual([name, 201]);
      expect((await call('GET', path)).body.name).toBe(name);
    }
    expect((await call('GET', `${api}/models/%zz`)).status).toBe(400);
  });

  test('lists page, search, sort, and refuse what they do not know', async () => {
    await seed(harness);
    for (const name of ['b', 'c%', 'd_']) await call('POST', `${api}/key-groups`, { name });
    const page = await call('GET', `${api}/key-groups?page=2&page_size=2&sort=-name`);
    expect(page.body).toMatchObject({ total: 4, page: 2, page_size: 2 });
    expect(page.body.items.map(({ name }: { name: string }) => name)).toEqual(['c%', 'b']);
    expect((await call('GET', `${api}/key-groups?q=%25`)).body.items.map(({ name }: { name: string }) => name)).toEqual(['c%']);
    for (const path of ['upstreams', 'models', 'load-balancers', 'key-groups', 'access-keys', 'pricing', 'search-providers', 'users']) {
      expect([path, (await call('GET', `${api}/${path}?page=1&page_size=50&q=&sort=`)).status]).toEqual([path, 200]);
      expect([path, (await call('GET', `${api}/${path}/%00`)).status]).toEqual([path, 404]);
    }
    expect(fields(await call('GET', `${api}/key-groups?sort=document`))).toEqual(['sort']);
    expect(fields(await call('GET', `${api}/key-groups?q=%00`))).toEqual(['q']);
    expect(fields(await call('GET', `${api}/key-groups?page_size=1001`))).toEqual(['page_size']);
    expect((await call('GET', `${api}/access-keys?page_size=1000&group=&tags=`)).body).toMatchObject({ total: 1, page_size: 1000 });
    expect(fields(await call('GET', `${api}/key-groups?page=0`))).toEqual(['page']);
    // What is misspelt would list everything, or be no rehearsal.
    expect(fields(await call('GET', `${api}/access-keys?grop=team`))).toEqual(['grop']);
    for (const path of ['import', 'batch', 'history/1/rollback']) {
      const answer = await call('POST', `${api}/${path}?dryrun=true`, { key_groups: [{ name: 'unwanted' }] });
      expect([path, answer.status, fields(answer)]).toEqual([path, 422, ['dryrun']]);
    }
    expect((await call('GET', `${api}/key-groups/unwanted`)).status).toBe(404);
  });
});
