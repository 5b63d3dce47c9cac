/** How a broken stream was ended. */
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { StorageDialect } from '../dialects/dialect.ts';

export const rowEnding = ({ text }: StorageDialect['types']): Migration => ({
  async up(db) {
    await sql.raw(`alter table request_stats add column ending ${text}`).execute(db);
  },
});
