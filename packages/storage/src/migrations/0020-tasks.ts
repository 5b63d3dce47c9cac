/** Tasks of upstreams that callers ask about later. `due_at` is null for one that has ended; `content` and `reply` are sealed. */
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { StorageDialect } from '../dialects/dialect.ts';

export const taskTable = ({ text, integer }: StorageDialect['types']): Migration => ({
  async up(db) {
    const statements = [
      `create table if not exists tasks (owner ${text} not null, id ${text} not null, status ${text} not null, created_at ${integer} not null,
        due_at ${integer}, expires_at ${integer} not null, content ${text} not null, reply ${text}, primary key (owner, id))`,
      'create index if not exists tasks_due_at on tasks (due_at) where due_at is not null',
      'create index if not exists tasks_expires_at on tasks (expires_at)',
    ];
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
});
