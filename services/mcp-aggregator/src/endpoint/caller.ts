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

/** What is wrong with the parameters of an address; null: nothing is. */
export function faultOfQuery(query: URLSearchParams): string | null {
  const separator = query.get('separator') ?? '.';
  if (separator !== '.' && separator !== '__') return 'The parameter separator must be . or __ (two underscores).';
  if (!/^\d{1,9}$/.test(query.get('max_tool_tokens') ?? '0')) return 'The parameter max_tool_tokens must be a whole number.';
  return null;
}

/** `query`: one without a fault. null: the group is gone, or disabled. `maxToolTokens`: the gateway's own limit; 0: none. */
export function readCaller(facts: McpCaller, query: URLSearchParams, snapshot: Snapshot, maxToolTokens: number): Caller | null {
  const group = snapshot.keyGroups.get(facts.keyGroup);
  if (!group?.enabled) return null;
  const separator = (query.get('separator') as McpSeparator | null) ?? group.mcp_separator ?? '.';
  const limits = [maxToolTokens, group.mcp_max_tool_tokens ?? 0, Number(query.get('max_tool_tokens') ?? 0)];
  const smallest = Math.min(...limits.map((limit) => (limit === 0 ? Number.POSITIVE_INFINITY : limit)));
  return { facts, group, acl: group.mcp_tool_acl, separator, maxToolTokens: Number.isFinite(smallest) ? smallest : null };
}
