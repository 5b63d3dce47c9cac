/** Reads what token endpoints answer, in each of their spellings. */
import { TokenFault } from '../token-http.ts';
import type { IssuedTokens } from '../tokens.ts';

type Body = Readonly<Record<string, unknown>>;

export const textOf = (body: Body, ...names: readonly string[]): string | undefined => {
  for (const name of names) {
    const value = body[name];
    if (typeof value === 'string' && value !== '') return value;
  }
  return undefined;
};

/** Tokens go into headers. */
const tokenForm = /^[\x21-\x7e]{1,65536}$/;

/** Throws where there is no token in it. */
export function readTokens(body: Body, now: number): IssuedTokens {
  const access = textOf(body, 'access_token', 'accessToken', 'token');
  if (access === undefined || !tokenForm.test(access)) throw new TokenFault('no_token', 'The vendor answered without a token.', false);
  const refresh = textOf(body, 'refresh_token', 'refreshToken');
  const profileArn = textOf(body, 'profileArn', 'profile_arn');
  const account = profileArn ?? accountOfIdToken(textOf(body, 'id_token', 'idToken')) ?? accountOf(body['account']);
  return {
    access_token: access,
    ...(refresh !== undefined && tokenForm.test(refresh) && { refresh_token: refresh }),
    expires_at: expiryOf(body, now),
    ...(account !== undefined && { account }),
  };
}

/** Lives are counted from now, by our own clock; moments are the vendor's. */
export function expiryOf(body: Body, now: number): number | null {
  const life = Number(body['expires_in'] ?? body['expiresIn'] ?? Number.NaN);
  if (Number.isFinite(life) && life > 0) return now + life * 1000;
  const moment = body['expires_at'] ?? body['expiresAt'] ?? body['expiration'] ?? body['expiry'];
  if (typeof moment === 'number' && moment > 0) return moment < 1e11 ? moment * 1000 : moment;
  const parsed = typeof moment === 'string' ? (/^\d+$/.test(moment) ? Number(moment) * (moment.length < 12 ? 1000 : 1) : Date.parse(moment)) : Number.NaN;
  return Number.isFinite(parsed) ? parsed : null;
}

const accountOf = (account: unknown): string | undefined =>
  typeof account === 'object' && account !== null ? textOf(account as Body, 'uuid', 'id', 'email_address') : undefined;

/** It came straight from the vendor over TLS, and is used as a name alone: its signature decides nothing. */
function accountOfIdToken(token: string | undefined): string | undefined {
  const part = token?.split('.')[1];
  if (part === undefined) return undefined;
  try {
    const claims = JSON.parse(Buffer.from(part, 'base64url').toString('utf8')) as Body;
    const account = textOf(claims, 'sub', 'email');
    return account?.slice(0, 200);
  } catch {
    return undefined;
  }
}
