/** Bodies of requests, for groups that want them: beside the rows, so that lists of rows stay light, and with an end of their own. */
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { StorageDialect } from '../dialects/dialect.ts';

export const requestBodiesTable = ({ text, integer, boolean }: StorageDialect['types']): Migration => ({
  async up(db) {
    await sql
      .raw(
        `create table if not exists request_bodies (started_at ${integer} not null, id ${text} not null, expires_at ${integer} not null,
        access_key ${text} not null, key_group ${text} not null, model ${text}, client_protocol ${text} not null, path ${text} not null,
        stream ${boolean} not null, status ${integer} not null,
        request ${text} not null, request_bytes ${integer} not null, request_truncated ${boolean} not null,
        response ${text} not null, response_bytes ${integer} not null, response_truncated ${boolean} not null, primary key (started_at, id))`,
      )
      .execute(db);
    await sql.raw('create index if not exists request_bodies_id on request_bodies (id)').execute(db);
    await sql.raw('create index if not exists request_bodies_expires_at on request_bodies (expires_at)').execute(db);
  },
});
