/** Logins that begin here: a device's code in the SSO-OIDC shape, and a browser's way at a real OAuth server. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { loadConfig } from '@model-gateway/config';
import { openStorage, type Storage } from '@model-gateway/storage';
import { silent } from '../../../packages/storage/test/engines.ts';
import { api, type Harness, startConsole } from './harness.ts';
import { type OAuthServer, oauthSettings, startOAuthServer, visitPages } from './oauth-server.ts';
import { type SsoVendor, startSsoVendor } from './sso-vendor.ts';

let storage: Storage;
let harness: Harness;
let vendor: SsoVendor;
let now: number;
beforeEach(async () => {
  now = Date.now();
  storage = openStorage({ mode: 'sqlite', file: ':memory:' }, { logger: silent, now: () => now });
  const { profiles } = loadConfig({ env: { CONFIG_FILE: '/dev/null' } }).sso;
  harness = await startConsole(storage, { deps: { now: () => now, sso: { profiles: { ...profiles, alpha_user: { enabled: true } } } } });
  vendor = await startSsoVendor();
});
afterEach(async () => {
  await harness.close();
  await storage.close();
  await vendor.close();
});
const call = (method: string, path: string, body?: unknown) => harness.call(method, `${api}/${path}`, body);

describe('by a code for a device', () => {
  const begin = async () => {
    const body = { name: 'ide', profile: 'cloudhost_ide', settings: { oidc_url: vendor.url }, upstream: { name: 'ide' } };
    const { status, body: login } = await call('POST', 'sso-credentials/login', body);
    expect([status, login.status, login.user_code, login.verification_uri_complete]).toEqual([
      201,
      'pending',
      'WDJB-MJHT',
      'https://device.example/?user_code=WDJB-MJHT',
    ]);
    return login.id as string;
  };
  const pending = { status: 400, body: { __type: 'com.amazonaws#AuthorizationPendingException' } };
  const asked = () => vendor.calls.filter((path) => path === '/token').length;
  const look = async (id: string) => (await call('GET', `sso-credentials/login/${id}`)).body;

  test('pending, slowed down, pending, done: asked no faster than the vendor allows', async () => {
    const id = await begin();
    vendor.answers = [pending, { status: 400, body: { error: 'slow_down' } }, pending];
    expect([(await look(id)).status, asked()]).toEqual(['pending', 0]);
    now += 1_000;
    await Promise.all([look(id), look(id), look(id)]);
    expect(asked()).toBe(1);
    now += 1_000;
    expect((await look(id)).interval_ms).toBe(6_000);
    now += 5_900;
    await look(id);
    expect(asked()).toBe(2);
    now += 100;
    await look(id);
    expect(asked()).toBe(3);
    now += 6_000;
    expect(await look(id)).toMatchObject({ status: 'done', credential: 'ide', upstream: 'ide', upstream_error: null });
    expect(await look(id)).toMatchObject({ status: 'done' });
    expect(asked()).toBe(4);
    // The client that was registered renews it.
    expect((await call('POST', 'sso-credentials/ide/refresh')).body.state).toBe('ok');
    expect((await call('GET', 'upstreams/ide')).body).toMatchObject({ sso_credential: 'ide', unavailable: null });
    for (const secret of vendor.secrets) expect(harness.seen.join('\n')).not.toContain(secret);
  });

  test.each([
    ['denied', { error: 'access_denied' }],
    ['expired', { __type: 'ExpiredTokenException' }],
  ])('%s: failed, and not asked again', async (_what, body) => {
    const id = await begin();
    vendor.answers = [{ status: 400, body }];
    now += 1_000;
    expect(await look(id)).toMatchObject({ status: 'failed', credential: null });
    now += 60_000;
    await look(id);
    expect(asked()).toBe(1);
  });

  test('a code that nobody entered in time is gone; the upstream may fail without costing the login', async () => {
    const late = await begin();
    now += 601_000;
    expect((await call('GET', `sso-credentials/login/${late}`)).status).toBe(404);
    await call('POST', 'upstreams', { name: 'ide', protocol: 'alpha', base_url: 'https://a.example', api_keys: [] });
    const id = await begin();
    now += 1_000;
    expect(await look(id)).toMatchObject({ status: 'done', credential: 'ide', upstream: null, upstream_error: expect.stringContaining('was kept') });
  });
});

describe('in a browser, at a real OAuth server', () => {
  let oauth: OAuthServer;
  beforeAll(async () => {
    oauth = await startOAuthServer();
  });
  afterAll(() => oauth.close());

  const begin = async (over: object = {}) => {
    return call('POST', 'sso-credentials/login', {
      name: 'user',
      profile: 'alpha_user',
      flow: 'code',
      settings: oauthSettings(oauth),
      redirect_url: 'http://127.0.0.1:4455/callback',
      ...over,
    });
  };
  const complete = (id: string, url: string) => call('POST', `sso-credentials/login/${id}/complete`, { redirect_url: url });

  test('a code with PKCE gives a login that is renewed, and is of one use', async () => {
    const { status, body } = await begin();
    expect([status, body.status]).toEqual([201, 'pending']);
    const url = await visitPages(body.authorize_url);
    expect(await complete(body.id, url)).toMatchObject({ status: 200, body: { status: 'done', credential: 'user' } });
    const shown = (await call('GET', 'sso-credentials/user')).body;
    expect(shown).toMatchObject({ state: 'ok', account: 'ada', tokens: '********' });
    expect((await call('POST', 'sso-credentials/user/refresh')).body).toMatchObject({ state: 'ok', account: 'ada' });
    // The same callback a second time.
    expect((await complete(body.id, url)).status).toBe(404);
    const code = new URL(url).searchParams.get('code')!;
    expect(harness.seen.join('\n')).not.toContain(code);
  });

  test('another state, another issuer, another place, no code: refused, and the login is still there', async () => {
    const { body } = await begin({ name: 'other' });
    const url = new URL(await visitPages(body.authorize_url));
    const changed = (change: (copy: URL) => void): string => {
      const copy = new URL(url);
      change(copy);
      return copy.href;
    };
    for (const wrong of [
      changed((copy) => copy.searchParams.set('state', 'another')),
      changed((copy) => copy.searchParams.delete('state')),
      changed((copy) => copy.searchParams.set('iss', 'https://evil.example')),
      changed((copy) => copy.searchParams.append('code', 'another')),
      changed((copy) => copy.searchParams.delete('code')),
      url.href.replace('127.0.0.1:4455', 'evil.example'),
      url.href.replace('/callback', '/elsewhere'),
      'code=alone',
    ]) {
      const refused = await complete(body.id, wrong);
      expect([refused.status, refused.body.error.details?.[0].field]).toEqual([422, 'redirect_url']);
    }
    expect((await complete(body.id, url.href)).status).toBe(200);
  });

  test('a refusal at the vendor says its word for it', async () => {
    const { body } = await begin({ name: 'refused' });
    const { searchParams } = new URL(body.authorize_url);
    const refusal = new URLSearchParams({ error: 'invalid_scope', error_description: 'a canary of the page', state: searchParams.get('state')! });
    const refused = await complete(body.id, `${searchParams.get('redirect_uri')}?${refusal}`);
    expect([refused.status, refused.body.error.message]).toEqual([502, 'The vendor refused the login (invalid_scope).']);
    expect(refused.text).not.toContain('canary');
  });

  test('the code of another login is worth nothing: the server holds it to the verifier that it was asked with', async () => {
    const [one, other] = [await begin({ name: 'one' }), await begin({ name: 'two' })];
    const stolen = new URL(await visitPages(one.body.authorize_url)).searchParams.get('code')!;
    const own = new URL(await visitPages(other.body.authorize_url));
    own.searchParams.set('code', stolen);
    const refused = await complete(other.body.id, own.href);
    expect([refused.status, refused.body.error.message]).toEqual([502, 'The vendor refused (invalid_grant).']);
    expect((await call('GET', 'sso-credentials/two')).status).toBe(404);
    // The login is over all the same: a code is tried once.
    expect((await complete(other.body.id, own.href)).status).toBe(404);
    for (const [name, value] of [
      ['code_challenge_method', 'S256'],
      ['response_type', 'code'],
    ] as const)
      expect(new URL(one.body.authorize_url).searchParams.get(name)).toBe(value);
    expect(harness.seen.join('\n')).not.toContain(stolen);
  });

  test('a callback that comes twice at once is completed once', async () => {
    const { body } = await begin({ name: 'twice' });
    const url = await visitPages(body.authorize_url);
    const answers = await Promise.all([complete(body.id, url), complete(body.id, url), complete(body.id, url)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404]);
  });

  test('the browser is sent nowhere but to this machine, and a name is taken before anybody logs in', async () => {
    for (const elsewhere of [
      'https://evil.example/callback',
      'http://127.0.0.1.evil.example/callback',
      'http://127.0.0.1@evil.example/callback',
      '//evil.example/callback',
      'javascript:alert(1)',
      'https://127.0.0.1:4455/callback',
    ]) {
      const refused = await begin({ name: 'third', redirect_url: elsewhere });
      expect([elsewhere, refused.status, refused.body.error.details[0].field]).toEqual([elsewhere, 422, 'redirect_url']);
    }
    const { body } = await begin({ name: 'third' });
    await complete(body.id, await visitPages(body.authorize_url));
    expect((await begin({ name: 'third' })).status).toBe(409);
    expect((await begin({ name: 'third', replace: true })).status).toBe(201);
  });
});
