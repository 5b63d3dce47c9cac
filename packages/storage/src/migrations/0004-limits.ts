/** Spending by owner, currency and UTC day: budgets survive restarts. */
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { StorageDialect } from '../dialects/dialect.ts';

export const spendTables = ({ text, integer }: StorageDialect['types']): Migration => ({
  async up(db) {
    await sql
      .raw(
        `create table if not exists spend_days (owner_kind ${text} not null, owner ${text} not null, currency ${text} not null, day ${integer} not null,
        micros ${integer} not null, primary key (owner_kind, owner, currency, day))`,
      )
      .execute(db);
    // Its one row is locked by every writer of the sums, so that a request's row is counted once however often it is delivered.
    await sql.raw(`create table if not exists spend_turn (id ${integer} not null primary key, turn ${integer} not null)`).execute(db);
    await sql.raw('insert into spend_turn (id, turn) values (1, 1) on conflict do nothing').execute(db);
  },
});
