/** Logins at the vendor's page that send the browser back with a code: PKCE, a state of one use, and the issuer that must be the one that was asked. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { LoginProfile, LoginSettings } from '@model-gateway/protocols/login';
import { invalidField } from '../../problem.ts';
import { readTokens } from '../grants/read-tokens.ts';
import type { CodeLogin } from '../login-content.ts';
import type { PastedTokens } from '../pasted-tokens.ts';
import { requireSuccess, TokenFault, type TokenHttp } from '../token-http.ts';

export interface CodeContext {
  profile: LoginProfile;
  /** With defaults and secrets. */
  settings: LoginSettings;
  http: TokenHttp;
  now: () => number;
}

const isLoopback = (url: URL): boolean => url.protocol === 'http:' && /^(?:127\.0\.0\.1|\[::1\]|localhost)$/.test(url.hostname);

/** `redirectUrl`: of a command line that listens on this machine; any other address must be the one in the settings. Throws 422. */
export function beginCode({ settings }: Pick<CodeContext, 'settings'>, redirectUrl: string | undefined): CodeLogin {
  const registered = settings['redirect_url'] ?? '';
  const redirect = redirectUrl ?? registered;
  if (redirect !== registered && !(URL.canParse(redirect) && isLoopback(new URL(redirect))))
    throw invalidField('redirect_url', 'must be that of the settings, or an http address of this machine');
  const state = randomBytes(24).toString('base64url');
  const verifier = randomBytes(48).toString('base64url');
  const url = new URL(settings['authorize_url'] ?? '');
  const query = {
    response_type: 'code',
    client_id: settings['client_id'] ?? '',
    redirect_uri: redirect,
    scope: settings['scopes'] ?? '',
    state,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  };
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return { authorizeUrl: url.href, redirectUrl: redirect, state, verifier };
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** The code in the address that the browser was sent back to. Throws 422 that does not repeat it. */
export function readRedirect(text: string, login: CodeLogin, { settings }: Pick<CodeContext, 'settings'>): string {
  const field = 'redirect_url';
  if (!URL.canParse(text.trim())) throw invalidField(field, 'expected the whole address that the browser was sent back to, from http on');
  const url = new URL(text.trim());
  const wanted = new URL(login.redirectUrl);
  if (url.origin !== wanted.origin || url.pathname !== wanted.pathname) throw invalidField(field, `is not below ${wanted.origin}${wanted.pathname}`);
  const given = url.searchParams;
  if ([...new Set(given.keys())].some((name) => given.getAll(name).length > 1)) throw invalidField(field, 'names something twice');
  if (!timingSafeEqual(digest(given.get('state') ?? ''), digest(login.state)))
    throw invalidField(field, 'belongs to another login: its state is not the one that was sent');
  const issuer = given.get('iss');
  const asked = settings['issuer'] ?? new URL(settings['authorize_url'] ?? '').origin;
  if (issuer !== null && issuer.replace(/\/$/, '') !== asked.replace(/\/$/, ''))
    throw invalidField(field, 'comes from another issuer than the one that was asked');
  const refused = given.get('error');
  // Its own code alone: anybody may have written the address.
  if (refused !== null) throw new TokenFault('refused', `The vendor refused the login${/^[\w.-]{1,64}$/.test(refused) ? ` (${refused})` : ''}.`, true);
  const code = given.get('code');
  if (!code) throw invalidField(field, 'holds no code');
  return code;
}

/** Throws TokenFault. */
export async function exchangeCode(code: string, login: CodeLogin, { profile, settings, http, now }: CodeContext): Promise<PastedTokens> {
  const fields = {
    grant_type: 'authorization_code',
    code,
    redirect_uri: login.redirectUrl,
    client_id: settings['client_id'],
    client_secret: settings['client_secret'],
    code_verifier: login.verifier,
  };
  const call = profile.grant === 'oauth-json' ? { headers: { ...profile.headers }, json: { ...fields, state: login.state } } : { form: fields };
  const issued = readTokens(requireSuccess(await http({ method: 'POST', url: settings['token_url'] ?? '', ...call })), now());
  return {
    access_token: issued.access_token,
    refresh_token: issued.refresh_token ?? null,
    expires_at: issued.expires_at,
    account: issued.account,
    settings: {},
    secrets: {},
  };
}
