/** The path of a call in an upstream's own terms. */
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { StorageDialect } from '../dialects/dialect.ts';

export const rowPath = ({ text }: StorageDialect['types']): Migration => ({
  async up(db) {
    await sql.raw(`alter table request_stats add column path ${text}`).execute(db);
  },
});
