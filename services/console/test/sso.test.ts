/** Credentials by login through the API: gates, what is pasted, custody, upstreams that use them, files. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { loadConfig } from '@model-gateway/config';
import { type SsoProfileId, ssoProfileIds } from '@model-gateway/contracts';
import { openStorage, type Storage } from '@model-gateway/storage';
import { silent } from '../../../packages/storage/test/engines.ts';
import { openTokens } from '../src/sso/tokens.ts';
import { api, type Harness, startConsole } from './harness.ts';
import { type SsoVendor, startSsoVendor } from './sso-vendor.ts';

const gates = loadConfig({ env: { CONFIG_FILE: '/dev/null' } }).sso;
const withGates = (open: Partial<Record<SsoProfileId, boolean>>) => ({
  profiles: Object.fromEntries(ssoProfileIds.map((id) => [id, { enabled: open[id] ?? gates.profiles[id].enabled }])) as typeof gates.profiles,
});
const sentence = 'is not an enabled login: enable it with [sso.profiles.<id>] enabled = true, and restart';

let storage: Storage;
let harness: Harness;
let vendor: SsoVendor;
const seen: string[] = [];
beforeEach(async () => {
  storage = openStorage({ mode: 'sqlite', file: ':memory:' }, { logger: silent });
  harness = await startConsole(storage);
  vendor = await startSsoVendor();
});
afterEach(async () => {
  seen.push(...harness.seen);
  await harness.close();
  await storage.close();
  await vendor.close();
});
const call = (method: string, path: string, body?: unknown) => harness.call(method, `${api}/${path}`, body);
const restart = async (open: Partial<Record<SsoProfileId, boolean>>): Promise<void> => {
  const { keyring } = harness;
  await harness.close();
  harness = await startConsole(storage, { keyring, deps: { sso: withGates(open) } });
};
const settings = () => ({ refresh_url: `${vendor.url}/refreshToken`, oidc_url: vendor.url });
const login = (over: object = {}) =>
  call('POST', 'sso-credentials/import', { name: 'login', profile: 'cloudhost_ide', settings: settings(), tokens: vendor.refreshToken, ...over });
const upstream = { name: 'ide', protocol: 'cloudhost_ide_streaming', base_url: 'https://ide.example.com', api_keys: [], sso_credential: 'login' };
const audited = async () => (await call('GET', 'audit-logs?entity_type=sso_credential')).body.items as { action: string; actor: string; diff: object }[];

describe('gates', () => {
  test('one kind of login is open unless somebody opens more, and a closed one is refused everywhere by one sentence', async () => {
    const { body } = await call('GET', 'sso-profiles');
    expect(body.items.map(({ id, experimental }: { id: string; experimental: boolean }) => [id, experimental])).toEqual([['cloudhost_ide', true]]);
    for (const profile of [...ssoProfileIds.slice(1), 'nonsense']) {
      const refused = await login({ profile });
      expect([refused.status, refused.body.error.details]).toEqual([422, [{ field: 'profile', message: sentence }]]);
      const file = await call('POST', 'import', { sso_credentials: [{ name: 'filed', profile, tokens: 'a-refresh-token' }] });
      expect([file.status, file.body.error.details]).toEqual([422, [{ field: 'sso_credentials.0.profile', message: sentence }]]);
    }
    expect((await call('GET', 'sso-credentials')).body.total).toBe(0);
  });

  test('gates that are opened open their kinds, with the ways in that each has', async () => {
    await restart(Object.fromEntries(ssoProfileIds.map((id) => [id, true])));
    const { items } = (await call('GET', 'sso-profiles')).body as { items: { id: string; flows: string[] }[] };
    expect(items.map(({ id, flows }) => [id, flows])).toEqual([
      ['cloudhost_ide', ['device', 'paste']],
      ['cloudhost_role', ['machine']],
      ['beta_workload', ['machine']],
      ['beta_user', ['code', 'paste']],
      ['alpha_workload', ['machine']],
      ['alpha_user', ['device', 'code', 'paste']],
      ['gamma_cloud', ['machine']],
      ['entra', ['machine']],
      ['editor_copilot', ['device', 'paste']],
    ]);
    const pasted = await login({ profile: 'cloudhost_role', settings: {} });
    expect([pasted.status, pasted.body.error.details[0].field]).toEqual([422, 'tokens']);
  });

  test('closing a gate takes its upstreams out of routing with the reason, opening it brings them back', async () => {
    await login();
    expect((await call('POST', 'upstreams', upstream)).status).toBe(201);
    await restart({ cloudhost_ide: false });
    for (let tries = 0; (await call('GET', 'upstreams/ide')).body.unavailable === null && tries < 100; tries++)
      await new Promise((done) => setTimeout(done, 20));
    expect((await call('GET', 'upstreams/ide')).body).toMatchObject({ unavailable: 'sso_profile_disabled', sso_credential: 'login', api_keys: [] });
    const shown = (await call('GET', 'sso-credentials/login')).body;
    expect([shown.enabled, shown.way_out]).toEqual([false, expect.stringContaining('[sso.profiles.cloudhost_ide] enabled = true')]);
    expect((await call('POST', 'sso-credentials/login/refresh')).status).toBe(422);
    // Other fields may be changed all the same.
    expect((await call('PATCH', 'upstreams/ide', { user_agent: 'x' })).status).toBe(200);
    await restart({});
    for (let tries = 0; (await call('GET', 'upstreams/ide')).body.unavailable !== null && tries < 100; tries++)
      await new Promise((done) => setTimeout(done, 20));
    expect((await call('GET', 'upstreams/ide')).body.unavailable).toBeNull();
  });
});

describe('custody', () => {
  test('a refresh token is used once, sealed, shown as a mask, and audited', async () => {
    const first = vendor.refreshToken;
    const made = await login({ account: 'ada@example.com', upstream: { name: 'ide' } });
    expect([made.status, made.body.upstream, made.body.upstream_error]).toEqual([201, 'ide', null]);
    expect(made.body.credential).toMatchObject({ state: 'ok', tokens: '********', account: 'ada@example.com', upstreams: ['ide'], way_out: null });
    expect(vendor.calls).toEqual(['/refreshToken']);
    expect(vendor.refreshToken).not.toBe(first);
    expect((await call('GET', 'upstreams/ide')).body).toMatchObject({ protocol: upstream.protocol, sso_credential: 'login', api_keys: [], unavailable: null });
    expect((await call('PATCH', 'sso-credentials/login', { description: 'of the team' })).body.description).toBe('of the team');
    expect((await call('POST', 'sso-credentials/login/refresh')).status).toBe(200);
    expect((await call('DELETE', 'sso-credentials/login')).body.error).toMatchObject({ code: 'in_use', details: [{ field: 'upstreams', message: 'ide' }] });
    expect((await call('DELETE', 'upstreams/ide')).status).toBe(204);
    expect((await call('DELETE', 'sso-credentials/login')).status).toBe(204);
    const mask = '********';
    expect((await audited()).map(({ action, actor, diff }) => [action, actor, (diff as { tokens?: string }).tokens])).toEqual([
      ['delete', 'secret_key', mask],
      ['rotate', 'secret_key', mask],
      ['update', 'secret_key', undefined],
      ['import', 'secret_key', mask],
    ]);
  });

  test('the name is taken, the account is another, the vendor refuses: nothing is lost and nothing is half there', async () => {
    await login({ account: 'ada' });
    expect((await login()).status).toBe(409);
    expect((await login({ replace: true, account: 'bob' })).status).toBe(409);
    const before = vendor.refreshToken;
    expect((await login({ replace: true, tokens: before })).status).toBe(201);
    expect((await audited())[0]?.action).toBe('rotate');
    const refused = await login({ name: 'other', tokens: before });
    expect([refused.status, refused.body.error.details[0].field]).toEqual([422, 'tokens']);
    expect((await call('GET', 'sso-credentials/other')).status).toBe(404);
  });

  test('an upstream has keys or a login, of its own protocol, that exists', async () => {
    await login();
    const fieldOf = async (body: object) => {
      const answer = await call('POST', 'upstreams', { ...upstream, ...body });
      return [answer.status, answer.body.error?.details[0].field];
    };
    expect(await fieldOf({ api_keys: [{ key: 'a-key' }] })).toEqual([422, 'sso_credential']);
    expect(await fieldOf({ sso_credential: 'nobody' })).toEqual([422, 'sso_credential']);
    expect(await fieldOf({ protocol: 'alpha' })).toEqual([422, 'protocol']);
    expect(await fieldOf({})).toEqual([201, undefined]);
    // Bound to the account: the entry stays when tokens are renewed and the upstream is changed.
    const keys = async () => (await storage.catalog.upstreams.find('ide'))?.document.api_keys;
    const bound = await keys();
    expect(bound).toMatchObject([{ sealed: '', weight: 1 }]);
    await call('POST', 'sso-credentials/login/refresh');
    await call('PATCH', 'upstreams/ide', { user_agent: 'x' });
    expect(await keys()).toEqual(bound);
    await call('PATCH', 'upstreams/ide', { sso_credential: null, api_keys: [{ key: 'a-key-of-its-own' }] });
    expect((await call('GET', 'upstreams/ide')).body).toMatchObject({ sso_credential: null, api_keys: [{ key: '********' }] });
  });

  test('an admin ends a login: its tokens are gone, its upstream is out of routing', async () => {
    await login({ upstream: { name: 'ide' } });
    expect((await call('PATCH', 'sso-credentials/login', { state: 'revoked' })).body).toMatchObject({ state: 'revoked', tokens: null });
    expect((await call('GET', 'upstreams/ide')).body.unavailable).toBe('sso_revoked');
    expect((await storage.ssoCredentials.find('login'))?.tokens).toBeNull();
    expect((await login({ replace: true })).status).toBe(201);
    expect((await call('GET', 'upstreams/ide')).body.unavailable).toBeNull();
  });

  test('invalid_grant takes the upstream out of routing, is audited, and a new login brings it back', async () => {
    await login({ upstream: { name: 'ide' } });
    vendor.answers = [{ status: 400, body: { error: 'invalid_grant' } }];
    const refused = await call('POST', 'sso-credentials/login/refresh');
    expect([refused.status, refused.body.error.message]).toEqual([502, 'The vendor refused (invalid_grant).']);
    for (let tries = 0; (await call('GET', 'upstreams/ide')).body.unavailable === null && tries < 100; tries++)
      await new Promise((done) => setTimeout(done, 20));
    expect((await call('GET', 'upstreams/ide')).body.unavailable).toBe('sso_needs_login');
    expect((await call('GET', 'sso-credentials/login')).body).toMatchObject({ state: 'needs_login', way_out: expect.stringContaining('Log in again') });
    expect((await audited())[0]).toMatchObject({ actor: 'gateway', action: 'rotate', diff: { result: 'failed' } });
    expect((await login({ replace: true })).status).toBe(201);
    expect((await call('GET', 'upstreams/ide')).body.unavailable).toBeNull();
  });

  test('what is pasted may be a file of another client, or a refresh token; anything else is told what was expected', async () => {
    const file = JSON.stringify({
      tokens: { accessToken: 'CANARY-of-file', refreshToken: vendor.refreshToken, expiresAt: '2999-01-01T00:00:00Z', region: 'eu-west-1' },
    });
    const made = await login({ tokens: file });
    expect(made.body.credential).toMatchObject({ settings: { region: 'eu-west-1' }, expires_at: '2999-01-01T00:00:00.000Z' });
    expect(vendor.calls).toEqual([]);
    for (const wrong of ['{"nothing": "CANARY-here"}', '{CANARY', 'CANARY with spaces', 'https://vendor.example/callback?code=CANARY']) {
      const refused = await login({ name: 'wrong', tokens: wrong });
      expect([refused.status, refused.body.error.details[0].field]).toEqual([422, 'tokens']);
      expect(refused.text).toContain('expected the JSON');
    }
    expect((await login({ name: '..' })).body.error.details[0].field).toBe('name');
    const insecure = await login({ name: 'wrong', settings: { refresh_url: 'http://vendor.example/token' } });
    expect(insecure.body.error.details).toEqual([{ field: 'settings.refresh_url', message: 'must be an https address, or http on this machine' }]);
    expect((await login({ name: 'wrong', settings: { nonsense: 'x' } })).body.error.details[0].field).toBe('settings.nonsense');
  });
});

test('a file names credentials, never their tokens, and can be taken in again', async () => {
  await login({ upstream: { name: 'ide' } });
  const file = (await call('GET', 'export')).body;
  expect(file.sso_credentials).toEqual([
    { name: 'login', profile: 'cloudhost_ide', description: '', settings: settings(), account: null, tokens: '${SSO_CREDENTIAL_LOGIN}' },
  ]);
  expect(file.upstreams[0]).toMatchObject({ name: 'ide', sso_credential: 'login', api_keys: [] });
  const again = await call('POST', 'import', file);
  expect([again.status, again.body.unchanged.sso_credentials, again.body.unchanged.upstreams]).toEqual([200, ['login'], ['ide']]);
  // In another gateway it waits for a login.
  await call('DELETE', 'upstreams/ide');
  await call('DELETE', 'sso-credentials/login');
  expect((await call('POST', 'import?dry_run=true', file)).body.created.sso_credentials).toEqual(['login']);
  expect((await call('GET', 'sso-credentials/login')).status).toBe(404);
  expect((await call('POST', 'import', file)).status).toBe(200);
  expect((await call('GET', 'sso-credentials/login')).body).toMatchObject({ state: 'needs_login', tokens: null });
  expect((await call('GET', 'upstreams/ide')).body.unavailable).toBe('sso_needs_login');
  const wrong = await call('POST', 'import', {
    sso_credentials: [{ name: 'half', profile: 'cloudhost_ide' }],
    upstreams: [{ ...upstream, name: 'x', sso_credential: 'nobody' }],
  });
  expect(wrong.status).toBe(422);
  expect((await call('GET', 'sso-credentials/half')).status).toBe(404);
});

test('its description and settings are changed by themselves; a refresh in between is no conflict for whoever named no revision', async () => {
  await login();
  const before = (await call('GET', 'sso-credentials/login')).body;
  const change = (body: object) => call('PATCH', 'sso-credentials/login', body);
  expect((await change({ settings: { region: 'eu-west-1' } })).body.settings).toEqual({ ...settings(), region: 'eu-west-1' });
  expect((await change({ settings: { region: null } })).body.settings).toEqual(settings());
  expect((await change({ settings: { refresh_url: 'http://vendor.example/' } })).body.error.details[0].field).toBe('settings.refresh_url');
  const stale = await harness.call('PATCH', `${api}/sso-credentials/login`, { description: 'x' }, { 'if-match': `"${before.etag}"` });
  expect(stale.status).toBe(412);
  // Refreshes and changes at the same time.
  const all = await Promise.all([call('POST', 'sso-credentials/login/refresh'), change({ description: 'one' }), change({ settings: { region: 'eu-west-3' } })]);
  expect(all.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect((await call('GET', 'sso-credentials/login')).body).toMatchObject({ description: 'one', state: 'ok', settings: { region: 'eu-west-3' } });
  expect([vendor.isDead(), (await call('POST', 'sso-credentials/login/refresh')).status]).toEqual([false, 200]);
});

test('it is changed as every resource is: a reply may be sent back, null resets, and the record says what was before and after', async () => {
  const { credential } = (await login()).body;
  const change = (body: object) => call('PUT', 'sso-credentials/login', body);
  const faultsOf = async (body: object) => (await change(body)).body.error.details.map(({ field }: { field: string }) => field);
  const same = await change(credential);
  expect([same.status, same.body]).toEqual([200, credential]);
  expect((await change({})).body.etag).toBe(credential.etag);
  expect((await change({ ...credential, description: 'of the team' })).body).toMatchObject({ description: 'of the team', tokens: '********', state: 'ok' });
  expect((await change({ ...credential, description: 'of another' })).status).toBe(412);
  expect((await change({ description: null, settings: { region: 'eu-west-1' } })).body).toMatchObject({ description: '' });
  expect(await faultsOf({ name: 'x', profile: 'entra', account: 'x', tokens: 'a-refresh-token' })).toEqual(['name', 'profile', 'account', 'tokens']);
  expect(await faultsOf({ bogus: 1 })).toEqual(['bogus']);
  expect((await change({ state: 'revoked' })).body).toMatchObject({ state: 'revoked', tokens: null });
  expect((await change({ settings: null })).body.settings).toEqual({});
  const records = (await audited()).filter(({ action }) => action === 'update').map(({ diff }) => diff);
  const located = { ...settings(), region: 'eu-west-1' };
  expect(records.reverse()).toEqual([
    { description: { before: '', after: 'of the team' } },
    { description: { before: 'of the team', after: '' }, settings: { before: settings(), after: located } },
    { state: { before: 'ok', after: 'revoked' }, tokens: { before: '********', after: null } },
    { settings: { before: located, after: {} } },
  ]);
});

describe('a file', () => {
  const file = (over: object = {}) => ({ sso_credentials: [{ name: 'filed', profile: 'cloudhost_ide', settings: settings(), ...over }] });

  test('that is only tried, or refused, has used no token, and leaves what is there as it was', async () => {
    const tried = await call('POST', 'import?dry_run=true', file({ tokens: vendor.refreshToken }));
    expect([tried.status, tried.body.created.sso_credentials, tried.body.revision]).toEqual([200, ['filed'], null]);
    const refused = await call('POST', 'import', { ...file({ tokens: vendor.refreshToken }), models: [{ name: 'm', upstream: 'nobody' }] });
    expect(refused.status).toBe(422);
    await login();
    const broken = { sso_credentials: [{ name: 'login', profile: 'cloudhost_ide', description: 'of a file', settings: settings() }], models: [{ name: 'm' }] };
    expect((await call('POST', 'import', broken)).status).toBe(422);
    expect((await call('GET', 'sso-credentials/login')).body.description).toBe('');
    expect((await call('GET', 'sso-credentials/filed')).status).toBe(404);
    expect(vendor.calls).toEqual(['/refreshToken']);
  });

  test('of credentials alone is kept, and audited once', async () => {
    const made = await call('POST', 'import', file({ tokens: vendor.refreshToken }));
    expect([made.status, made.body.created.sso_credentials, typeof made.body.revision]).toEqual([200, ['filed'], 'number']);
    expect((await call('POST', 'import', file({ description: 'changed' }))).body.updated.sso_credentials).toEqual(['filed']);
    expect((await call('POST', 'import', file({ description: 'changed' }))).body).toMatchObject({ unchanged: { sso_credentials: ['filed'] }, revision: null });
    expect((await audited()).filter(({ actor }) => actor !== 'gateway').map(({ action, diff }) => [action, diff])).toEqual([
      ['update', { flow: 'file', description: { before: '', after: 'changed' } }],
      ['import', { profile: 'cloudhost_ide', account: null, flow: 'file', tokens: '********' }],
    ]);
  });
});

test('a file that leaves out what a login needs is refused, whether the credential is there or not', async () => {
  await restart({ alpha_user: true });
  const file = (given: object) => ({ sso_credentials: [{ name: 'agent', profile: 'alpha_user', settings: given }] });
  const missing = [{ field: 'sso_credentials.0.settings.client_id', message: 'is required' }];
  expect((await call('POST', 'import', file({}))).body.error.details).toEqual(missing);
  expect((await call('POST', 'import', file({ client_id: 'ours' }))).status).toBe(200);
  expect((await call('POST', 'import', file({}))).body.error.details).toEqual(missing);
  expect((await call('GET', 'sso-credentials/agent')).body.settings).toEqual({ client_id: 'ours' });
});

test('a file changes the secret settings of a login that is there, and keeps those that it leaves out', async () => {
  await restart({ alpha_user: true, entra: true });
  const machine = { source: 'client_secret', tenant_id: 't', client_id: 'c', base_url: 'https://models.example.com', token_url: 'http://127.0.0.1:9/token' };
  const file = (secret: object) => ({
    sso_credentials: [
      { name: 'agent', profile: 'alpha_user', settings: { client_id: 'ours', ...secret } },
      { name: 'machine', profile: 'entra', settings: { ...machine, ...secret } },
    ],
  });
  const secretsOf = async (name: string) => {
    const row = (await storage.ssoCredentials.find(name))!;
    return openTokens(harness.keyring, row.id, row.tokens!).secrets['client_secret'];
  };
  const both = ['agent', 'machine'];
  expect((await call('POST', 'import', file({ client_secret: 'first' }))).body.created.sso_credentials).toEqual(both);
  expect((await call('POST', 'import', file({ client_secret: 'first' }))).body.unchanged.sso_credentials).toEqual(both);
  expect((await call('POST', 'import', file({}))).body.unchanged.sso_credentials).toEqual(both);
  const changed = await call('POST', 'import', file({ client_secret: 'second' }));
  expect([changed.status, changed.body.updated.sso_credentials]).toEqual([200, both]);
  expect(await Promise.all(both.map(secretsOf))).toEqual(['second', 'second']);
  const [record] = (await audited()).filter(({ action, actor }) => action === 'update' && actor !== 'gateway');
  expect(record?.diff).toEqual({ flow: 'file', 'settings.client_secret': { before: '********', after: '********' } });
  // What was revoked forgot its secret, and no file brings it back.
  await call('PATCH', 'sso-credentials/agent', { state: 'revoked' });
  expect((await call('POST', 'import', file({ client_secret: 'third' }))).body.unchanged.sso_credentials).toEqual(['agent']);
  expect((await call('GET', 'sso-credentials/agent')).body).toMatchObject({ state: 'revoked', tokens: null });
  const unfilled = await call('POST', 'import', file({ client_secret: '${CLIENT_SECRET}' }));
  expect([unfilled.status, unfilled.body.error.details[0].field]).toEqual([422, 'sso_credentials.0.settings.client_secret']);
});

test('a file does not change the secret settings of a login that is being refreshed: its new tokens would be lost', async () => {
  await restart({ alpha_user: true });
  const file = (client_secret: string) => ({ sso_credentials: [{ name: 'agent', profile: 'alpha_user', settings: { client_id: 'ours', client_secret } }] });
  expect((await call('POST', 'import', file('first'))).status).toBe(200);
  const row = (await storage.ssoCredentials.find('agent'))!;
  await storage.ssoCredentials.update(row.id, row.version, { refreshingUntil: Date.now() + 60_000 });
  const refused = await call('POST', 'import', file('second'));
  expect([refused.status, refused.body.error.message]).toEqual([409, 'The credential agent is being refreshed: try again in a moment.']);
  expect((await call('POST', 'import', file('first'))).body.unchanged.sso_credentials).toEqual(['agent']);
});

test('no token stands in an answer, a log line or a row', async () => {
  await login({ upstream: { name: 'ide' } });
  await call('POST', 'sso-credentials/login/refresh');
  await call('GET', 'history?limit=20');
  await call('GET', 'audit-logs?limit=100');
  const rows = JSON.stringify([await storage.ssoCredentials.all(), await storage.catalog.load()]);
  const texts = [...seen, ...harness.seen, rows].join('\n');
  for (const secret of vendor.secrets) expect(texts.includes(secret) ? secret.slice(0, 16) : '').toBe('');
  expect(texts).not.toContain('CANARY');
});
