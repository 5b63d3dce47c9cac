/** Sign-in at an OpenID provider: authorization code with PKCE, state and nonce, by a certified client library. */
import type { Keyring } from '@model-gateway/secrets';
import * as client from 'openid-client';
import { clocksDiffer, refusalOf, refusesClient, timeoutSeconds } from './oidc-fault.ts';
import { type Claims, type OidcConfig, OidcRefusal } from './oidc-identity.ts';

/** Sign-in through the configured OpenID provider. */
export interface Oidc {
  label: string;
  /** Where the browser goes, and what it keeps in the meantime (sealed). */
  start(): Promise<{ url: string; kept: string; secure: boolean }>;
  /** `query` of the callback; throws `OidcRefusal`. */
  finish(query: string, kept: string | undefined): Promise<{ issuer: string; subject: string; claims: Claims }>;
}

interface Kept {
  state: string;
  nonce: string;
  verifier: string;
  redirectUrl: string;
  /** Milliseconds since the epoch. */
  until: number;
}

export const keptMs = 600_000;
const place = 'console sign-in';
/** How long what the provider says of itself is believed. */
const discoveredMs = 60_000;
/** How far the provider's clock and ours may be apart. */
const clockSkewSeconds = 60;

/** null: no provider is set. */
export function createOidc(settings: OidcConfig, keyring: Keyring, now: () => number): Oidc | null {
  const { issuer, clientId, clientSecret, redirectUrl, label, scope } = settings;
  // Never from the request's Host header: the sender could choose where the provider sends the code. Without a redirect URL the settings are refused.
  if (issuer === null || clientId === null || redirectUrl === null) return null;
  const credentialBy = (way: SecretWay): client.ClientAuth => (clientSecret === null ? client.None() : credentials[way](clientSecret));
  /** The way in which the provider took the secret last. */
  let taken: SecretWay | undefined;
  // The setting allows http on this machine alone.
  const transport = issuer.startsWith('http:') ? [client.allowInsecureRequests] : [];
  let found: { metadata: Promise<client.ServerMetadata>; until: number } | undefined;
  /** A provider that was away is asked again at once, one that answered after a while: it may have moved. */
  const discover = (): Promise<client.ServerMetadata> => {
    if (found && found.until > now()) return found.metadata;
    const metadata = client
      .discovery(new URL(issuer), clientId, undefined, client.None(), { timeout: timeoutSeconds, execute: transport })
      .then((provider) => provider.serverMetadata())
      .catch((error: unknown) => {
        if (found?.metadata === metadata) found = undefined;
        throw refusalOf(error, 'unavailable');
      });
    found = { metadata, until: now() + discoveredMs };
    return metadata;
  };
  /**
   * Made for each sign-in: the library keeps the provider's keys as long as this lives, and a key that the provider withdrew, or gave itself a moment ago,
   * is known at once that way. ID tokens are believed only when such a key signed them, also where TLS brought them.
   */
  const connect = async (way: SecretWay): Promise<client.Configuration> => {
    const provider = new client.Configuration(await discover(), clientId, { [client.clockTolerance]: clockSkewSeconds }, credentialBy(way));
    provider.timeout = timeoutSeconds;
    for (const setUp of [...transport, client.enableNonRepudiationChecks]) setUp(provider);
    return provider;
  };
  const open = (kept: string | undefined): Kept => {
    try {
      const value = JSON.parse(keyring.open(kept ?? '', place)) as Kept;
      if (value.until > now()) return value;
    } catch {
      // A cookie is the browser's: whatever is wrong with it, the sign-in begins anew.
    }
    throw new OidcRefusal('expired', 'the sign-in was not begun in this browser, or too long ago');
  };

  return {
    label,
    async start() {
      const provider = await connect('post');
      const verifier = client.randomPKCECodeVerifier();
      const [state, nonce] = [client.randomState(), client.randomNonce()];
      const url = client.buildAuthorizationUrl(provider, {
        redirect_uri: redirectUrl,
        scope,
        state,
        nonce,
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      });
      const kept: Kept = { state, nonce, verifier, redirectUrl, until: now() + keptMs };
      return { url: url.href, kept: keyring.seal(JSON.stringify(kept), place), secure: redirectUrl.startsWith('https:') };
    },
    async finish(query, kept) {
      const begun = open(kept);
      const ways = taken ? [taken] : secretWays(await discover());
      for (const [index, way] of ways.entries()) {
        try {
          const found = await redeem(await connect(way), query, begun);
          taken = way;
          return found;
        } catch (error) {
          const isRefused = refusesClient(error);
          if (isRefused) taken = undefined;
          // A code is good for another try where the provider did not get as far as the code.
          if (index === ways.length - 1 || clientSecret === null || !isRefused) throw refusalOf(error, 'failed');
        }
      }
      throw new OidcRefusal('failed', 'the provider takes no client secret');
    },
  };

  async function redeem(provider: client.Configuration, query: string, { state, nonce, verifier, redirectUrl: begunWith }: Kept) {
    const url = new URL(begunWith);
    url.search = query;
    const tokens = await client.authorizationCodeGrant(provider, url, {
      pkceCodeVerifier: verifier,
      expectedState: state,
      expectedNonce: nonce,
      idTokenExpected: true,
    });
    const claims = tokens.claims();
    if (!claims) throw new OidcRefusal('failed', 'the provider gave no ID token');
    // The library looks at `exp` and `nbf`, not at this one.
    if (claims.iat > now() / 1000 + clockSkewSeconds) throw new OidcRefusal('failed', clocksDiffer);
    // Many providers give e-mail and groups there alone. What the signed token says stands.
    const more = provider.serverMetadata().userinfo_endpoint ? await client.fetchUserInfo(provider, tokens.access_token, claims.sub) : {};
    return { issuer: claims.iss, subject: claims.sub, claims: { ...more, ...claims } };
  }
}

/** How the client's secret is sent: in the form, or as basic authentication. */
type SecretWay = 'post' | 'basic';
const credentials: Record<SecretWay, (secret: string) => client.ClientAuth> = {
  post: (secret) => client.ClientSecretPost(secret),
  basic: (secret) => client.ClientSecretBasic(secret),
};

/** Providers list what they know; some of them take from each client only what it is registered with, and nothing tells which. */
function secretWays({ token_endpoint_auth_methods_supported: listed }: client.ServerMetadata): SecretWay[] {
  const ways: SecretWay[] = ['post', 'basic'];
  const known = ways.filter((way) => listed?.includes(`client_secret_${way}`));
  return known.length > 0 ? known : ways;
}
