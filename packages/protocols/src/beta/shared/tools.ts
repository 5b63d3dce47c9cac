/** Tool definitions and tool choice, both ways. */
import type { Conversation, Tool, ToolChoice } from '../../chat/conversation.ts';
import { invalid } from '../../kit/fail.ts';
import type { Losses } from '../../kit/losses.ts';
import { noteRelaxed } from '../../kit/object-parameters.ts';
import { asArray, asBoolean, asObject, asString, type JsonObject, own } from '../../kit/read.ts';
import { rootObject } from '../../kit/root-object.ts';
import { readCache, writeCache } from './cache-mark.ts';
import { describeClientTool } from './client-tools.ts';
import { closeSchema } from './schema.ts';

const functionFields: ReadonlySet<string> = new Set([
  ...['type', 'name', 'description', 'input_schema', 'strict', 'cache_control', 'defer_loading'],
  // It asks for arguments as soon as they are made, which is how other vendors stream them anyway: nothing of the answer is lost without it.
  'eager_input_streaming',
]);

export function readTools(value: unknown, losses: Losses): Tool[] {
  if (value === undefined || value === null) return [];
  const list = asArray(value);
  if (!list) throw invalid('tools', 'tools: must be a list');
  return list.map((entry, place) => readTool(entry, `tools.${place}`, losses));
}

function readTool(value: unknown, path: string, losses: Losses): Tool {
  const tool = asObject(value);
  if (!tool) throw invalid(path, `${path}: must be an object`);
  const type = asString(own(tool, 'type'));
  const name = asString(own(tool, 'name')) ?? '';
  const cache = readCache(tool);
  // A type of its own means the vendor runs it, or its models know the schema (web search, text editor, bash): only the same family understands it.
  if (type !== undefined && type !== 'custom') {
    const asFunction = name === '' ? undefined : describeClientTool(type, tool);
    return { type: 'server', name: name || type, raw: tool, rawProtocol: 'beta', ...(asFunction && { asFunction }), ...cache };
  }
  if (name === '') throw invalid(`${path}.name`, `${path}.name: Field required`);
  losses.unread('tools', tool, functionFields);
  if (own(tool, 'defer_loading') === true) losses.add('tools.defer_loading', 'emulated', 'all tools are offered at once');
  const description = asString(own(tool, 'description'));
  const parameters = own(tool, 'input_schema');
  const strict = asBoolean(own(tool, 'strict'));
  return {
    type: 'function',
    name,
    ...(description !== undefined && { description }),
    ...(parameters !== undefined && { parameters }),
    ...(strict !== undefined && { strict }),
    ...cache,
  };
}

export function readToolChoice(value: unknown): Pick<Conversation, 'toolChoice' | 'parallelToolCalls'> {
  if (value === undefined || value === null) return {};
  const single = asBoolean(own(value, 'disable_parallel_tool_use'));
  return { toolChoice: readChoice(value), ...(single !== undefined && { parallelToolCalls: !single }) };
}

function readChoice(value: unknown): ToolChoice {
  const type = asString(own(value, 'type'));
  if (type === 'auto' || type === 'any' || type === 'none') return { type };
  const name = asString(own(value, 'name'));
  if (type !== 'tool') throw invalid('tool_choice.type', 'tool_choice.type: must be one of auto, any, tool, none');
  if (name === undefined || name === '') throw invalid('tool_choice.name', 'tool_choice.name: Field required');
  return { type, name };
}

/** What is left of the tools after `allowed` has narrowed them: this wire has no such list, so the others are not sent. */
export function writeTools(conversation: Conversation, strictTools: boolean, losses: Losses, relaxed: Map<string, unknown> = new Map()): unknown[] {
  const { toolChoice } = conversation;
  const allowed = toolChoice !== undefined && 'allowed' in toolChoice ? toolChoice.allowed : undefined;
  if (allowed) losses.add('tool_choice.allowed', 'emulated', 'the tools that are not allowed were left out');
  return conversation.tools.flatMap((tool, place) =>
    allowed && !allowed.includes(tool.name) ? [] : (writeTool(tool, `tools.${place}`, strictTools, losses, relaxed) ?? []),
  );
}

function writeTool(tool: Tool, path: string, strictTools: boolean, losses: Losses, relaxed: Map<string, unknown>): unknown {
  if (tool.type === 'server') {
    // A copy: cache marks over the limit are taken off what is sent, never off the caller's own body.
    if (tool.rawProtocol === 'beta') return { ...asObject(tool.raw) };
    losses.dropped(path, 'a tool that only its own vendor runs');
    return undefined;
  }
  const { schema, relaxed: isRelaxed } = rootObject(tool.parameters);
  if (isRelaxed) {
    noteRelaxed(losses);
    relaxed.set(tool.name, tool.parameters);
  }
  return {
    name: tool.name,
    ...(tool.description !== undefined && tool.description !== '' && { description: tool.description }),
    ...writeSchema(tool, schema, path, strictTools, losses),
    ...writeCache(tool.cache),
  };
}

/** `strict` is kept only where the model has it and the schema is already in its narrower dialect; a loose tool works, a refused one does not. */
function writeSchema(tool: Tool, schema: JsonObject, path: string, strictTools: boolean, losses: Losses): JsonObject {
  if (tool.strict !== true) return { input_schema: schema };
  const closed = closeSchema(schema);
  if (strictTools && !closed.changed) return { input_schema: closed.schema, strict: true };
  losses.dropped(`${path}.strict`, strictTools ? 'the schema uses words that strict tools do not take' : 'not known to this model');
  return { input_schema: schema };
}

/** `tool_choice`, undefined when nothing is asked. A choice without tools is a 400 on this wire. */
export function writeToolChoice(conversation: Conversation, hasTools: boolean): JsonObject | undefined {
  if (!hasTools) return undefined;
  const { toolChoice, parallelToolCalls } = conversation;
  if (!toolChoice && parallelToolCalls === undefined) return undefined;
  const choice: JsonObject = toolChoice?.type === 'tool' ? { type: 'tool', name: toolChoice.name } : { type: toolChoice?.type ?? 'auto' };
  // `none` has no such field: it is refused there.
  if (parallelToolCalls !== undefined && choice['type'] !== 'none') choice['disable_parallel_tool_use'] = !parallelToolCalls;
  return choice;
}
