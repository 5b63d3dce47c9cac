/** Tools and tool choice, both ways. Tools are flat here: `{type, name, parameters, strict}`. */
import { readBreakpoint } from '../../alpha/index.ts';
import type { Conversation, Tool, ToolChoice } from '../../chat/conversation.ts';
import { invalid } from '../../kit/fail.ts';
import { type Losses, noPlace } from '../../kit/losses.ts';
import { objectParameters } from '../../kit/object-parameters.ts';
import { asArray, asBoolean, asObject, asString, type JsonObject, own } from '../../kit/read.ts';
import { keepStrict } from '../../kit/strict-schema.ts';
import { type ClientTool, findClientTool } from './client-tools.ts';
import { readSearch } from './web-search.ts';

const protocol = 'alpha_response';

/** The tools of a request, and the names needed to read its history and write its reply. */
export interface ReadTools {
  tools: Tool[];
  /** Names of `tools`, whose first bearer counts. */
  names: Set<string>;
  /** Those that the caller runs and only this protocol knows, by name. */
  client: Map<string, ClientTool>;
  namespaced: Map<string, { namespace: string; name: string }>;
}

export const noTools = (): ReadTools => ({ tools: [], names: new Set(), client: new Map(), namespaced: new Map() });

/** A namespaced tool's name where there are no namespaces. */
export const joinNamespace = (namespace: string, name: string): string => (namespace.endsWith('__') ? `${namespace}${name}` : `${namespace}__${name}`);

/** Reads `tools` into `into`, which later lists (tools found by a search) may extend. Throws when an entry is not a tool at all. */
export function readTools(value: unknown, path: string, into: ReadTools): void {
  if (value === undefined || value === null) return;
  const list = asArray(value);
  if (!list) throw invalid(path, 'must be an array');
  list.forEach((entry, index) => {
    for (const tool of readTool(entry, `${path}.${index}`, into)) {
      if (into.names.has(tool.name) && tool.type !== 'server') continue;
      into.names.add(tool.name);
      into.tools.push(tool);
    }
  });
}

/** Declares what tools say and only the vendor knows. Separate from reading, which knows nothing of losses. */
export function declareToolLosses(value: unknown, losses: Losses): void {
  for (const tool of asArray(value) ?? []) {
    if (own(tool, 'type') === 'namespace') declareToolLosses(own(tool, 'tools'), losses);
    if (own(tool, 'defer_loading') === true) losses.add('tools.defer_loading', 'emulated', 'All tools are offered at once.');
    if (asArray(own(own(tool, 'environment'), 'skills'))?.length) losses.dropped('tools.environment.skills', noPlace);
    if (findClientTool(asObject(tool) ?? {})) losses.add('tools.client', 'emulated', 'A tool that only its vendor’s models know was sent as a function.');
    if (own(tool, 'async') === true) losses.add('tools.async', 'dropped', 'The model waits for the results of its calls.');
    if (own(tool, 'output_schema') !== undefined) losses.add('tools.output_schema', 'dropped', 'What a tool answers is not described elsewhere.');
    if (asArray(own(tool, 'allowed_callers'))?.some((caller) => caller !== 'direct'))
      losses.add('tools.allowed_callers', 'dropped', 'Tools are called by the model alone.');
  }
}

function readTool(entry: unknown, path: string, into: ReadTools): Tool[] {
  const raw = asObject(entry);
  const type = asString(own(raw, 'type'));
  if (!raw || type === undefined) throw invalid(`${path}.type`, 'must be a string');
  if (type === 'function') return [readFunction(raw, path)];
  if (type === 'custom') return [readCustom(raw, path)];
  const client = findClientTool(raw);
  if (client) {
    if (!into.names.has(client.tool.name)) into.client.set(client.tool.name, client);
    return [client.tool];
  }
  if (type === 'namespace') return readNamespace(raw, path, into);
  const asSearch = readSearch(raw);
  const name = asString(own(raw, 'name')) ?? asString(own(raw, 'server_label')) ?? type;
  return [{ type: 'server', name, raw, rawProtocol: protocol, ...(asSearch && { asSearch }) }];
}

/** One namespace holds tools of its own; elsewhere each stands alone under a joined name, which the reply's calls are split by again. */
function readNamespace(raw: JsonObject, path: string, into: ReadTools): Tool[] {
  const namespace = readName(raw, path);
  const tools: Tool[] = [];
  (asArray(own(raw, 'tools')) ?? []).forEach((entry, index) => {
    for (const tool of readTool(entry, `${path}.tools.${index}`, into)) {
      if (tool.type === 'server') continue;
      const joined = joinNamespace(namespace, tool.name);
      into.namespaced.set(joined, { namespace, name: tool.name });
      tools.push({ ...tool, name: joined });
    }
  });
  return tools;
}

function readName(raw: JsonObject, path: string): string {
  const name = asString(own(raw, 'name'));
  if (!name) throw invalid(`${path}.name`, 'must be a non-empty string');
  return name;
}

