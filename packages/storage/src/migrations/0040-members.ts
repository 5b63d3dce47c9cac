/** What an identity provider vouches for of a user: an e-mail address, and values of the role claim (JSON), which key groups may list as members. */
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { StorageDialect } from '../dialects/dialect.ts';

export const memberColumns = ({ text }: StorageDialect['types']): Migration => ({
  async up(db) {
    for (const column of ['email', 'oidc_values']) await sql.raw(`alter table console_users add column ${column} ${text}`).execute(db);
  },
});
