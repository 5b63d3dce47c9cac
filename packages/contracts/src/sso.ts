/** Credentials that an upstream gets by a login instead of by a key: their kinds, their states, and how other processes ask for an access token. */

/** The kinds of logins, by neutral id; `packages/protocols` has what each of them is. */
export const ssoProfileIds = [
  'cloudhost_ide',
  'cloudhost_role',
  'beta_workload',
  'beta_user',
  'alpha_workload',
  'alpha_user',
  'gamma_cloud',
  'entra',
  'editor_copilot',
] as const;
export type SsoProfileId = (typeof ssoProfileIds)[number];

/** `refreshing`: a process has asked the vendor for a new token · `needs_login`: only a new login helps · `revoked`: an admin put an end to it. */
export const ssoStates = ['ok', 'refreshing', 'needs_login', 'revoked'] as const;
export type SsoState = (typeof ssoStates)[number];

/** A translator needs the access token of a credential. */
export interface SsoTokenRequest {
  /** Name of the credential. */
  credential: string;
  /** Id of the token that the upstream has just answered with 401: a newer one is wanted. */
  rejected?: string;
  /** The refusal may be about what was asked for rather than about the token, which is then renewed all the same, but not ended by one caller alone. */
  doubt?: SsoDoubt;
}

/** Whose call a doubtful refusal answered. */
export interface SsoDoubt {
  /** Name of the access key. */
  caller: string;
  /** The upstream has taken the same token for other calls. */
  accepted: boolean;
}

/** Why there is no token. `unavailable`: for now; everything else until an admin does something. */
export const ssoRefusals = ['unknown', 'profile_disabled', 'needs_login', 'revoked', 'unavailable'] as const;
export type SsoRefusal = (typeof ssoRefusals)[number];

export interface SsoTokenReply {
  /** An `SsoAccess` as JSON, sealed as `sealedAs.ssoAccess` says: access tokens are in no plain text on the bus. */
  sealed?: string;
  refused?: SsoRefusal;
}

/** What a translator gets to know of a credential: never what renews it. */
export interface SsoAccess {
  token: string;
  /** Names this token, and says nothing of it. */
  token_id: string;
  /** Milliseconds since the epoch; null: it does not say. */
  expires_at: number | null;
  /** Go along with every call: feature flags and account headers that belong to the credential. */
  headers: Record<string, string>;
  /** It goes as a bearer, whatever header the protocol's keys go under. */
  bearer?: true;
}

/** The one key entry of an upstream whose credential comes by login: it stands for the account, whatever the token is now. */
export const ssoKeyId = (credentialId: string): string => `sso_${credentialId}`;
