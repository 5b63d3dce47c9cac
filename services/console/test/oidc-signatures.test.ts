/** Who answers for the provider's token endpoint but has none of its keys makes nobody an admin. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { openStorage, type Storage } from '@model-gateway/storage';
import { silent } from '../../../packages/storage/test/engines.ts';
import { api, type Harness, startConsole } from './harness.ts';
import { hmacSigned, jwkOf, type LyingProvider, makeKey, publicPemOf, type SigningKey, signed, startLyingProvider, unsigned } from './lying-provider.ts';

const clientSecret = 'provider-secret-of-thirty-two-bytes';
const redirectUrl = 'https://gateway.example.com/console/api/oidc/callback';

describe('the signature of an ID token', () => {
  let storage: Storage;
  let harness: Harness;
  let provider: LyingProvider;
  beforeEach(async () => {
    storage = openStorage({ mode: 'sqlite', file: ':memory:' }, { logger: silent });
    provider = await startLyingProvider();
    const oidc = {
      issuer: provider.issuer,
      clientId: 'console',
      clientSecret,
      redirectUrl,
      label: 'Corporate',
      scope: 'openid',
      roleClaim: 'groups',
      adminRoles: ['admins'],
      monitorRoles: ['staff'],
      memberRoles: [],
      allowedDomains: [],
    };
    harness = await startConsole(storage, { config: { oidc } });
    provider.claims = { preferred_username: 'ada', groups: ['admins'] };
  });
  afterEach(async () => {
    await harness.close();
    await storage.close();
    await provider.close();
  });

  /** Begins a sign-in and comes back with a code; gives where that leads. */
  async function signIn(headers: Record<string, string> = {}): Promise<string> {
    const begun = await fetch(`${harness.url}${api}/oidc/start`, { redirect: 'manual', headers });
    const location = begun.headers.get('location') ?? '';
    if (!location.startsWith(provider.issuer)) return location;
    const { searchParams } = new URL(location);
    provider.nonce = searchParams.get('nonce') ?? '';
    const cookie = begun.headers.getSetCookie()[0]!.split(';')[0]!;
    const back = await fetch(`${harness.url}${api}/oidc/callback?code=c&state=${searchParams.get('state')}`, { redirect: 'manual', headers: { cookie } });
    return back.headers.get('location') ?? '';
  }
  const signsIn = expect.stringMatching(/^\/console\/#sign_in_code=[\w-]{43}$/);
  const fails = '/console/#sign_in_fault=failed';

  const own = () => provider.keys[0] as SigningKey;
  const stranger = makeKey('stranger');
  const lies: [string, (claims: Record<string, unknown>) => string, object?][] = [
    ['none', (claims) => unsigned(claims)],
    ['none, which the provider says it supports', (claims) => unsigned(claims), { id_token_signing_alg_values_supported: ['none', 'RS256'] }],
    ['None, in another case', (claims) => unsigned(claims, { alg: 'None' }), { id_token_signing_alg_values_supported: ['None', 'RS256'] }],
    ['a signature that is left out', (claims) => signed(claims, own()).replace(/[^.]*$/, '')],
    ['a foreign key under its own name', (claims) => signed(claims, stranger)],
    ['a foreign key under the name of ours', (claims) => signed(claims, stranger, { kid: 'first' })],
    ['a foreign key without a name', (claims) => signed(claims, stranger, { kid: undefined })],
    ['a foreign key brought along as jwk', (claims) => signed(claims, stranger, { jwk: jwkOf(stranger) })],
    ['a foreign key brought along as jwk, under the name of ours', (claims) => signed(claims, stranger, { kid: 'first', jwk: jwkOf(stranger) })],
    ['a foreign key by jku', (claims) => signed(claims, stranger, { jku: 'https://evil.test/jwks' })],
    ['HS256 with the client secret', (claims) => hmacSigned(claims, clientSecret)],
    [
      'HS256 with the client secret, which the provider says it supports',
      (claims) => hmacSigned(claims, clientSecret),
      { id_token_signing_alg_values_supported: ['RS256', 'HS256'] },
    ],
    ['HS256 with the public key', (claims) => hmacSigned(claims, publicPemOf(own()), { kid: 'first' })],
    [
      'HS256 with the public key, which the provider says it supports',
      (claims) => hmacSigned(claims, publicPemOf(own()), { kid: 'first' }),
      { id_token_signing_alg_values_supported: ['RS256', 'HS256'] },
    ],
    [
      'claims changed after signing',
      (claims) => signed({ ...claims, groups: ['staff'] }, own()).replace(/\.[^.]*\./, `.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.`),
    ],
    ['issued in an hour', (claims) => signed({ ...claims, iat: Number(claims['iat']) + 3600, exp: Number(claims['iat']) + 7200 }, own())],
    ['expired', (claims) => signed({ ...claims, iat: Number(claims['iat']) - 7200, exp: Number(claims['iat']) - 3600 }, own())],
    ['of another issuer', (claims) => signed({ ...claims, iss: 'https://evil.test' }, own())],
    ['for another client', (claims) => signed({ ...claims, aud: 'other' }, own())],
    ['of another sign-in', (claims) => signed({ ...claims, nonce: 'another' }, own())],
  ];
  test.each(lies)('%s: nobody is signed in', async (_what, token, metadata = {}) => {
    provider.metadata = metadata;
    provider.token = token;
    expect(await signIn()).toBe(fails);
    expect((await harness.call('GET', `${api}/users`)).body.total).toBe(0);
  });

  test('a proper signature signs in, with RSA and with an elliptic curve, and with a clock a little ahead', async () => {
    expect(await signIn()).toEqual(signsIn);
    provider.token = (claims) => signed({ ...claims, iat: Number(claims['iat']) + 20 }, own());
    expect(await signIn()).toEqual(signsIn);
  });

  test('an elliptic curve that the provider names signs in', async () => {
    provider.keys = [makeKey('curve', 'ES256')];
    provider.metadata = { id_token_signing_alg_values_supported: ['ES256'] };
    expect(await signIn()).toEqual(signsIn);
  });

  test('a key that the provider takes up is known at once, and one that it gives up is not believed any more', async () => {
    expect(await signIn()).toEqual(signsIn);
    const [first] = provider.keys as [SigningKey];
    const next = makeKey('next');
    provider.keys = [first, next];
    provider.token = (claims) => signed(claims, next);
    expect(await signIn()).toEqual(signsIn);
    provider.keys = [next];
    expect(await signIn()).toEqual(signsIn);
    provider.token = (claims) => signed(claims, first);
    expect(await signIn()).toBe(fails);
    // Under the old name too.
    const again = makeKey('next');
    provider.keys = [again];
    provider.token = (claims) => signed(claims, again);
    expect(await signIn()).toEqual(signsIn);
  });

  test('a role claim that is a text is one value', async () => {
    for (const groups of ['Sales admins', 'admins,staff', ' admins', 'staff admins']) {
      provider.claims = { preferred_username: 'ada', groups };
      expect([groups, await signIn()]).toEqual([groups, '/console/#sign_in_fault=refused']);
    }
    provider.claims = { preferred_username: 'ada', groups: 'admins' };
    expect(await signIn()).toEqual(signsIn);
    expect((await harness.call('GET', `${api}/users/ada`)).body.role).toBe('admin');
  });

  test('the address to come back to is the one of the settings, whatever Host the request names', async () => {
    const begun = await fetch(`${harness.url}${api}/oidc/start`, { redirect: 'manual' });
    expect(new URL(begun.headers.get('location') ?? '').searchParams.get('redirect_uri')).toBe(redirectUrl);
    const { request } = await import('node:http');
    const location = await new Promise<string>((resolve, reject) => {
      request(`${harness.url}${api}/oidc/start`, { headers: { host: 'evil.test', 'x-forwarded-host': 'evil.test' } }, (reply) => {
        reply.resume();
        resolve(reply.headers.location ?? '');
      })
        .on('error', reject)
        .end();
    });
    expect(new URL(location).searchParams.get('redirect_uri')).toBe(redirectUrl);
  });
});