function readFunction(raw: JsonObject, path: string): Tool {
  const description = asString(own(raw, 'description'));
  const parameters = own(raw, 'parameters');
  const strict = asBoolean(own(raw, 'strict'));
  const cache = readBreakpoint(raw);
  return {
    type: 'function',
    name: readName(raw, path),
    ...(description !== undefined && { description }),
    ...(parameters !== undefined && { parameters }),
    ...(strict !== undefined && { strict }),
    ...(cache && { cache }),
  };
}

function readCustom(raw: JsonObject, path: string): Tool {
  const description = asString(own(raw, 'description'));
  return { type: 'custom', name: readName(raw, path), ...(description !== undefined && { description }), raw, rawProtocol: protocol };
}

const choiceWords: ReadonlyMap<string, ToolChoice> = new Map<string, ToolChoice>([
  ['auto', { type: 'auto' }],
  ['none', { type: 'none' }],
  ['required', { type: 'any' }],
]);

export function readToolChoice(value: unknown): ToolChoice | undefined {
  if (value === undefined || value === null) return undefined;
  const word = asString(value);
  const known = choiceWords.get(word ?? '');
  if (known) return known;
  const object = asObject(value);
  const type = asString(own(object, 'type'));
  if (!object || type === undefined) throw invalid('tool_choice', 'must be auto, none, required or an object with a type');
  const name = asString(own(object, 'name')) ?? asString(own(own(object, 'function'), 'name'));
  if (type === 'function' || type === 'custom') {
    if (!name) throw invalid('tool_choice.name', 'must be a non-empty string');
    const namespace = asString(own(object, 'namespace'));
    return { type: 'tool', name: namespace ? joinNamespace(namespace, name) : name };
  }
  if (type === 'allowed_tools') return readAllowed(object);
  return { type: 'tool', name: asString(own(object, 'server_label')) ?? name ?? type };
}

function readAllowed(object: JsonObject): ToolChoice {
  const list = asArray(own(object, 'tools'));
  if (!list) throw invalid('tool_choice.tools', 'must be an array');
  const allowed = list.map((tool) => asString(own(tool, 'name')) ?? asString(own(tool, 'server_label')) ?? asString(own(tool, 'type')));
  return { type: own(object, 'mode') === 'required' ? 'any' : 'auto', allowed: allowed.filter((name): name is string => name !== undefined) };
}

/** Tools as this wire wants them; other vendors' own tools are left out. */
export function writeTools(conversation: Conversation, losses: Losses, relaxed: Map<string, unknown> = new Map()): JsonObject[] {
  const printed: JsonObject[] = [];
  conversation.tools.forEach((tool, index) => {
    if (tool.cache) losses.add('tools.cache_control', 'dropped', 'The upstream places cache marks by itself.');
    if (tool.type === 'function') {
      const parameters = objectParameters(tool.parameters ?? {}, losses);
      if (parameters.relaxed) relaxed.set(tool.name, tool.parameters);
      printed.push({
        type: 'function',
        name: tool.name,
        ...(tool.description !== undefined && { description: tool.description }),
        parameters: parameters.schema,
        // The default here is true, which refuses most schemas written for other protocols.
        strict: keepStrict(tool.strict, tool.parameters, 'tools.strict', losses) ?? false,
      });
    } else if (tool.type === 'custom') {
      const format = customFormat(tool);
      printed.push({
        type: 'custom',
        name: tool.name,
        ...(tool.description !== undefined && { description: tool.description }),
        ...(format !== undefined && { format }),
      });
    } else if (tool.rawProtocol === protocol && asObject(tool.raw)) printed.push(tool.raw as JsonObject);
    else losses.add(`tools.${index}`, 'dropped', 'The tool belongs to another vendor.');
  });
  return printed;
}

/** The grammar of a free-text tool; chat completions nest the same object one level deeper, and its grammar once more. */
function customFormat(tool: Tool): unknown {
  const format = own(tool.raw, 'format') ?? own(own(tool.raw, 'custom'), 'format');
  const grammar = asObject(own(format, 'grammar'));
  return grammar ? { type: 'grammar', ...grammar } : format;
}

export function writeToolChoice(conversation: Conversation, losses: Losses): unknown {
  const choice = conversation.toolChoice;
  if (!choice) return undefined;
  if (conversation.tools.length === 0) {
    // A choice without tools is a 400; auto and none mean the same without it.
    if (choice.type === 'any' || choice.type === 'tool') losses.add('tool_choice', 'dropped', 'There is no tool to choose.');
    return undefined;
  }
  const tools = new Map(conversation.tools.map((tool) => [tool.name, tool]));
  if (choice.type === 'tool') return nameTool(tools, choice.name);
  const mode = choice.type === 'any' ? 'required' : choice.type;
  if (choice.type === 'none' || choice.allowed === undefined) return mode;
  return { type: 'allowed_tools', mode, tools: choice.allowed.map((name) => nameTool(tools, name)) };
}

function nameTool(tools: ReadonlyMap<string, Tool>, name: string): JsonObject {
  const tool = tools.get(name);
  if (tool?.type !== 'server') return { type: tool?.type ?? 'function', name };
  const type = asString(own(tool.raw, 'type')) ?? name;
  return type === 'mcp' ? { type, server_label: name } : { type };
}
