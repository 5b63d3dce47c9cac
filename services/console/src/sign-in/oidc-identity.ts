/** What an OpenID provider's claims make of somebody here: a name and a role, or a refusal. */
import type { ConsoleConfig } from '@model-gateway/config';
import { personSchema } from '@model-gateway/contracts';
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
  if (typeof email !== 'string')
    throw new OidcRefusal('refused', 'the provider gives no claim email: CONSOLE_OIDC_SCOPE has to ask for it, since CONSOLE_OIDC_ALLOWED_DOMAINS is set');
  if (claims['email_verified'] !== true)
    throw new OidcRefusal('refused', 'the provider does not say email_verified: true, which CONSOLE_OIDC_ALLOWED_DOMAINS needs');
  const domain = email.slice(email.lastIndexOf('@') + 1).toLowerCase();
  if (!allowed.some((one) => one.toLowerCase() === domain))
    throw new OidcRefusal('refused', `the domain ${show(domain)} of the e-mail address is not one of CONSOLE_OIDC_ALLOWED_DOMAINS`);
}

/** Texts of the provider's in a line of the log: enough of them to see how they are spelt. */
const show = (text: string): string => JSON.stringify(text.slice(0, 64));
const shownValues = 5;

/** What is wrong with a claim that gave no role, and where to look. */
function withoutRole(claim: unknown, path: string): OidcRefusal {
  const name = `the claim ${path} (CONSOLE_OIDC_ROLE_CLAIM)`;
  if (claim === undefined || claim === null) return new OidcRefusal('refused', `the provider does not give ${name}: CONSOLE_OIDC_SCOPE may have to ask for it`);
  const values = valuesOf(claim);
  if (values.length === 0) return new OidcRefusal('refused', `${name} holds no text`);
  const more = values.length > shownValues ? `, and ${values.length - shownValues} more` : '';
  const shown = `${values.slice(0, shownValues).map(show).join(', ')}${more}`;
  return new OidcRefusal('refused', `${name} holds ${shown}: none of CONSOLE_OIDC_ADMIN_ROLES, CONSOLE_OIDC_MONITOR_ROLES or CONSOLE_OIDC_MEMBER_ROLES`);
}

/** Whether roles follow the provider: else everybody who may sign in is a monitor at first, and an admin says what else. */
export const mapsRoles = ({ adminRoles, monitorRoles, memberRoles }: OidcConfig): boolean => adminRoles.length + monitorRoles.length + memberRoles.length > 0;

function roleOf(claims: Claims, config: OidcConfig): ConsoleRole {
  const { roleClaim, adminRoles, monitorRoles, memberRoles } = config;
  if (!mapsRoles(config)) return 'monitor';
  const claim = readClaim(claims, roleClaim);
  const values = new Set(valuesOf(claim));
  const has = (roles: readonly string[]) => roles.some((role) => role === '*' || values.has(role));
  if (adminRoles.some((role) => values.has(role))) return 'admin';
  if (has(monitorRoles)) return 'monitor';
  if (has(memberRoles)) return 'member';
  throw withoutRole(claim, roleClaim);
}

/** Nobody has more groups that matter; the rest is not kept. */
const maxValues = 500;

/** What the provider says of somebody. `email`: only one that it has verified. */
export interface OidcIdentity {
  username: string;
  role: ConsoleRole;
  email: string | null;
  oidcValues: string[];
}

/** Throws `OidcRefusal`. */
export function identityOf(claims: Claims, config: OidcConfig): OidcIdentity {
  checkDomain(claims, config.allowedDomains);
  const role = roleOf(claims, config);
  const { success, data } = personSchema.safeParse(claims['email']);
  const email = success && data.includes('@') && claims['email_verified'] === true ? data : null;
  const oidcValues = valuesOf(readClaim(claims, config.roleClaim))
    .filter((value) => value.length <= 254)
    .slice(0, maxValues);
  const username = usernameOf(claims);
  if (username === null) throw new OidcRefusal('failed', 'no claim can serve as a user name');
  return { username, role, email, oidcValues };
}

/** What somebody would be called here; null: no claim can serve as a name. */
export function usernameOf(claims: Claims): string | null {
  for (const name of [claims['preferred_username'], claims['email'], claims['sub']]) {
    const parsed = usernameSchema.safeParse(name);
    if (parsed.success) return parsed.data;
  }
  return null;
}
