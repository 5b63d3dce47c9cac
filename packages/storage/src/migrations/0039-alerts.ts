/** Channels of alerts, what is known to be the case, and the messages about it: which wait, which were sent, which were held back. */
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { StorageDialect } from '../dialects/dialect.ts';

export const alertTables = ({ text, integer, json }: StorageDialect['types']): Migration => ({
  async up(db) {
    const statements = [
      `create table if not exists alert_channels (id ${text} not null primary key, name ${text} not null unique, etag ${integer} not null,
        document ${json} not null, created_at ${integer} not null, updated_at ${integer} not null)`,
      `create table if not exists alert_states (id ${text} not null primary key, began_at ${integer} not null)`,
      `create table if not exists alert_messages (id ${text} not null primary key, channel ${text} not null, event ${text} not null, subject ${text} not null,
        quiet_key ${text} not null, created_at ${integer} not null, due_at ${integer}, attempts ${integer} not null, claims ${integer} not null,
        state ${text} not null, sent_at ${integer}, last_error ${text}, content ${text} not null)`,
      'create index if not exists alert_messages_due on alert_messages (due_at) where due_at is not null',
      'create index if not exists alert_messages_created on alert_messages (created_at, id)',
      'create index if not exists alert_messages_quiet on alert_messages (channel, quiet_key, created_at)',
    ];
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
});
