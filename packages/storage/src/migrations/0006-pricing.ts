/** What models cost, as admins say it. */
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { StorageDialect } from '../dialects/dialect.ts';

export const pricingTable = ({ text, integer, json }: StorageDialect['types']): Migration => ({
  async up(db) {
    await sql
      .raw(
        `create table if not exists model_pricing (id ${text} not null primary key, name ${text} not null unique, etag ${integer} not null,
        document ${json} not null, created_at ${integer} not null, updated_at ${integer} not null, model ${text} not null)`,
      )
      .execute(db);
  },
});
