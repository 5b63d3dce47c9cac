/** Lists of tools in a key group: an entry that no tool can match grants nothing, and among the denied ones it would leave open what it was meant to close. */
import { isToolPattern, type McpToolAcl } from '@model-gateway/contracts';
import type { Detail } from '../problem.ts';

export const checkToolAcl = (acl: McpToolAcl | undefined): Detail[] =>
  (['allowed_tools', 'denied_tools'] as const).flatMap((list) =>
    (acl?.[list] ?? []).flatMap((pattern, index) =>
      isToolPattern(pattern)
        ? []
        : [{ field: `mcp_tool_acl.${list}.${index}`, message: 'must be *, server.*, *.tool or server.tool: * stands for a whole name only' }],
    ),
  );
