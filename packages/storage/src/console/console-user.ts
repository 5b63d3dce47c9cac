/** A console user, and how a row becomes one: shared by the repositories of users and of sessions. */
import type { ConsoleUserColumns } from '../schema.ts';

export const consoleRoles = ['admin', 'monitor', 'member'] as const;
export type ConsoleRole = (typeof consoleRoles)[number];

/** A user of the console; times in ms since the epoch. */
export interface ConsoleUser {
  id: string;
  username: string;
  role: ConsoleRole;
  enabled: boolean;
  /** PHC string (argon2id) or bcrypt; null: no sign-in by password. */
  passwordHash: string | null;
  /** The external identity provider of the user; null for users of this gateway alone. */
  identity: { issuer: string; subject: string } | null;
  /** Verified by the identity provider, or given by an admin. */
  email: string | null;
  /** Values of the identity provider's role claim at the last sign-in. */
  oidcValues: readonly string[];
  /** Revision that last wrote the row. */
  etag: number;
  /** Milliseconds since the epoch. */
  createdAt: number;
  updatedAt: number;
  lastLoginAt: number | null;
}

export const toUser = (row: ConsoleUserColumns): ConsoleUser => ({
  id: row.id,
  username: row.username,
  role: row.role,
  enabled: Boolean(row.enabled),
  passwordHash: row.password_hash,
  identity: row.issuer === null || row.subject === null ? null : { issuer: row.issuer, subject: row.subject },
  email: row.email,
  oidcValues: row.oidc_values === null ? [] : (JSON.parse(row.oidc_values) as string[]),
  etag: row.etag,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  lastLoginAt: row.last_login_at,
});
