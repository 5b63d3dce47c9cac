/** Logins by a code for a device, in RFC 8628's own field names at a real OAuth server, and by the real clock at a vendor who counts the seconds. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { loadConfig } from '@model-gateway/config';
import { openStorage, type Storage } from '@model-gateway/storage';
import { silent } from '../../../packages/storage/test/engines.ts';
import { until } from '../../../tests/support/gateway.ts';
import { api, type Harness, startConsole } from './harness.ts';
import { clientSecret, type OAuthServer, oauthSettings, startOAuthServer, visitPages } from './oauth-server.ts';
import { type SsoVendor, startSsoVendor } from './sso-vendor.ts';

let storage: Storage;
let harness: Harness;
/** What the gateway's clock is ahead of the real one, ms. */
let ahead: number;
beforeEach(async () => {
  ahead = 0;
  const now = () => Date.now() + ahead;
  storage = openStorage({ mode: 'sqlite', file: ':memory:' }, { logger: silent, now });
  const { profiles } = loadConfig({ env: { CONFIG_FILE: '/dev/null' } }).sso;
  harness = await startConsole(storage, { deps: { now, sso: { profiles: { ...profiles, alpha_user: { enabled: true } } } } });
});
afterEach(async () => {
  await harness.close();
  await storage.close();
});
const call = (method: string, path: string, body?: unknown) => harness.call(method, `${api}/${path}`, body);
const look = async (id: string) => (await call('GET', `sso-credentials/login/${id}`)).body;

describe('at a real OAuth server', () => {
  let oauth: OAuthServer;
  beforeAll(async () => {
    oauth = await startOAuthServer();
  });
  afterAll(() => oauth.close());

  const begin = async (name: string, clientId = 'agent') => {
    const settings = oauthSettings(oauth, clientId);
    const { status, body } = await call('POST', 'sso-credentials/login', { name, profile: 'alpha_user', flow: 'device', settings, upstream: { name } });
    expect([status, body.status]).toEqual([201, 'pending']);
    return body as { id: string; user_code: string; verification_uri_complete: string; interval_ms: number };
  };

  test('pending three times, then done; the login is renewed, in the names of the RFC throughout', async () => {
    const login = await begin('device');
    expect(login.verification_uri_complete).toContain(login.user_code);
    // The server names no interval: five seconds it is.
    expect(login.interval_ms).toBe(5_000);
    for (let tries = 0; tries < 3; tries++) {
      ahead += 5_000;
      expect((await look(login.id)).status).toBe('pending');
    }
    await visitPages(login.verification_uri_complete, 'confirm');
    ahead += 5_000;
    expect(await look(login.id)).toMatchObject({ status: 'done', credential: 'device', upstream: 'device' });
    expect((await call('GET', 'sso-credentials/device')).body).toMatchObject({ state: 'ok', account: 'ada' });
    expect((await call('POST', 'sso-credentials/device/refresh')).body).toMatchObject({ state: 'ok', account: 'ada' });
    const device = ['client_id', 'device_code', 'grant_type'];
    expect(oauth.asked).toEqual([device, device, device, device, ['client_id', 'grant_type', 'refresh_token']]);
  });

  test('a client that has a secret sends it with each question, the one for the code included', async () => {
    const settings = { ...oauthSettings(oauth, 'confidential'), client_secret: clientSecret };
    const begun = await call('POST', 'sso-credentials/login', { name: 'confidential', profile: 'alpha_user', flow: 'device', settings });
    expect([begun.status, begun.body.error?.message]).toEqual([201, undefined]);
    await visitPages(begun.body.verification_uri_complete, 'confirm');
    ahead += 5_000;
    expect(await look(begun.body.id)).toMatchObject({ status: 'done', credential: 'confidential' });
    expect((await call('POST', 'sso-credentials/confidential/refresh')).body).toMatchObject({ state: 'ok' });
  });

  test('denied by the person, and too late: each is said, and nothing is kept', async () => {
    const denied = await begin('denied');
    await visitPages(denied.verification_uri_complete, 'abort');
    ahead += 5_000;
    expect(await look(denied.id)).toMatchObject({ status: 'failed', error: 'The vendor refused (access_denied).' });
    const late = await begin('late', 'hasty');
    // The server gave it one second, and so does the gateway.
    ahead += 5_000;
    const gone = await call('GET', `sso-credentials/login/${late.id}`);
    expect([gone.status, gone.body.error.message]).toEqual([404, expect.stringContaining('its code expired')]);
    for (const name of ['denied', 'late']) expect((await call('GET', `sso-credentials/${name}`)).status).toBe(404);
  });
});

describe('at a vendor who counts the seconds', () => {
  let vendor: SsoVendor;
  beforeEach(async () => {
    vendor = await startSsoVendor();
  });
  afterEach(() => vendor.close());

  test('however often somebody looks, the vendor is asked once an interval, and five seconds later each time it says slow_down', async () => {
    const body = { name: 'ide', profile: 'cloudhost_ide', settings: { oidc_url: vendor.url } };
    const { id } = (await call('POST', 'sso-credentials/login', body)).body;
    const begun = performance.now();
    const pending = { status: 400, body: { __type: 'AuthorizationPendingException' } };
    vendor.answers = [pending, pending, { status: 400, body: { __type: 'com.amazonaws.ssooidc#SlowDownException' } }];
    await until(async () => (await look(id)).status === 'done', 'the login to end', 30_000);
    const at = vendor.times.filter((_time, index) => vendor.calls[index] === '/token');
    const gaps = at.map((time, index) => time - (at[index - 1] ?? begun));
    expect(gaps).toHaveLength(4);
    // Of two questions the first may have been longer on its way.
    for (const [index, least] of [1_000, 1_000, 1_000, 6_000].entries()) expect(gaps[index]).toBeGreaterThanOrEqual(least - 500);
  });
});
