/** Tools as MCP servers were seen to describe them, so that every process notices when one changes. */
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { StorageDialect } from '../dialects/dialect.ts';

export const mcpToolTable = ({ text, integer }: StorageDialect['types']): Migration => ({
  async up(db) {
    await sql
      .raw(
        `create table if not exists mcp_tools (server_id ${text} not null references mcp_servers (id) on delete cascade, name ${text} not null, hash ${text} not null,
        approved_hash ${text} not null, first_at ${integer} not null, changed_at ${integer}, primary key (server_id, name))`,
      )
      .execute(db);
  },
});
