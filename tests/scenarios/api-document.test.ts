/** The console's own document is true: every route is called through a running gateway, and each answer is what the document says of it. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type AnswerChecker, createAnswerChecker } from '../../services/console/test/document.ts';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { scriptedModels } from '../support/callers.ts';
import { startGateway, type TestGateway, until } from '../support/gateway.ts';

const password = 'a password for the document';
/**
 * Needs an OpenID provider, a vendor of logins, a message that nobody can read, a stored turn, or a task of an upstream; held against the document where there is one (`oidc.test.ts`,
 * `dead-letters.test.ts`, `turns.test.ts`, `tasks.test.ts`, `sso.test.ts`, `sso-login.test.ts` of services/console/test).
 */
const elsewhere = [
  'exchange_oidc_code',
  'start_oidc',
  'finish_oidc',
  'delete_dead_letter',
  'refresh_sso_credential',
  'begin_sso_login',
  'read_sso_login',
  'complete_sso_login',
  'read_access_key_turn',
  'delete_access_key_turn',
  'delete_access_key_turns',
  'cancel_task',
];

let upstream: FakeUpstream;
let gateway: TestGateway;
let checker: AnswerChecker;
beforeAll(async () => {
  upstream = await startFakeUpstream();
  gateway = await startGateway({ arrangement: 'embedded', env: { CONSOLE_PASSWORD: password } });
  await gateway.configure(scriptedModels(upstream.url, ['ok', 'status:500']));
  checker = createAnswerChecker((await gateway.console('GET', '/openapi.json')).body);
});
afterAll(async () => {
  await gateway?.stop();
  await upstream?.close();
});

