/** Who calls, and what this caller may do: as the newest configuration says. */
import type { KeyGroup, McpCaller, McpSeparator, Snapshot } from '@model-gateway/contracts';
import type { Acl } from '../access/decide.ts';

export interface Caller {
  readonly facts: McpCaller;
  readonly group: KeyGroup;
  readonly acl: Acl;
  readonly separator: McpSeparator;
  /** null: descriptions are never left out. */
  readonly maxToolTokens: number | null;
}

/** null: the group is gone, or disabled. `maxToolTokens`: the gateway's own limit; 0: none. */
export function readCaller(facts: McpCaller, query: URLSearchParams, snapshot: Snapshot, maxToolTokens: number): Caller | null {
  const group = snapshot.keyGroups.get(facts.keyGroup);
  if (!group?.enabled) return null;
  const asked = query.get('separator');
  const separator = asked === '__' || asked === '.' ? asked : (group.mcp_separator ?? '.');
  const askedTokens = query.get('max_tool_tokens');
  const limits = [maxToolTokens, group.mcp_max_tool_tokens ?? 0, askedTokens !== null && /^\d{1,9}$/.test(askedTokens) ? Number(askedTokens) : 0];
  const smallest = Math.min(...limits.map((limit) => (limit === 0 ? Number.POSITIVE_INFINITY : limit)));
  return { facts, group, acl: group.mcp_tool_acl, separator, maxToolTokens: Number.isFinite(smallest) ? smallest : null };
}
