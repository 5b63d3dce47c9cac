import type { Conversation, Tool, ToolChoice } from '../../chat/conversation.ts';
import { loseForcedChoice } from '../../kit/forced-choice.ts';
import type { Losses } from '../../kit/losses.ts';
import type { JsonObject } from '../../kit/read.ts';

/** `tools`, `tool_choice` and `parallel_tool_calls`; {} when no tool is left. */
export function writeTools({ tools: all, toolChoice, parallelToolCalls }: Conversation, losses: Losses): JsonObject {
  const allowed = toolChoice && 'allowed' in toolChoice && toolChoice.allowed ? new Set(toolChoice.allowed) : null;
  if (allowed) losses.add('tool_choice.allowed', 'emulated', 'The tools that may not be called were left out.');
  const tools = all.filter((tool) => !allowed || allowed.has(tool.name)).flatMap((tool) => writeTool(tool, losses) ?? []);
  if (tools.length === 0) {
    loseForcedChoice(toolChoice, losses);
    return {};
  }
  const choice = toolChoice && writeChoice(toolChoice, tools, losses);
  return { tools, ...(choice !== undefined && { tool_choice: choice }), ...(parallelToolCalls !== undefined && { parallel_tool_calls: parallelToolCalls }) };
}

interface WireTool {
  type: 'function';
  function: { name: string; description?: string; parameters: unknown };
}

function writeTool(tool: Tool, losses: Losses): WireTool | undefined {
  if (tool.type === 'server') {
    losses.add('tools.server', 'dropped', 'A tool that the vendor runs itself is only known to its own endpoint.');
    return undefined;
  }
  if (tool.cache) losses.add('cache_control', 'dropped', 'This upstream caches prompts by itself.');
  if (tool.strict === true) losses.add('tools.strict', 'dropped', 'This upstream does not hold arguments to their schema.');
  return {
    type: 'function',
    function: {
      name: tool.name,
      ...(tool.description !== undefined && { description: tool.description }),
      parameters: tool.parameters ?? { type: 'object', properties: {} },
    },
  };
}

/** The wire knows `auto`, `none` and one named function; "some tool" is only sayable when there is but one. */
function writeChoice(choice: ToolChoice, tools: readonly WireTool[], losses: Losses): unknown {
  if (choice.type === 'auto' || choice.type === 'none') return choice.type;
  const name = choice.type === 'tool' ? choice.name : tools.length === 1 ? tools[0]?.function.name : undefined;
  if (name !== undefined) return { type: 'function', function: { name } };
  losses.add('tool_choice', 'downgraded', 'That some tool must be called cannot be said here.');
  return 'auto';
}