/** A call whose answer is held against the document; `wanted` is its status. */
async function call(method: string, path: string, body?: unknown, { wanted = 200, token = gateway.consoleKey, accept = '*/*' } = {}) {
  const reply = await fetch(`${gateway.url}${path.startsWith('/access-keys/{') ? path.replace('{', '').replace('}', '') : `/console/api/${path}`}`, {
    method,
    headers: { authorization: `Bearer ${token}`, accept, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await reply.text();
  const type = reply.headers.get('content-type');
  const parsed = type?.includes('json') ? JSON.parse(text) : text;
  expect([method, path, reply.status, reply.status === wanted ? '' : text]).toEqual([method, path, wanted, '']);
  checker.check({ method, path: new URL(reply.url).pathname, status: reply.status, type, body: parsed });
  return parsed;
}

/** Of a kind of resource, everything that all kinds have. */
async function everyVerb(kind: string, body: { name: string }, change: object): Promise<void> {
  const one = `${kind}/${encodeURIComponent(body.name)}`;
  await call('POST', kind, body, { wanted: 201 });
  await call('POST', kind, body, { wanted: 409 });
  await call('GET', `${kind}?page_size=3&sort=-created_at`);
  await call('GET', one);
  await call('PUT', one, change);
  await call('PATCH', one, change);
  await call('PATCH', one, { nonsense: 1 }, { wanted: 422 });
  await call('DELETE', one, undefined, { wanted: 204 });
  await call('GET', one, undefined, { wanted: 404 });
}

test('configuration', async () => {
  const base_url = upstream.url;
  await everyVerb(
    'upstreams',
    { name: 'u', protocol: 'alpha', base_url, api_keys: [{ key: 'sk-of-u', account: 'ours' }], rate_limit: { rpm: 9 } } as { name: string },
    {
      enabled: false,
      custom_headers: { 'x-team': 'a' },
      proxy: 'http://user:word@127.0.0.1:9',
      dns: { servers: ['udp://127.0.0.1'], ttl_secs: 3 },
      request_body_rules: [{ mode: 'overwrite', path: 'user', value: { any: ['thing', 1, null] } }],
      timeouts: { connect_ms: 10 },
    },
  );
  await everyVerb('models', { name: 'm', upstream: 'alpha', upstream_model_id: 'ok', extra_config: { deep: { er: [1] } } } as { name: string }, {
    aliases: ['mm'],
    rate_limit: { max_concurrency: 4 },
  });
  await everyVerb('load-balancers', { name: 'b', entries: [{ model: 'alpha ok' }] } as { name: string }, { strategy: 'priority' });
  await everyVerb('key-groups', { name: 'g' }, { header_acl: [{ header: 'x', match: 'exists', action: 'deny' }], budget: { limit: 1.5, period: 'day' } });
  await everyVerb('access-keys', { name: 'k', group: 'everyone' } as { name: string }, {
    rate_limit: { rpm: 3 },
    tags: ['x'],
    expires_at: '2099-01-01T00:00:00Z',
    budget: { limit: 2, period: 'total' },
  });
  await everyVerb('pricing', { name: 'p', model: 'alpha*', input: '1', output: '2' } as { name: string }, { tiers: [{ above_tokens: 5, input: '3' }] });

  await everyVerb('search-providers', { name: 's', kind: 'brave', api_key: 'of-s', price_per_search: '0.005' } as { name: string }, { enabled: false });
  await everyVerb('alert-channels', { name: 'a', kind: 'webhook', url: `${upstream.url}/hook/secret`, secret: 'of-a' } as { name: string }, {
    quiet_minutes: 5,
  });
  await call('POST', 'alert-channels', { name: 'told', kind: 'slack', url: `${upstream.url}/nowhere` }, { wanted: 201 });
  await call('POST', 'alert-channels/told/test');
  await call('GET', 'alert-messages?channel=told');
  await call('GET', 'search-config');
  await call('PUT', 'search-config', { max_uses: 3 });
  await call('PATCH', 'search-config', { max_uses: 0 }, { wanted: 422 });
  await call('PATCH', 'search-config', { max_uses: null });

  const operations = [{ operation_id: 'status', method: 'GET', path: '/nowhere' }];
  const bridge = { name: 'tools', endpoint: upstream.url, connection_type: 'rest_bridge', auth_header: 'Bearer x', extra_config: { operations } };
  await everyVerb('mcp-servers', bridge, { tags: ['x'], health_check: { interval_secs: 30 }, rate_limit: { requests_per_second: 2 } });
  await call('POST', 'mcp-servers', bridge, { wanted: 201 });
  await until(async () => ((await call('GET', 'mcp-servers/tools/tools')) as { tools: unknown }).tools !== null, 'the tools to be known');
  await call('GET', 'mcp-status');
  await call('POST', 'mcp-servers/tools/refresh', undefined, { wanted: 204 });
  await call('POST', 'mcp-servers/tools/approve-tools', {});
  await call('POST', 'mcp-servers/tools/call', { tool: 'status' });
  await call('POST', 'mcp-servers/none/call', { tool: 'status' }, { wanted: 404 });

  await call('POST', 'access-keys', { name: 'kept', group: 'everyone', budget: { limit: 3, period: 'week' } }, { wanted: 201 });
  await call('GET', 'access-keys/kept/api-key');
  await call('GET', '/access-keys/{kept}/api-key');
  await call('POST', 'access-keys/kept/rotate');
  await call('POST', 'access-keys/kept/rotate', { overlap_hours: 2 });
  await call('POST', 'access-keys/kept/end-overlap');
  await call('GET', 'access-keys/kept/use');
  await call('POST', 'access-keys/kept/accept-addresses');
  await call('POST', 'access-keys/kept/tell-owner', undefined, { wanted: 409 });
  await call('PATCH', 'access-keys/kept', { owner: 'kept@example.com' });
  const smtp = { host: '127.0.0.1', port: 9, security: 'none' };
  await call('POST', 'alert-channels', { name: 'mail', kind: 'email', smtp, from: 'gateway@example.com', to_owner: true, events: [] }, { wanted: 201 });
  await call('POST', 'access-keys/kept/tell-owner');
  await call('POST', 'load-balancers', { name: 'pool', aliases: ['pond'], entries: [{ model: 'alpha ok' }, { model: 'beta ok' }] }, { wanted: 201 });
  await call('POST', 'load-balancers/pool/pins', { access_key: 'kept', entry: 'alpha ok' }, { wanted: 201 });
  await call('POST', 'load-balancers/pool/pins', { access_key: 'kept', entry: 'alpha ok' }, { wanted: 409 });
  await call('PUT', 'load-balancers/pool/pins', { access_key: 'kept', entry: 'beta ok' });
  await call('PUT', 'load-balancers/pool/pins/kept', { entry: 'alpha ok' });
  await call('GET', 'load-balancers/pool/pins');
  await call('GET', 'load-balancers/pool/pins/kept');
  await call('DELETE', 'load-balancers/pool/pins/kept', undefined, { wanted: 204 });
  await call('PATCH', 'upstreams/beta', { rate_limit: { rpm: 600, tpm: 1_000_000 } });

  const entries = [
    { action: 'create', resource: 'key-groups', body: { name: 'made-in-batch' } },
    { action: 'update', resource: 'models', name: 'alpha ok', body: { aliases: ['quick'] } },
    { action: 'delete', resource: 'key-groups', name: 'made-in-batch' },
  ];
  await call('POST', 'batch?dry_run=true', { entries });
  const { revision } = await call('POST', 'batch', { entries });
  const file = await call('GET', 'export');
  await call('GET', 'export?format=yaml');
  await call('GET', 'export.yaml');
  await call('POST', 'access-keys/lookup', { key: 'found somewhere' });
  await call('POST', 'import?dry_run=true', { ...file, key_groups: [...file.key_groups, { name: 'imported' }] });
  await call('POST', 'import', { key_groups: [{ name: 'imported' }] });
  await call('POST', 'import/convert', { source: 'litellm', text: 'model_list: []' });
  await call('GET', 'history?limit=2');
  await call('GET', `history/${revision}`);
  await call('GET', `history/${revision}/diff?against=current`);
  await call('POST', `history/${revision}/rollback?dry_run=true`);
  await call('POST', `history/${revision}/rollback`);
  await call('GET', 'audit-logs?limit=100');
  await call('GET', 'dead-letters?limit=5');
  await call('GET', 'tasks?state=running&limit=5');
  await call('DELETE', 'tasks/none', undefined, { wanted: 404 });
  await call('DELETE', 'dead-letters/none', undefined, { wanted: 404 });

  await call('GET', 'sso-profiles');
  const [profile, tokens] = ['cloudhost_ide', JSON.stringify({ accessToken: 'a-token-of-a-login', expiresAt: '2999-01-01T00:00:00Z' })];
  await call('POST', 'sso-credentials/import', { name: 'signed-in', profile, tokens, upstream: { name: 'by-login', base_url } }, { wanted: 201 });
  await call('POST', 'sso-credentials/import', { name: 'signed-in', profile, tokens }, { wanted: 409 });
  await call('GET', 'sso-credentials?page_size=3&sort=-name');
  await call('GET', 'sso-credentials/signed-in');
  await call('PUT', 'sso-credentials/signed-in', { description: 'one' });
  await call('PATCH', 'sso-credentials/signed-in', { settings: { region: 'eu-west-1' } });
  await call('POST', 'sso-credentials/signed-in/refresh', undefined, { wanted: 502 });
  await call('DELETE', 'sso-credentials/signed-in', undefined, { wanted: 422 });
  await call('DELETE', 'upstreams/by-login', undefined, { wanted: 204 });
  await call('DELETE', 'sso-credentials/signed-in', undefined, { wanted: 204 });
});

test('people', async () => {
  await call('GET', 'sign-in-options');
  const { token } = await call('POST', 'login', { username: 'admin', password });
  await call('POST', 'login', { username: 'admin', password: 'another one' }, { wanted: 401 });
  await call('GET', 'me', undefined, { token });
  await call('GET', 'me');
  await call('GET', 'sessions', undefined, { token });
  await call('GET', 'sessions');
  await call('POST', 'users', { username: 'mona', role: 'monitor', password: 'password of mona' }, { wanted: 201 });
  await call('GET', 'users');
  await call('GET', 'users/mona');
  await call('PUT', 'users/mona', { enabled: true });
  await call('PATCH', 'users/mona', { role: 'monitor' });
  await call('POST', 'users/mona/password', { password: 'another of mona' }, { wanted: 204 });
  const mona = (await call('POST', 'login', { username: 'mona', password: 'another of mona' })).token;
  await call('GET', 'audit-logs', undefined, { token: mona, wanted: 403 });
  await call('POST', 'me/password', { current_password: 'another of mona', new_password: 'the third of mona' }, { token: mona, wanted: 204 });
  const { items } = await call('GET', 'sessions?username=mona');
  await call('DELETE', `sessions/${items[0].id}`, undefined, { wanted: 204 });
  await call('DELETE', 'sessions?username=mona', undefined, { wanted: 204 });
  await call('PATCH', 'users/mona', { role: 'member', email: 'mona@example.com' });
  await call(
    'POST',
    'key-groups',
    { name: 'of-mona', models: ['*'], members: ['mona'], member_keys: { max: 2, max_budget: { limit: '1', period: 'day' }, max_days: 3 } },
    { wanted: 201 },
  );
  const { token: member } = await call('POST', 'login', { username: 'mona', password: 'the third of mona' });
  const asMember = (wanted: number) => ({ token: member, wanted });
  await call('GET', 'my/groups', undefined, asMember(200));
  await call('POST', 'my/keys', { name: 'laptop', group: 'of-mona' }, asMember(201));
  await call('POST', 'my/keys', { name: 'laptop', group: 'none' }, asMember(404));
  await call('GET', 'my/keys', undefined, asMember(200));
  await call('PATCH', 'my/keys/mona.laptop', { description: 'mine' }, asMember(200));
  await call('POST', 'my/keys/mona.laptop/rotate', { overlap_hours: 1 }, asMember(200));
  await call('GET', 'my/keys/mona.laptop/api-key', undefined, asMember(200));
  await call('GET', 'my/requests', undefined, asMember(200));
  await call('GET', 'my/costs', undefined, asMember(200));
  await call('GET', 'access-keys', undefined, asMember(403));
  await call('DELETE', 'my/keys/mona.laptop', undefined, asMember(204));
  await call('DELETE', 'users/mona', undefined, { wanted: 204 });
  await call('POST', 'logout', undefined, { token, wanted: 204 });
});

test('looking on and trying', async () => {
  await gateway.configure({ key_groups: [{ name: 'everyone', models: ['*'], store_bodies: { enabled: true } }] });
  for (const model of ['alpha ok', 'beta ok', 'alpha status:500', 'nowhere']) {
    const reply = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', 'z-request-id': `of ${model}`, 'x-claude-code-session-id': 's-1' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }], seed: 4, logit_bias: { 1: 2 } }),
    });
    await reply.text();
    const { id } = await gateway.row(reply.headers.get('x-request-id') ?? '');
    await call('GET', `logs/${id}`);
    await call('GET', `logs/${id}/turns`);
    await until(async () => (await gateway.console('GET', `/logs/${id}/bodies`)).status === 200, 'its bodies');
    await call('GET', `logs/${id}/bodies`);
  }
  await call('GET', 'logs?limit=2');
  await call('GET', 'logs/bodies?limit=3');
  await call('GET', 'logs?format=csv');
  await call('GET', 'logs.csv');
  await call('GET', 'logs?limit=0', undefined, { wanted: 422 });
  await call('GET', 'stats/summary?compare=true');
  await call('GET', 'stats/summary?format=csv');
  for (const table of ['summary', 'series', 'top', 'sessions']) await call('GET', `stats/${table}.csv`);
  await call('GET', 'stats/series?by=model&order=cost');
  await call('GET', 'stats/series?granularity=minute');
  for (const by of ['key', 'group', 'model', 'upstream', 'protocol', 'error', 'session']) await call('GET', `stats/top?by=${by}`);
  await call('GET', 'stats/sessions');
  await call('GET', 'stats/attempts?by=key&over_time=true');
  await call('GET', 'stats/attempts.csv?by=model');
  await call('GET', 'budgets');
  await call('POST', 'stats/spend', { by: 'access_key', names: ['kept', 'caller', 'nobody'] });
  await call('POST', 'budgets/key/kept/top-up', { amount: '1.50' });
  await call('POST', 'budgets/key/kept/top-up', { amount: '-1' }, { wanted: 422 });
  await call('POST', 'budgets/key/kept/reset');
  await call('POST', 'budgets/group/nowhere/reset', undefined, { wanted: 404 });
  await call('GET', 'attention');
  await call('POST', 'find', { q: 'alpha' });
  await call('GET', 'health');
  await call('POST', 'upstreams/alpha/test');
  await call('GET', 'model-monitor');
  await call('GET', 'rate-limit-status');
  await call('GET', 'load-balancers/pool/nodes');
  await call('POST', 'route/explain', { access_key: 'caller', model: 'pool' });
  await call('POST', 'route/explain', { access_key: 'caller', model: 'nowhere' });
  await call('POST', 'upstreams/alpha/fetch-models');
  await call('POST', 'models/test', { model: 'alpha ok', client_protocol: 'beta' });
  await call('POST', 'models/test', { model: 'alpha ok', stream: true });
  await call('POST', 'models/test', { model: 'alpha ok', client_protocol: 'gamma', contents: [{ parts: [{ text: 'hi' }] }] });
  await call('POST', 'models/test', { model: 'alpha ok', client_protocol: 'gamma', messages: [] }, { wanted: 422 });
  await call('POST', 'models/test', { model: 'alpha status:500' });
  await call('POST', 'models/test', { model: 'alpha ok', stream: true }, { accept: 'text/event-stream' });
  await call('GET', 'route/operations?model=pool');
  await call('GET', 'route/operations?model=nobody', undefined, { wanted: 404 });
  await call('POST', 'scripts/test', { script: 'function transform(body) { return { ...body, a: 1 }; }', body: { b: 2 } });
  await call('POST', 'scripts/test', { script: 'function transform(body) { return x; }', body: {} }, { wanted: 422 });
  await call('GET', 'scripts/types');
  await call('POST', 'rules/test', { rules: [{ mode: 'overwrite', path: 'a', value: 1 }], body: { a: 0 } });
  await call('GET', 'openapi.json');
});

test('the live tail', async () => {
  const leaving = new AbortController();
  const reply = await fetch(`${gateway.consoleUrl}/logs/stream`, { headers: { authorization: `Bearer ${gateway.consoleKey}` }, signal: leaving.signal });
  checker.check({ method: 'GET', path: '/console/api/logs/stream', status: reply.status, type: reply.headers.get('content-type'), body: '' });
  leaving.abort();
});

test('no route was left out', () => {
  expect(checker.operations.filter((operation) => !checker.succeeded.has(operation) && !elsewhere.includes(operation))).toEqual([]);
});

test('an answer that is not what the document says is found', () => {
  const answered = (body: unknown) => () => checker.check({ method: 'GET', path: '/console/api/me', status: 200, type: 'application/json', body });
  expect(answered({ actor: 'a', username: null, role: 'admin', session: null })).not.toThrow();
  expect(answered({ actor: 'a', username: null, role: 'owner', session: null })).toThrow(/role/);
  expect(answered({ actor: 'a', username: null, role: 'admin', session: null, more: 1 })).toThrow(/additional/);
});
