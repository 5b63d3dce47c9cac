/** Where the gateway searches the web for models, and within which bounds. */
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { StorageDialect } from '../dialects/dialect.ts';

export const searchTables = ({ text, integer, json }: StorageDialect['types']): Migration => ({
  async up(db) {
    for (const table of ['search_providers', 'search_config'])
      await sql
        .raw(
          `create table if not exists ${table} (id ${text} not null primary key, name ${text} not null unique, etag ${integer} not null,
          document ${json} not null, created_at ${integer} not null, updated_at ${integer} not null)`,
        )
        .execute(db);
  },
});
