/** Who may use the console, their sessions, and the one-time codes that a sign-in elsewhere ends with. */
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { StorageDialect } from '../dialects/dialect.ts';

const run = (db: Kysely<unknown>, statement: string) => sql.raw(statement).execute(db);

export const consoleUserTables = ({ text, integer, boolean }: StorageDialect['types']): Migration => ({
  async up(db) {
    const user = `user_id ${text} not null references console_users (id) on delete cascade`;
    await run(
      db,
      `create table if not exists console_users (id ${text} not null primary key, username ${text} not null unique, role ${text} not null,
      enabled ${boolean} not null, password_hash ${text}, issuer ${text}, subject ${text}, etag ${integer} not null, created_at ${integer} not null,
      updated_at ${integer} not null, last_login_at ${integer}, unique (issuer, subject))`,
    );
    await run(
      db,
      `create table if not exists console_sessions (id ${text} not null primary key, token_hash ${text} not null unique, ${user}, created_at ${integer} not null,
      last_seen_at ${integer} not null, expires_at ${integer} not null, ends_at ${integer} not null, ip_address ${text} not null, user_agent ${text} not null)`,
    );
    await run(db, 'create index if not exists console_sessions_user on console_sessions (user_id)');
    await run(db, 'create index if not exists console_sessions_expiry on console_sessions (expires_at)');
    await run(db, `create table if not exists console_sign_in_codes (code_hash ${text} not null primary key, ${user}, expires_at ${integer} not null)`);
    // One row: its lock puts writers of users in line, its number is the next revision of a row.
    await run(db, `create table if not exists console_state (id ${integer} not null primary key, revision ${integer} not null, applied_password_hash ${text})`);
    await run(db, 'insert into console_state (id, revision) values (1, 1) on conflict do nothing');
  },
});
