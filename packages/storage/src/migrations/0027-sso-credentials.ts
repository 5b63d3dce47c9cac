/** Credentials that upstreams get by a login, and logins that are under way. `tokens` and `content` are sealed; `version` moves with every change of a row. */
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { StorageDialect } from '../dialects/dialect.ts';

export const ssoTables = ({ text, integer }: StorageDialect['types']): Migration => ({
  async up(db) {
    const statements = [
      `create table if not exists sso_credentials (id ${text} not null primary key, name ${text} not null unique, profile ${text} not null, account ${text},
        description ${text} not null, settings ${text} not null, tokens ${text}, token_id ${text}, state ${text} not null, last_error ${text},
        expires_at ${integer}, refresh_at ${integer}, refreshing_until ${integer}, forced_at ${integer}, refreshed_at ${integer},
        version ${integer} not null, created_at ${integer} not null, updated_at ${integer} not null)`,
      'create index if not exists sso_credentials_refresh_at on sso_credentials (refresh_at) where refresh_at is not null',
      `create table if not exists sso_logins (id ${text} not null primary key, content ${text} not null, version ${integer} not null,
        expires_at ${integer} not null)`,
    ];
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
});
