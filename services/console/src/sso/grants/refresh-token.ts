/** Grants of people's logins: what renews the access token is a refresh token, or a lasting token. */
import { requireSuccess, TokenFault } from '../token-http.ts';
import type { Grant, GrantContext, Grants } from './grant.ts';
import { readTokens } from './read-tokens.ts';

function refreshTokenOf({ tokens }: GrantContext): string {
  if (tokens.refresh_token === null) throw new TokenFault('no_refresh_token', 'There is nothing that renews this token.', true);
  return tokens.refresh_token;
}

const oauth: Grant = async (context) => {
  const { settings, http, now } = context;
  const form = {
    grant_type: 'refresh_token',
    refresh_token: refreshTokenOf(context),
    client_id: settings['client_id'],
    client_secret: settings['client_secret'],
  };
  return readTokens(requireSuccess(await http({ method: 'POST', url: settings['token_url'] ?? '', form })), now());
};

const oauthJson: Grant = async (context) => {
  const { settings, http, now, profile } = context;
  const json = { grant_type: 'refresh_token', refresh_token: refreshTokenOf(context), client_id: settings['client_id'] };
  return readTokens(requireSuccess(await http({ method: 'POST', url: settings['token_url'] ?? '', headers: { ...profile.headers }, json })), now());
};

/** Logins at an identity center belong to a client that was registered for them; those of the editor's own sign-in are renewed by the editor's service. */
const awsOidc: Grant = async (context) => {
  const { settings, tokens, http, now } = context;
  const refreshToken = refreshTokenOf(context);
  const { client_id: clientId, client_secret: clientSecret } = tokens.secrets;
  const call =
    clientId === undefined
      ? { url: settings['refresh_url'] ?? '', json: { refreshToken } }
      : { url: `${settings['oidc_url']}/token`, json: { clientId, clientSecret, grantType: 'refresh_token', refreshToken } };
  return readTokens(requireSuccess(await http({ method: 'POST', ...call })), now());
};

const githubExchange: Grant = async (context) => {
  const { settings, http, now } = context;
  const headers = { authorization: `token ${refreshTokenOf(context)}` };
  return readTokens(requireSuccess(await http({ method: 'GET', url: settings['exchange_url'] ?? '', headers })), now());
};

export const refreshTokenGrants: Grants = { oauth, 'oauth-json': oauthJson, 'aws-oidc': awsOidc, 'github-exchange': githubExchange };
