/** MCP servers, whose tools are offered at `/mcp`. */
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { StorageDialect } from '../dialects/dialect.ts';

export const mcpTables = ({ text, integer, json }: StorageDialect['types']): Migration => ({
  async up(db) {
    await sql
      .raw(
        `create table if not exists mcp_servers (id ${text} not null primary key, name ${text} not null unique, etag ${integer} not null,
        document ${json} not null, created_at ${integer} not null, updated_at ${integer} not null)`,
      )
      .execute(db);
  },
});
