/** The same logins at a second OAuth server by other hands (oauth2-mock-server): what holds at one server alone would be its habit, not the protocol. */
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { loadConfig } from '@model-gateway/config';
import { openStorage, type Storage } from '@model-gateway/storage';
import { Events, OAuth2Server } from 'oauth2-mock-server';
import { silent } from '../../../packages/storage/test/engines.ts';
import { certificateSettings, startCertificateVendor } from './certificate-vendor.ts';
import { api, type Harness, startConsole } from './harness.ts';

let storage: Storage;
let harness: Harness;
let server: OAuth2Server;
let issuer: string;
/** What the token endpoint was asked, and what it answers instead of what it would. */
let asked: Record<string, string>[];
let instead: { statusCode: number; body: object } | undefined;
beforeEach(async () => {
  server = new OAuth2Server();
  await server.issuer.keys.generate('RS256');
  await server.start(0, '127.0.0.1');
  issuer = server.issuer.url!;
  asked = [];
  instead = undefined;
  server.service.on(Events.BeforeResponse, (response: { statusCode: number; body: object }, request: { body: Record<string, string> }) => {
    asked.push(request.body);
    if (instead) Object.assign(response, instead);
  });
  storage = openStorage({ mode: 'sqlite', file: ':memory:' }, { logger: silent });
  const { profiles } = loadConfig({ env: { CONFIG_FILE: '/dev/null' } }).sso;
  const open = { alpha_user: { enabled: true }, entra: { enabled: true }, alpha_workload: { enabled: true } };
  harness = await startConsole(storage, { deps: { sso: { profiles: { ...profiles, ...open } } } });
});
afterEach(async () => {
  await harness.close();
  await storage.close();
  await server.stop();
});
const call = (method: string, path: string, body?: unknown) => harness.call(method, `${api}/${path}`, body);

test('in a browser with PKCE, renewed, refused for now, and refused for good', async () => {
  const settings = { client_id: 'agent', issuer, authorize_url: `${issuer}/authorize`, token_url: `${issuer}/token`, scopes: 'openid offline_access' };
  const redirect = 'http://127.0.0.1:4455/callback';
  const begun = await call('POST', 'sso-credentials/login', { name: 'user', profile: 'alpha_user', flow: 'code', settings, redirect_url: redirect });
  const back = (await fetch(begun.body.authorize_url, { redirect: 'manual' })).headers.get('location')!;
  expect(back).toMatch(/^http:\/\/127\.0\.0\.1:4455\/callback\?/);
  const done = await call('POST', `sso-credentials/login/${begun.body.id}/complete`, { redirect_url: back });
  expect([done.status, done.body.status]).toEqual([200, 'done']);
  expect((await call('GET', 'sso-credentials/user')).body).toMatchObject({ state: 'ok', account: 'johndoe' });
  expect((await call('POST', 'sso-credentials/user/refresh')).body).toMatchObject({ state: 'ok', account: 'johndoe' });
  expect(asked.map(({ grant_type }) => grant_type)).toEqual(['authorization_code', 'refresh_token']);
  instead = { statusCode: 503, body: { error: 'temporarily_unavailable' } };
  expect((await call('POST', 'sso-credentials/user/refresh')).status).toBe(502);
  expect((await call('GET', 'sso-credentials/user')).body).toMatchObject({ state: 'ok', reason: 'The vendor refused (temporarily_unavailable).' });
  instead = { statusCode: 400, body: { error: 'invalid_grant', error_description: 'CANARY words of the vendor' } };
  expect((await call('POST', 'sso-credentials/user/refresh')).status).toBe(502);
  expect((await call('GET', 'sso-credentials/user')).body).toMatchObject({ state: 'needs_login', reason: 'The vendor refused (invalid_grant).' });
  expect(harness.seen.join('\n')).not.toContain('CANARY');
});

test('the secret of an application, by openid-client: a token for each exchange, and a refusal that names its code alone', async () => {
  const settings = { tenant_id: 't', client_id: 'app', client_secret: 'CANARY-secret', token_url: `${issuer}/token`, base_url: 'https://azure.example' };
  const made = await call('POST', 'sso-credentials/import', { name: 'azure', profile: 'entra', settings });
  expect([made.status, made.body.credential]).toEqual([201, expect.objectContaining({ state: 'ok', account: 't/app', tokens: '********' })]);
  expect(asked).toMatchObject([{ grant_type: 'client_credentials', scope: 'https://cognitiveservices.azure.com/.default' }]);
  instead = { statusCode: 401, body: { error: 'invalid_client', error_description: 'CANARY words' } };
  const refused = await call('POST', 'sso-credentials/azure/refresh');
  expect([refused.status, refused.body.error.message]).toEqual([502, 'The vendor refused (invalid_client).']);
  expect(harness.seen.join('\n')).not.toContain('CANARY');
});

test('the upstream of a certificate’s login calls with the same certificate; its key is sealed in either place and shown in none', async () => {
  const vendor = await startCertificateVendor();
  const settings = certificateSettings(vendor);
  const made = await call('POST', 'sso-credentials/import', { name: 'certified', profile: 'alpha_workload', settings, upstream: { name: 'certified' } });
  await vendor.close();
  expect([made.status, made.body.upstream_error, made.body.credential.account]).toEqual([201, null, 'sa_1']);
  expect(made.body.credential.settings).toMatchObject({ client_cert: vendor.client.cert });
  const shown = (await call('GET', 'upstreams/certified')).body;
  expect(shown).toMatchObject({
    base_url: 'https://mtls.api.openai.com/v1',
    tls: { client_cert: vendor.client.cert, client_key: '********', ca: vendor.server.cert },
  });
  const kept = JSON.stringify([await storage.ssoCredentials.all(), await storage.catalog.load(), await call('GET', 'export'), harness.seen]);
  const secret = vendor.client.key.split('\n')[1]!;
  expect([secret.length > 30, kept.includes(secret), kept.includes('CANARY')]).toEqual([true, false, false]);
});
