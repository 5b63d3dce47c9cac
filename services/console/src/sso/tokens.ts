/** What a login gave, as it is sealed: all of it in one value, so that a pair is never half old. */
import { sealedAs } from '@model-gateway/contracts';
import type { Keyring } from '@model-gateway/secrets';

/** Tokens of one credential, and the secrets that belong to them. */
export interface SsoTokens {
  access_token: string | null;
  /** What renews it: a refresh token, or a lasting token that is exchanged for short ones; null: a machine identity, or nothing does. */
  refresh_token: string | null;
  /** Secret settings (a client's secret, the key of a service account), and the client that the vendor registered for this login. */
  secrets: Record<string, string>;
}

/** What a vendor answered. */
export interface IssuedTokens {
  access_token: string;
  /** Absent: the one before stays. */
  refresh_token?: string | undefined;
  /** Milliseconds since the epoch; null: it does not say. */
  expires_at: number | null;
  /** Whose it is, where the vendor tells. */
  account?: string | undefined;
  /** Settings that only the vendor knew. */
  settings?: Record<string, string> | undefined;
  secrets?: Record<string, string> | undefined;
}

export const sealTokens = (keyring: Keyring, id: string, tokens: SsoTokens): string => keyring.seal(JSON.stringify(tokens), sealedAs.ssoCredential(id));

/** Throws SealError. */
export const openTokens = (keyring: Keyring, id: string, sealed: string): SsoTokens =>
  JSON.parse(keyring.open(sealed, sealedAs.ssoCredential(id))) as SsoTokens;

export const noTokens: SsoTokens = { access_token: null, refresh_token: null, secrets: {} };
