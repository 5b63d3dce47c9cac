/** The last row that is in the sums, for engines that add rows up in larger batches than they write them. */
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { StorageDialect } from '../dialects/dialect.ts';

export const countedRows = ({ countsLater, types: { integer } }: StorageDialect): Migration => ({
  async up(db) {
    if (!countsLater) return;
    await sql.raw(`create table stat_counted (id ${integer} not null primary key, row_number ${integer} not null)`).execute(db);
    // What was written so far was counted with its row.
    await sql.raw('insert into stat_counted (id, row_number) select 1, coalesce(max(rowid), 0) from request_stats').execute(db);
  },
});
