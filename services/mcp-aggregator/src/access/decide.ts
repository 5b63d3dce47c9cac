/** Which tools the keys of a group may use: one decision, for lists and calls alike. */
import type { McpToolAcl } from '@model-gateway/contracts';

/** What a decision is made of. */
export interface ToolOf {
  server: string;
  tags: readonly string[];
  tool: string;
}

/** Absent: nothing is allowed. */
export type Acl = McpToolAcl | undefined;

/** `*`, `server.*`, `*.tool`, `server.tool`: names of servers have no dot, so the first one separates. */
function matches(pattern: string, server: string, tool: string): boolean {
  if (pattern === '*' || pattern === '*.*') return true;
  const dot = pattern.indexOf('.');
  if (dot < 0) return false;
  const [ofServer, ofTool] = [pattern.slice(0, dot), pattern.slice(dot + 1)];
  return (ofServer === '*' || ofServer === server) && (ofTool === '*' || ofTool === tool);
}

/** Denied before allowed tools before allowed tags; what no list names is not allowed. */
export function isToolAllowed(acl: Acl, { server, tags, tool }: ToolOf): boolean {
  if (!acl) return false;
  if (acl.denied_tools.some((pattern) => matches(pattern, server, tool))) return false;
  if (acl.allowed_tools.some((pattern) => matches(pattern, server, tool))) return true;
  return acl.allowed_tags.some((tag) => tags.includes(tag));
}

/** Whether anything of a server may be used: without that it is as if there were none of its name. */
export function isServerVisible(acl: Acl, { server, tags }: Pick<ToolOf, 'server' | 'tags'>): boolean {
  if (!acl) return false;
  if (acl.denied_tools.some((pattern) => matchesWhole(pattern, server))) return false;
  if (acl.allowed_tags.some((tag) => tags.includes(tag))) return true;
  return acl.allowed_tools.some((pattern) => pattern === '*' || pattern.startsWith('*.') || pattern.startsWith(`${server}.`));
}

/** What is not a tool (resources, prompts) has no rule of its own: it takes a grant of the whole server, of which nothing is denied. */
export function isWholeServerAllowed(acl: Acl, { server }: Pick<ToolOf, 'server'>): boolean {
  if (!acl?.allowed_tools.some((pattern) => matchesWhole(pattern, server))) return false;
  return !acl.denied_tools.some((pattern) => pattern === '*' || pattern.startsWith('*.') || pattern.startsWith(`${server}.`));
}

const matchesWhole = (pattern: string, server: string): boolean => pattern === '*' || pattern === '*.*' || pattern === `${server}.*`;
