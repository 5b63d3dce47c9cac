/** What is priced by the piece and not by tokens. */
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { StorageDialect } from '../dialects/dialect.ts';

export const rowUnits = ({ integer }: StorageDialect['types']): Migration => ({
  async up(db) {
    for (const name of ['images', 'seconds', 'characters']) await sql.raw(`alter table request_stats add column ${name} ${integer}`).execute(db);
  },
});
