/** Durable messages that could not be stored as what they claim to be, kept for an admin to look at. */
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { StorageDialect } from '../dialects/dialect.ts';

export const deadLetterTable = ({ text, integer }: StorageDialect['types']): Migration => ({
  async up(db) {
    await sql
      .raw(
        `create table if not exists dead_letters (id ${text} not null primary key, subject ${text} not null, item_id ${text} not null, reason ${text} not null,
        excerpt ${text} not null, bytes ${integer} not null, first_at ${integer} not null, last_at ${integer} not null, times ${integer} not null)`,
      )
      .execute(db);
    await sql.raw('create index if not exists dead_letters_last_at on dead_letters (last_at, id)').execute(db);
  },
});
