/** What an OpenID provider's claims make of somebody here: a name and a role, or a refusal. */
import type { ConsoleConfig } from '@model-gateway/config';
import type { ConsoleRole } from '@model-gateway/storage';
import { username as usernameSchema } from './user-fields.ts';

export type OidcConfig = ConsoleConfig['oidc'];
export type Claims = Readonly<Record<string, unknown>>;

/** Why nobody was let in; the sign-in page has a sentence for each. */
export type OidcFault = 'denied' | 'expired' | 'refused' | 'taken' | 'disabled' | 'unavailable' | 'failed';

export class OidcRefusal extends Error {
  readonly fault: OidcFault;
  constructor(fault: OidcFault, message: string) {
    super(message);
    this.name = 'OidcRefusal';
    this.fault = fault;
  }
}

/** `realm_access.roles` → the value there, own properties only. */
function readClaim(claims: Claims, path: string): unknown {
  // A claim's own name may hold dots, as those that are URLs do.
  if (Object.hasOwn(claims, path)) return claims[path];
  let value: unknown = claims;
  for (const part of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Claims)[part];
  }
  return value;
}

/** A text is one value: `Sales admins` is a group of its own, and nobody in it is one of `admins`. */
const valuesOf = (claim: unknown): string[] =>
  typeof claim === 'string' ? [claim] : Array.isArray(claim) ? claim.filter((one): one is string => typeof one === 'string') : [];

/** A claim that the provider does not vouch for could be anybody's. */
function checkDomain(claims: Claims, allowed: readonly string[]): void {
  if (allowed.length === 0) return;
  const email = claims['email'];
  const domain = typeof email === 'string' ? email.slice(email.lastIndexOf('@') + 1).toLowerCase() : '';
  if (claims['email_verified'] !== true || !allowed.some((one) => one.toLowerCase() === domain))
    throw new OidcRefusal('refused', 'the e-mail address is not verified, or of another domain');
}

function roleOf(claims: Claims, { roleClaim, adminRoles, monitorRoles }: OidcConfig): ConsoleRole {
  if (adminRoles.length + monitorRoles.length === 0) return 'monitor';
  const values = new Set(valuesOf(readClaim(claims, roleClaim)));
  if (adminRoles.some((role) => values.has(role))) return 'admin';
  if (monitorRoles.some((role) => role === '*' || values.has(role))) return 'monitor';
  throw new OidcRefusal('refused', `the claim ${roleClaim} holds no role of this console`);
}

/** Throws `OidcRefusal`. */
export function identityOf(claims: Claims, config: OidcConfig): { username: string; role: ConsoleRole } {
  checkDomain(claims, config.allowedDomains);
  const role = roleOf(claims, config);
  const names = [claims['preferred_username'], claims['email'], claims['sub']];
  for (const name of names) {
    const parsed = usernameSchema.safeParse(name);
    if (parsed.success) return { username: parsed.data, role };
  }
  throw new OidcRefusal('failed', 'no claim can serve as a user name');
}
