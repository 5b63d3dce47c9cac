/** From which addresses each access key was used, and since when. `accepted_at`: somebody said that the address is the owner's. */
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { StorageDialect } from '../dialects/dialect.ts';

export const keyAddresses = ({ text, integer }: StorageDialect['types']): Migration => ({
  async up(db) {
    await sql
      .raw(
        `create table if not exists key_addresses (access_key ${text} not null, address ${text} not null, first_at ${integer} not null,
        last_at ${integer} not null, accepted_at ${integer}, primary key (access_key, address))`,
      )
      .execute(db);
    await sql.raw('create index if not exists key_addresses_first on key_addresses (first_at)').execute(db);
  },
});
