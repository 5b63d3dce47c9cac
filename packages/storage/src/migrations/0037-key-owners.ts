/** Whose an access key is, and the value that its last rotation left working for a while. */
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { StorageDialect } from '../dialects/dialect.ts';

export const keyOwners = ({ text }: StorageDialect['types']): Migration => ({
  async up(db) {
    await sql.raw(`alter table access_keys add column owner ${text} not null default ''`).execute(db);
    await sql.raw(`alter table access_keys add column previous_hash ${text}`).execute(db);
    await sql.raw("create index if not exists access_keys_owner on access_keys (owner) where owner <> ''").execute(db);
    await sql.raw('create index if not exists access_keys_previous on access_keys (previous_hash) where previous_hash is not null').execute(db);
  },
});
