/** Columns for the steps of a request's preparation and its reroutes; and a table of the models and load balancers that `switch-route` rules name. */
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { StorageDialect } from '../dialects/dialect.ts';

const run = (db: Kysely<unknown>, statement: string) => sql.raw(statement).execute(db);

export const rewritingTables = ({ text, json }: StorageDialect['types']): Migration => ({
  async up(db) {
    for (const column of ['pipeline', 'routes']) await run(db, `alter table request_stats add column ${column} ${json} not null default '[]'`);
    // Names, not rows: a target is a model or a load balancer, and its owner is looked up only to be named to an admin.
    await run(
      db,
      `create table if not exists switch_targets (owner_kind ${text} not null, owner ${text} not null, target ${text} not null,
      primary key (owner_kind, owner, target))`,
    );
    await run(db, 'create index if not exists switch_targets_target on switch_targets (target)');
  },
});
