/** What an OpenID provider says of itself may change while the console runs, and clocks may be apart. */
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createKeyring, generateMasterKey } from '@model-gateway/secrets';
import { freePort } from '../../../tests/support/free-port.ts';
import { createOidc, type Oidc } from '../src/sign-in/oidc.ts';
import type { OidcRefusal } from '../src/sign-in/oidc-identity.ts';
import { type LyingProvider, signed, startLyingProvider } from './lying-provider.ts';

let provider: LyingProvider;
let oidc: Oidc;
/** By how much the console's clock is ahead. */
let later: number;
beforeEach(async () => {
  provider = await startLyingProvider();
  later = 0;
  const settings = {
    issuer: provider.issuer,
    clientId: 'console',
    clientSecret: 'provider-secret-of-thirty-two-bytes',
    redirectUrl: 'https://gateway.example.com/console/api/oidc/callback',
    label: 'Corporate',
    scope: 'openid',
    roleClaim: 'groups',
    adminRoles: ['admins'],
    monitorRoles: [],
    memberRoles: [],
    allowedDomains: [],
  };
  oidc = createOidc(settings, createKeyring(generateMasterKey()), () => Date.now() + later)!;
});
afterEach(() => provider.close());

const startsAt = async () => new URL((await oidc.start()).url).pathname;

test('a provider that moved its pages is followed after a minute', async () => {
  expect(await startsAt()).toBe('/auth');
  provider.metadata = { authorization_endpoint: `${provider.issuer}/moved/auth` };
  expect(await startsAt()).toBe('/auth');
  later = 60_000;
  expect(await startsAt()).toBe('/moved/auth');
});

test('a provider that went away is said to be away after a minute, and asked again at once from then on', async () => {
  await oidc.start();
  provider.metadata = { issuer: 'https://elsewhere.example.com' };
  later = 60_000;
  await expect(oidc.start()).rejects.toMatchObject({
    fault: 'unavailable',
    message: expect.stringContaining('the provider calls itself "https://elsewhere.example.com": CONSOLE_OIDC_ISSUER'),
  });
  provider.metadata = {};
  expect(await startsAt()).toBe('/auth');
});

test('which of its addresses answers wrongly, or not at all, is said', async () => {
  const fails = async (metadata: object) => {
    provider.metadata = metadata;
    later += 60_000;
    const { url, kept } = await oidc.start();
    const { searchParams } = new URL(url);
    provider.nonce = searchParams.get('nonce') ?? '';
    return oidc.finish(`code=c&state=${searchParams.get('state')}`, kept).then(
      () => 'signed in',
      ({ fault, message }: OidcRefusal) => `${fault}: ${message}`,
    );
  };
  const { issuer } = provider;
  const closed = await freePort();
  expect(await fails({ jwks_uri: `${issuer}/nowhere` })).toBe(`failed: the provider answered 404 at ${issuer}/nowhere`);
  expect(await fails({ token_endpoint: `http://127.0.0.1:${closed}/token` })).toBe(
    `unavailable: the provider cannot be reached (ECONNREFUSED 127.0.0.1 port ${closed})`,
  );
  expect(await fails({ userinfo_endpoint: `${issuer}/userinfo` })).toBe(`failed: the provider answered 404 at ${issuer}/userinfo`);
});

test.each([
  ['less than a minute apart', 45, true],
  ['further apart', 90, false],
])('clocks that are %s: %i s', async (_what, seconds, isTaken) => {
  for (const change of [
    { iat: seconds, exp: seconds + 300 },
    { iat: -seconds - 300, exp: -seconds },
  ]) {
    const { url, kept } = await oidc.start();
    const { searchParams } = new URL(url);
    provider.nonce = searchParams.get('nonce') ?? '';
    provider.token = ({ iat, ...claims }) => signed({ ...claims, iat: Number(iat) + change.iat, exp: Number(iat) + change.exp }, provider.keys[0]!);
    const finished = oidc.finish(`code=c&state=${searchParams.get('state')}`, kept);
    if (isTaken) expect(await finished).toMatchObject({ subject: 'u-1' });
    else await expect(finished).rejects.toMatchObject({ fault: 'failed', message: expect.stringContaining('clock') });
  }
});
