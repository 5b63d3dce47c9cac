/** Sign-in at an OpenID provider: authorization code with PKCE, state and nonce, by a certified client library. */
import type { Keyring } from '@model-gateway/secrets';
import * as client from 'openid-client';
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
const timeoutSeconds = 10;
/** How far the provider's clock may be ahead of ours. */
const clockSkewSeconds = 60;

/** null: no provider is set. */
export function createOidc(settings: OidcConfig, keyring: Keyring, now: () => number): Oidc | null {
  const { issuer, clientId, clientSecret, redirectUrl, label, scope } = settings;
  // Never from the request's Host header: the sender could choose where the provider sends the code. Without a redirect URL the settings are refused.
  if (issuer === null || clientId === null || redirectUrl === null) return null;
  const credential = () => (clientSecret === null ? client.None() : client.ClientSecretPost(clientSecret));
  // The setting allows http on this machine alone.
  const transport = issuer.startsWith('http:') ? [client.allowInsecureRequests] : [];
  let found: Promise<client.ServerMetadata> | undefined;
  /** Asked on first use; a provider that was away is asked again. */
  const discover = (): Promise<client.ServerMetadata> => {
    found ??= client
      .discovery(new URL(issuer), clientId, undefined, credential(), { timeout: timeoutSeconds, execute: transport })
      .then((provider) => provider.serverMetadata())
      .catch((error: unknown) => {
        found = undefined;
        throw refusalOf(error, 'unavailable');
      });
    return found;
  };
  /**
   * Made for each sign-in: the library keeps the provider's keys as long as this lives, and a key that the provider withdrew, or gave itself a moment ago,
   * is known at once that way. ID tokens are believed only when such a key signed them, also where TLS brought them.
   */
  const connect = async (): Promise<client.Configuration> => {
    const provider = new client.Configuration(await discover(), clientId, undefined, credential());
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
      const provider = await connect();
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
      const { state, nonce, verifier, redirectUrl: begunWith } = open(kept);
      const provider = await connect();
      const url = new URL(begunWith);
      url.search = query;
      try {
        const tokens = await client.authorizationCodeGrant(provider, url, {
          pkceCodeVerifier: verifier,
          expectedState: state,
          expectedNonce: nonce,
          idTokenExpected: true,
        });
        const claims = tokens.claims();
        if (!claims) throw new OidcRefusal('failed', 'the provider gave no ID token');
        // The library looks at `exp` and `nbf`, not at this one.
        if (claims.iat > now() / 1000 + clockSkewSeconds) throw new OidcRefusal('failed', 'the ID token is of the future');
        // Many providers give e-mail and groups there alone. What the signed token says stands.
        const more = provider.serverMetadata().userinfo_endpoint ? await client.fetchUserInfo(provider, tokens.access_token, claims.sub) : {};
        return { issuer: claims.iss, subject: claims.sub, claims: { ...more, ...claims } };
      } catch (error) {
        throw refusalOf(error, 'failed');
      }
    },
  };
}

/** The library's errors hold replies of the provider: only their name and code go on. */
function refusalOf(error: unknown, fallback: 'failed' | 'unavailable'): OidcRefusal {
  if (error instanceof OidcRefusal) return error;
  if (error instanceof client.AuthorizationResponseError)
    return new OidcRefusal(error.error === 'access_denied' ? 'denied' : 'failed', `the provider answered ${error.error.slice(0, 64)}`);
  const { name = 'Error', code } = error as { name?: string; code?: unknown };
  return new OidcRefusal(fallback, `${name}${typeof code === 'string' ? ` ${code}` : ''}`);
}
