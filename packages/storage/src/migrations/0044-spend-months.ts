/**
 * Spending by month, beside that by day: a budget of a month, or of all time, is one row or a few instead of one for each day. Kept by the database
 * itself, so that what an earlier version writes during an upgrade is in it too.
 */
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { StorageDialect } from '../dialects/dialect.ts';

const key = 'owner_kind, owner, currency, month';
const add = `on conflict (${key}) do update set micros = spend_months.micros + excluded.micros`;

export const spendMonths = ({ mode, types: { text, integer }, compactTable }: StorageDialect): Migration => ({
  async up(db) {
    const run = (statement: string) => sql.raw(statement).execute(db);
    const postgres = mode === 'postgresql';
    const monthOf = postgres
      ? (day: string) => `(extract(epoch from date_trunc('month', to_timestamp(${day} / 1000) at time zone 'UTC')) * 1000)::bigint`
      : (day: string) => `(unixepoch(${day} / 1000, 'unixepoch', 'start of month') * 1000)`;
    const sums = (from: string) =>
      `select owner_kind, owner, currency, ${monthOf('day')} as month, sum(micros) as micros from ${from} group by ${postgres ? '1, 2, 3, 4 order by 1, 2, 3, 4' : key}`;
    const into = `insert into spend_months (${key}, micros)`;

    if (postgres) await run('set local statement_timeout = 0');
    await run(
      `create table spend_months (owner_kind ${text} not null, owner ${text} not null, currency ${text} not null, month ${integer} not null,
       micros ${integer} not null, primary key (${key})) ${compactTable}`,
    );
    // Nothing is spent between the sums and the triggers.
    if (postgres) await run('lock table spend_days in share row exclusive mode');
    await run(`${into} ${sums('spend_days')}`);
    if (!postgres) {
      const month = (sign: string) => `values (new.owner_kind, new.owner, new.currency, ${monthOf('new.day')}, new.micros${sign}) ${add}`;
      await run(`create trigger spend_days_added after insert on spend_days begin ${into} ${month('')}; end`);
      await run(`create trigger spend_days_changed after update on spend_days begin ${into} ${month(' - old.micros')}; end`);
      return;
    }
    const trigger = async (name: string, event: string, tables: string, from: string) => {
      await run(`create function ${name}() returns trigger language plpgsql as $$ begin ${into} ${sums(from)} ${add}; return null; end $$`);
      await run(`create trigger ${name} after ${event} on spend_days referencing ${tables} for each statement execute function ${name}()`);
    };
    await trigger('spend_days_added', 'insert', 'new table as added', 'added');
    const difference = '(select * from added union all select owner_kind, owner, currency, day, -micros from replaced) as difference';
    await trigger('spend_days_changed', 'update', 'old table as replaced new table as added', difference);
  },
});
