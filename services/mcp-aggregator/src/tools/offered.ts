/** The tools that a caller is offered: those of all servers that are well, in one order, with descriptions as far as the caller's budget goes. */
import { applyEdits } from '@model-gateway/json-bytes';
import { isToolAllowed } from '../access/decide.ts';
import type { Caller } from '../endpoint/caller.ts';
import type { McpServer } from '../servers/server.ts';
import type { Tool } from '../servers/tool.ts';

/** A tool under the name by which a caller knows it. */
export interface OfferedTool {
  server: McpServer;
  tool: Tool;
  name: string;
}

/**
 * `{server}.{tool}`, or with the caller's own separator; with one server there is no prefix. Where two tools would have one name (`a.b` and `a_b` with `__`),
 * the one that keeps its own is offered.
 */
export function offeredTools(servers: readonly McpServer[], caller: Pick<Caller, 'acl' | 'separator'>, prefixed: boolean): OfferedTool[] {
  const { acl, separator } = caller;
  return servers.flatMap((server) => {
    if (!server.isWell) return [];
    const { name, record } = server;
    const tools = server.tools ?? [];
    const isAllowed = (tool: string): boolean => isToolAllowed(acl, { server: name, tags: record.tags, tool });
    if (!prefixed || separator === '.')
      return tools.filter((tool) => isAllowed(tool.name)).map((tool) => ({ server, tool, name: prefixed ? `${name}.${tool.name}` : tool.name }));
    const taken = new Map<string, Tool>();
    for (const tool of tools) {
      const plain = tool.name.replaceAll('.', '_');
      if (isAllowed(tool.name) && (plain === tool.name || !taken.has(plain))) taken.set(plain, tool);
    }
    return tools.flatMap((tool) => {
      const plain = tool.name.replaceAll('.', '_');
      return taken.get(plain) === tool ? [{ server, tool, name: `${name}${separator}${plain}` }] : [];
    });
  });
}

/** JSON texts as they are listed. Descriptions are left out from the servers of the largest priority on, until the rest is within the budget. */
export function printTools(offered: readonly OfferedTool[], maxTokens: number | null, spent = 0): string[] {
  let left = spent + offered.reduce((sum, { tool }) => sum + tool.tokens, 0);
  const bare = new Set<OfferedTool>();
  for (let at = offered.length - 1; maxTokens !== null && left > maxTokens && at >= 0; at--) {
    const one = offered[at]!;
    if (one.tool.descriptionTokens === 0) continue;
    bare.add(one);
    left -= one.tool.descriptionTokens;
  }
  return offered.map((one) => {
    const { tool, name } = one;
    return applyEdits(tool.text, [
      ...(name === tool.name ? [] : [{ path: ['name'], value: name }]),
      ...(bare.has(one) ? [{ path: ['description'], value: undefined }] : []),
    ]);
  });
}
