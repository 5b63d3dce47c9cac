/** The tier that served a request: prices go by it. */
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { StorageDialect } from '../dialects/dialect.ts';

export const serviceTierColumn = ({ text }: StorageDialect['types']): Migration => ({
  async up(db) {
    await sql.raw(`alter table request_stats add column service_tier ${text}`).execute(db);
  },
});
