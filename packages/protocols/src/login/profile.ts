/** What a kind of login is: data, which the console's flows read. */
import type { ProtocolId, SsoProfileId } from '@model-gateway/contracts';

/**
 * How a person or a machine gets in. `device`: a code that is entered at the vendor's page · `code`: the vendor's page sends the browser back ·
 * `paste`: what another client of the vendor was given · `machine`: nobody logs in, the place where the gateway runs has an identity.
 */
export const loginFlows = ['device', 'code', 'paste', 'machine'] as const;
export type LoginFlow = (typeof loginFlows)[number];

/**
 * The dialect of a vendor's token endpoint. `oauth`: RFC 6749, form-encoded · `oauth-json`: the same fields as JSON · `aws-oidc`: SSO-OIDC, JSON in camel
 * case · `github-exchange`: a lasting token is exchanged for short ones. The rest are machine identities.
 */
export type LoginGrant = 'oauth' | 'oauth-json' | 'aws-oidc' | 'github-exchange' | 'aws-role' | 'jwt-bearer-json' | 'token-exchange' | 'google' | 'entra';

/** A setting of one credential; all values are text. */
export interface LoginSetting {
  description: string;
  /** May name others as `{region}`. Absent: it is required, unless `optional`. */
  fallback?: string;
  optional?: true;
  /** Sealed, never shown. */
  secret?: true;
  /** An address: https, or http on this machine. */
  address?: true;
}

/** One kind of login. */
export interface LoginProfile {
  id: SsoProfileId;
  /** Shown to people. */
  name: string;
  /** What an admin should know of it. */
  note: string;
  experimental: boolean;
  flows: readonly LoginFlow[];
  grant: LoginGrant;
  /** What upstreams with such a credential may speak, the usual one first. */
  protocols: readonly ProtocolId[];
  settings: Readonly<Record<string, LoginSetting>>;
  /** Sent with every call that the token authorises, laid over what the protocol sends; a header that is a list keeps the other entries. */
  headers: Readonly<Record<string, string>>;
  /** The token goes as a bearer, also where keys of the protocol go under a name of their own. */
  bearer?: true;
}
