/** How a credential is renewed, by the dialect of its vendor. */
import type { LoginGrant, LoginProfile, LoginSettings } from '@model-gateway/protocols/login';
import type { TokenHttp } from '../token-http.ts';
import type { IssuedTokens, SsoTokens } from '../tokens.ts';

export interface GrantContext {
  profile: LoginProfile;
  /** With defaults and secrets. */
  settings: LoginSettings;
  tokens: SsoTokens;
  http: TokenHttp;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/** Gives a new access token. Throws TokenFault. */
export type Grant = (context: GrantContext) => Promise<IssuedTokens>;
export type Grants = Partial<Record<LoginGrant, Grant>>;
