/** Sign-in at an OpenID provider: authorization code with PKCE, state and nonce, by a certified client library. */
import type { Keyring } from '@model-gateway/secrets';
import * as client from 'openid-client';
import { type Claims, type OidcConfig, OidcRefusal } from './oidc-identity.ts';

export interface Oidc {
  label: string;
  /** Where the browser goes, and what it keeps in the meantime (sealed). */
  start(host: string): Promise<{ url: string; kept: string; secure: boolean }>;
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
const callbackPath = '/console/api/oidc/callback';
const timeoutSeconds = 10;
const loopback = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/;
const hostForm = /^[A-Za-z0-9.-]{1,253}(?::\d{1,5})?$|^\[[0-9A-Fa-f:.]{2,45}\](?::\d{1,5})?$/;

/** null: no provider is set. */
export function createOidc(settings: OidcConfig, keyring: Keyring, now: () => number): Oidc | null {
  const { issuer, clientId, clientSecret, label, scope } = settings;
  if (issuer === null || clientId === null) return null;
  let found: Promise<client.Configuration> | undefined;
  /** Asked on first use; a provider that was away is asked again. */
  const discover = (): Promise<client.Configuration> => {
    found ??= client
      .discovery(new URL(issuer), clientId, undefined, clientSecret === null ? client.None() : client.ClientSecretPost(clientSecret), {
        timeout: timeoutSeconds,
        // The setting allows http on this machine alone.
        ...(issuer.startsWith('http:') && { execute: [client.allowInsecureRequests] }),
      })
      .catch((error: unknown) => {
        found = undefined;
        throw refusalOf(error, 'unavailable');
      });
    return found;
  };
  const redirectUrlFor = (host: string): string => {
    if (settings.redirectUrl !== null) return settings.redirectUrl;
    if (!hostForm.test(host)) throw new OidcRefusal('failed', 'the Host header names no host');
    return `${loopback.test(host) ? 'http' : 'https'}://${host}${callbackPath}`;
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
    async start(host) {
      const redirectUrl = redirectUrlFor(host);
      const provider = await discover();
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
      const { state, nonce, verifier, redirectUrl } = open(kept);
      const provider = await discover();
      const url = new URL(redirectUrl);
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
