/** What operators look tasks up by. Tasks that began before have none of it: they are found by their state and their id alone. */
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { StorageDialect } from '../dialects/dialect.ts';

export const taskFacts = ({ text }: StorageDialect['types']): Migration => ({
  async up(db) {
    for (const column of ['access_key', 'model', 'request']) await sql.raw(`alter table tasks add column ${column} ${text}`).execute(db);
    await sql.raw('create index if not exists tasks_created_at on tasks (created_at, id)').execute(db);
    await sql.raw('create index if not exists tasks_id on tasks (id)').execute(db);
  },
});
