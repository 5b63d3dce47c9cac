/** The audit log. The key starts with the time: pages go back through it. */
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { StorageDialect } from '../dialects/dialect.ts';

export const auditTable = ({ text, integer, json }: StorageDialect['types']): Migration => ({
  async up(db) {
    await sql
      .raw(
        `create table if not exists audit_logs (occurred_at ${integer} not null, id ${text} not null, actor ${text} not null, action ${text} not null,
        entity_type ${text} not null, entity_id ${text} not null, diff ${json}, ip_address ${text}, request_id ${text}, primary key (occurred_at, id))`,
      )
      .execute(db);
    await sql.raw('create index if not exists audit_logs_entity on audit_logs (entity_type, entity_id, occurred_at)').execute(db);
  },
});
