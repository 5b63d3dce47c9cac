/** The stored turn that a request made. */
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { StorageDialect } from '../dialects/dialect.ts';

export const rowTurn = ({ text }: StorageDialect['types']): Migration => ({
  async up(db) {
    await sql.raw(`alter table request_stats add column turn_id ${text}`).execute(db);
  },
});
