/** Sums of every attempt at an upstream, and which requests touched an upstream that did not serve them in the end. */
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { StorageDialect } from '../dialects/dialect.ts';

const run = (db: Kysely<unknown>, statement: string) => sql.raw(statement).execute(db);

export const attemptTables = ({ types: { text, integer }, compactTable }: StorageDialect): Migration => ({
  async up(db) {
    await run(
      db,
      `create table attempt_sums (grain ${integer} not null, start ${integer} not null, upstream ${text} not null, key_id ${text} not null,
       model ${text} not null, outcome ${text} not null, attempts ${integer} not null, duration_ms ${integer} not null,
       duration_counts ${text} not null default '', primary key (grain, start, upstream, key_id, model, outcome)) ${compactTable}`,
    );
    await run(
      db,
      `create table touched_upstreams (upstream ${text} not null, started_at ${integer} not null, id ${text} not null,
       primary key (upstream, started_at, id)) ${compactTable}`,
    );
    await run(db, 'create index touched_upstreams_started_at on touched_upstreams (started_at, id)');
  },
});
