/** Tool definitions and tool choice. */

import { closeSchema } from '../../beta/index.ts';
import type { Conversation, Tool } from '../../chat/conversation.ts';
import { forcesCall } from '../../kit/forced-choice.ts';
import type { Losses } from '../../kit/losses.ts';
import { noteRelaxed } from '../../kit/object-parameters.ts';
import type { JsonObject } from '../../kit/read.ts';
import { rootObject } from '../../kit/root-object.ts';
import { writeCachePoint } from './cache-points.ts';
import type { CloudFamily } from './model-family.ts';
import type { WireTool } from './wire.ts';

/** `toolConfig`, undefined when there are no tools and no history of calls. The list is the request's own: cache points may be taken out of it. */
export function writeToolConfig(conversation: Conversation, family: CloudFamily, losses: Losses): { tools: WireTool[]; toolChoice?: JsonObject } | undefined {
  const called = calledNames(conversation);
  const none = conversation.toolChoice?.type === 'none';
  if (none && called.size === 0) {
    losses.add('tool_choice.none', 'emulated', 'the tools were left out');
    return undefined;
  }
  if (none) losses.add('tool_choice.none', 'dropped', 'has no counterpart, and the tools must be named while the history holds calls');
  const tools = offered(conversation, called, losses).flatMap((tool, place) => writeTool(tool, `tools.${place}`, family, losses));
  // A history with calls is refused without definitions, so they are made of the names.
  if (tools.length === 0 && called.size > 0) {
    losses.add('tools', 'emulated', 'tools of the history that are no longer offered were named without their schemas');
    for (const name of called) tools.push({ toolSpec: { name, inputSchema: { json: { type: 'object', properties: {} } } } });
  }
  if (tools.length === 0) {
    if (forcesCall(conversation.toolChoice)) losses.add('tool_choice', 'dropped', 'there are no tools');
    return undefined;
  }
  const toolChoice = writeToolChoice(conversation, family, losses);
  return { tools, ...(toolChoice && { toolChoice }) };
}

function calledNames(conversation: Conversation): ReadonlySet<string> {
  const names = new Set<string>();
  for (const turn of conversation.turns) for (const part of turn.parts) if (part.type === 'tool-call' && turn.role === 'assistant') names.add(part.name);
  return names;
}

/** The tools that `allowed` permits, and those that were called: without its tool a call could not be sent. */
function offered(conversation: Conversation, called: ReadonlySet<string>, losses: Losses): Tool[] {
  const { toolChoice } = conversation;
  const allowed = toolChoice !== undefined && 'allowed' in toolChoice ? toolChoice.allowed : undefined;
  if (!allowed) return conversation.tools;
  losses.add('tool_choice.allowed', 'emulated', 'the tools that are not allowed were left out');
  const kept = new Set(allowed);
  return conversation.tools.filter(({ name }) => kept.has(name) || called.has(name));
}

function writeTool(tool: Tool, path: string, family: CloudFamily, losses: Losses): WireTool[] {
  if (tool.type === 'server') {
    losses.add(path, 'dropped', 'a tool that only its own vendor runs');
    return [];
  }
  const { schema, relaxed } = rootObject(tool.parameters);
  if (relaxed) noteRelaxed(losses);
  const closed = closeSchema(schema);
  // A loose tool works, a refused one does not.
  const strict = tool.strict === true && family.structuredOutput && !closed.changed;
  const json = strict ? closed.schema : schema;
  if (tool.strict === true && !strict)
    losses.add(`${path}.strict`, 'dropped', 'not known to this model, or its schema uses words that strict tools do not take');
  const description = tool.description?.trim() ? { description: tool.description } : {};
  const toolSpec = { name: tool.name, ...description, inputSchema: { json }, ...(strict && { strict }) };
  return [{ toolSpec }, ...writeCachePoint(tool.cache, 'tools', family, losses)];
}

/** Whether the model takes its vendor's own choice, which can ask for one call at a time. */
const takesOneCall = ({ parallelToolCalls, toolChoice }: Conversation, family: CloudFamily): boolean =>
  parallelToolCalls === false && family.reasoning === 'messages' && toolChoice?.type !== 'none';

/** The choice in the words of the messages vendor, among the model's own fields: said there, it is not said in `toolConfig`. */
export function writeSingleCall(conversation: Conversation, family: CloudFamily): JsonObject {
  if (!takesOneCall(conversation, family)) return {};
  const { toolChoice } = conversation;
  const choice = toolChoice?.type === 'tool' ? { type: 'tool', name: toolChoice.name } : { type: toolChoice?.type ?? 'auto' };
  return { tool_choice: { ...choice, disable_parallel_tool_use: true } };
}

/** undefined: nothing is asked, said elsewhere, or the model takes no word for it. */
function writeToolChoice(conversation: Conversation, family: CloudFamily, losses: Losses): JsonObject | undefined {
  const { toolChoice, parallelToolCalls } = conversation;
  if (parallelToolCalls === false && takesOneCall(conversation, family)) return undefined;
  if (parallelToolCalls === false) losses.add('parallel_tool_calls', 'dropped', 'has no counterpart');
  if (!toolChoice || toolChoice.type === 'none') return undefined;
  const wanted = toolChoice.type === 'tool' && !family.toolChoices.includes('tool') && family.toolChoices.includes('any') ? 'any' : toolChoice.type;
  if (!family.toolChoices.includes(wanted)) {
    if (wanted !== 'auto') losses.add('tool_choice', 'dropped', 'this model takes no such choice');
    return undefined;
  }
  if (wanted !== toolChoice.type) losses.add('tool_choice', 'downgraded', 'this model can be made to call, not which tool');
  return toolChoice.type === 'tool' && wanted === 'tool' ? { tool: { name: toolChoice.name } } : { [wanted]: {} };
}
