import type { Conversation, Tool } from '../../chat/conversation.ts';
import { loseForcedChoice } from '../../kit/forced-choice.ts';
import type { Losses } from '../../kit/losses.ts';
import { asObject, own } from '../../kit/read.ts';
import type { WireTool } from './wire.ts';

/** The tools of the current message. Whatever the history calls must be among them, or the request is refused. */
export function writeTools(conversation: Conversation, losses: Losses): WireTool[] {
  const offered = narrow(conversation, losses).flatMap((tool) => writeTool(tool, losses) ?? []);
  const names = new Set(offered.map((tool) => tool.toolSpecification.name));
  const missing = calledNames(conversation).filter((name) => !names.has(name));
  if (missing.length > 0) losses.add('tools', 'emulated', 'Tools that the history calls were declared, as this upstream demands.');
  return [...offered, ...missing.map((name) => specify(name, undefined, undefined))];
}

/** The wire has no choice of tools: those that may not be called are left out, and "must" cannot be said. */
function narrow({ tools, toolChoice, parallelToolCalls }: Conversation, losses: Losses): readonly Tool[] {
  if (parallelToolCalls === false && tools.length > 0) losses.add('parallel_tool_calls', 'dropped', 'That at most one tool be called cannot be said here.');
  if (tools.length === 0) loseForcedChoice(toolChoice, losses);
  if (!toolChoice || tools.length === 0) return tools;
  if (toolChoice.type === 'none') {
    losses.add('tool_choice', 'emulated', 'No tool was offered, since none may be called.');
    return [];
  }
  const allowed = toolChoice.type === 'tool' ? [toolChoice.name] : toolChoice.allowed;
  if (toolChoice.type === 'tool' || toolChoice.type === 'any') losses.add('tool_choice', 'downgraded', 'That a tool must be called cannot be said here.');
  if (!allowed) return tools;
  losses.add('tool_choice.allowed', 'emulated', 'The tools that may not be called were left out.');
  const names = new Set(allowed);
  return tools.filter((tool) => names.has(tool.name));
}

function writeTool(tool: Tool, losses: Losses): WireTool | undefined {
  if (tool.type === 'server') {
    losses.add('tools.server', 'dropped', 'A tool that the vendor runs itself is only known to its own endpoint.');
    return undefined;
  }
  if (tool.strict === true) losses.add('tools.strict', 'dropped', 'This upstream does not hold arguments to their schema.');
  if (tool.cache) losses.add('cache_control', 'dropped', 'This upstream caches prompts by itself.');
  return specify(tool.name, tool.description, tool.parameters);
}

/** An empty description is refused: the name then stands for it. */
function specify(name: string, description: string | undefined, parameters: unknown): WireTool {
  const schema = asObject(parameters) ?? {};
  const json = own(schema, 'type') === 'object' ? schema : { properties: {}, ...schema, type: 'object' };
  return { toolSpecification: { name, description: description?.trim() ? description : name, inputSchema: { json } } };
}

const calledNames = ({ turns }: Conversation): string[] => [
  ...new Set(turns.flatMap((turn) => turn.parts.flatMap((part) => (part.type === 'tool-call' ? [part.name] : [])))),
];
