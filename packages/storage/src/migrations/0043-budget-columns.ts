/** Budgets of keys and groups as columns that the database makes of their documents: a list of budgets reads no whole document, and no version can leave one stale. */
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { StorageDialect } from '../dialects/dialect.ts';

export const budgetColumns = ({ mode, types: { text } }: StorageDialect): Migration => ({
  async up(db) {
    // SQLite adds columns that it computes when they are read; the index holds them.
    const computed = mode === 'postgresql' ? `(document ->> 'budget') stored` : `(json_extract(document, '$.budget')) virtual`;
    for (const table of ['key_groups', 'access_keys']) {
      await sql.raw(`alter table ${table} add column budget ${text} generated always as ${computed}`).execute(db);
      await sql.raw(`create index if not exists ${table}_budget on ${table} (name, budget) where budget is not null`).execute(db);
    }
  },
});
