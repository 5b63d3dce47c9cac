/** Load balancers, their names (one space with those of models), what their entries refer to, and pins of access keys. */
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { StorageDialect } from '../dialects/dialect.ts';

const run = (db: Kysely<unknown>, statement: string) => sql.raw(statement).execute(db);

export const loadBalancerTables = ({ text, integer, json }: StorageDialect['types']): Migration => ({
  async up(db) {
    const balancer = `balancer_id ${text} not null references load_balancers (id) on delete cascade`;
    const model = `model ${text} not null references models (name)`;
    await run(
      db,
      `create table if not exists load_balancers (id ${text} not null primary key, name ${text} not null unique, etag ${integer} not null, document ${json} not null,
      created_at ${integer} not null, updated_at ${integer} not null)`,
    );
    await run(db, `create table if not exists load_balancer_names (name ${text} not null primary key, ${balancer}, kind ${text} not null)`);
    await run(db, 'create index if not exists load_balancer_names_balancer on load_balancer_names (balancer_id)');
    // Needed when a model is to be deleted; order and weights are in the document.
    await run(db, `create table if not exists load_balancer_entries (${balancer}, ${model}, primary key (balancer_id, model))`);
    await run(db, 'create index if not exists load_balancer_entries_model on load_balancer_entries (model)');
    await run(
      db,
      `create table if not exists load_balancer_pins (${balancer}, access_key ${text} not null references access_keys (name) on delete cascade, ${model},
      primary key (balancer_id, access_key))`,
    );
    await run(db, 'create index if not exists load_balancer_pins_model on load_balancer_pins (model)');
    await run(db, 'create index if not exists load_balancer_pins_access_key on load_balancer_pins (access_key)');
  },
});
