/** Configuration resources, the one space of model names, and the revision that every write moves on. */
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { StorageDialect } from '../dialects/dialect.ts';

const run = (db: Kysely<unknown>, statement: string) => sql.raw(statement).execute(db);

export const catalogTables = ({ text, integer, json }: StorageDialect['types']): Migration => ({
  async up(db) {
    const common = `id ${text} not null primary key, name ${text} not null unique, etag ${integer} not null, document ${json} not null,
      created_at ${integer} not null, updated_at ${integer} not null`;
    await run(db, `create table if not exists upstreams (${common})`);
    await run(db, `create table if not exists models (${common}, upstream ${text} not null references upstreams (name))`);
    await run(db, 'create index if not exists models_upstream on models (upstream)');
    await run(db, `create table if not exists key_groups (${common})`);
    await run(
      db,
      `create table if not exists access_keys (${common}, group_name ${text} not null references key_groups (name), hash ${text} not null unique, sealed ${text})`,
    );
    await run(db, 'create index if not exists access_keys_group on access_keys (group_name)');
    await run(
      db,
      `create table if not exists model_names (name ${text} not null primary key, model_id ${text} not null references models (id) on delete cascade, kind ${text} not null)`,
    );
    await run(db, 'create index if not exists model_names_model on model_names (model_id)');
    await run(db, `create table if not exists catalog_revision (id ${integer} not null primary key, revision ${integer} not null)`);
    await run(db, 'insert into catalog_revision (id, revision) values (1, 1) on conflict do nothing');
  },
});
