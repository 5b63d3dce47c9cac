/** Every commit of the configuration: who, when, and the rows it changed as they were before and after. Secrets in them are sealed. */
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { StorageDialect } from '../dialects/dialect.ts';

export const historyTables = ({ text, integer, json }: StorageDialect['types']): Migration => ({
  async up(db) {
    await sql
      .raw(
        `create table if not exists catalog_history (revision ${integer} not null primary key, occurred_at ${integer} not null, actor ${text} not null,
        action ${text} not null, entity_type ${text} not null, entity_id ${text} not null, ip_address ${text}, request_id ${text}, changes ${integer} not null)`,
      )
      .execute(db);
    await sql
      .raw(
        `create table if not exists catalog_history_rows (revision ${integer} not null references catalog_history (revision) on delete cascade,
        position ${integer} not null, section ${text} not null, name ${text} not null, row_before ${json}, row_after ${json}, primary key (revision, position))`,
      )
      .execute(db);
  },
});
