/** Which descriptions of MCP servers' tools were seen, and which of them an admin approved. The first one that is seen counts as approved. */
import type { McpSeenTool } from '@model-gateway/contracts';
import type { Kysely } from 'kysely';
import type { StorageDialect } from '../dialects/dialect.ts';
import type { Database, McpToolColumns } from '../schema.ts';

/** The repository of seen tools. */
export interface McpTools {
  /** Notes what a server says now; `peek`: only of tools that are new. Resolves with the names of tools that are not as they were approved. */
  see(serverId: string, tools: readonly McpSeenTool[], now: number, peek?: boolean): Promise<string[]>;
  /** By name. */
  list(serverId: string): Promise<McpToolColumns[]>;
  /** What is seen now is approved: of these tools, or of all. Resolves with the names of those that had changed. */
  approve(serverId: string, names: readonly string[] | null): Promise<string[]>;
}

const rowsPerStatement = 200;

export function createMcpTools(db: Kysely<Database>, dialect: StorageDialect): McpTools {
  const translate = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw dialect.translateError(error);
    }
  };
  const rowsOf = (serverId: string) => db.selectFrom('mcp_tools').selectAll().where('server_id', '=', serverId).orderBy('name').execute();
  return {
    list: (serverId) => translate(() => rowsOf(serverId)),
    see: (serverId, tools, now, peek = false) =>
      translate(async () => {
        const known = new Map((await rowsOf(serverId)).map((row) => [row.name, row]));
        const fresh = tools
          .filter(({ name }) => !known.has(name))
          .map(({ name, hash }) => ({ server_id: serverId, name, hash, approved_hash: hash, first_at: now, changed_at: null }));
        for (let start = 0; start < fresh.length; start += rowsPerStatement)
          await db
            .insertInto('mcp_tools')
            .values(fresh.slice(start, start + rowsPerStatement))
            .onConflict((conflict) => conflict.columns(['server_id', 'name']).doNothing())
            .execute();
        const changed: string[] = [];
        for (const { name, hash } of tools) {
          const row = known.get(name);
          if (!row) continue;
          if (row.approved_hash !== hash) changed.push(name);
          if (peek || row.hash === hash) continue;
          const changedAt = row.approved_hash === hash ? null : now;
          await db.updateTable('mcp_tools').set({ hash, changed_at: changedAt }).where('server_id', '=', serverId).where('name', '=', name).execute();
        }
        return changed;
      }),
    approve: (serverId, names) =>
      translate(async () => {
        const changed = (await rowsOf(serverId)).filter(({ hash, approved_hash, name }) => hash !== approved_hash && (names === null || names.includes(name)));
        for (const { name, hash } of changed)
          await db.updateTable('mcp_tools').set({ approved_hash: hash, changed_at: null }).where('server_id', '=', serverId).where('name', '=', name).execute();
        return changed.map(({ name }) => name);
      }),
  };
}
