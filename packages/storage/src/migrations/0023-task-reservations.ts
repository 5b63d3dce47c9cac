/** What running tasks hold of the budgets of their callers. */
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { StorageDialect } from '../dialects/dialect.ts';

export const taskReservations = ({ text, integer }: StorageDialect['types']): Migration => ({
  async up(db) {
    const statements = [
      `create table if not exists task_reservations (task ${text} not null, currency ${text} not null, access_key ${text} not null, key_group ${text} not null,
        micros ${integer} not null, created_at ${integer} not null, until ${integer} not null, primary key (task, currency))`,
      'create index if not exists task_reservations_access_key on task_reservations (access_key, currency)',
      'create index if not exists task_reservations_key_group on task_reservations (key_group, currency)',
      'create index if not exists task_reservations_until on task_reservations (until)',
    ];
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
});
