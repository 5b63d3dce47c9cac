import type { Tool, ToolChoice } from '../../chat/conversation.ts';
import { invalid } from '../../kit/fail.ts';
import { loseForcedChoice } from '../../kit/forced-choice.ts';
import type { Losses } from '../../kit/losses.ts';
import { objectParameters } from '../../kit/object-parameters.ts';
import { asArray, asBoolean, asString, type JsonObject, own } from '../../kit/read.ts';
import { keepStrict } from '../../kit/strict-schema.ts';
import { typeUnions } from '../../kit/typed-unions.ts';
import { readCacheMark } from './cache-mark.ts';
import type { ChatFamily } from './families.ts';
import { asksSearch } from './web-search-options.ts';

/** `tools`, or the older `functions`, → canonical tools. The flat spellings of Responses and of the messages protocol are taken too. */
export function readTools(source: JsonObject): Tool[] {
  const listed = own(source, 'tools');
  if (listed === undefined) return readList(own(source, 'functions'), 'functions').map((entry, index) => readFunction(entry, entry, `functions[${index}]`));
  return readList(listed, 'tools').map((entry, index) => readTool(entry, `tools[${index}]`));
}

function readList(value: unknown, param: string): unknown[] {
  if (value === undefined) return [];
  const list = asArray(value);
  if (!list) throw invalid(param, `\`${param}\` must be a list.`);
  return list;
}

function readTool(entry: unknown, param: string): Tool {
  const type = typeOf(entry);
  const nested = own(entry, 'function');
  if (type === 'function') return readFunction(nested ?? entry, entry, nested === undefined ? param : `${param}.function`);
  if (type === 'custom') {
    const custom = own(entry, 'custom') ?? entry;
    return { type: 'custom', ...readNaming(custom, `${param}.custom`), raw: custom, rawProtocol: 'alpha' };
  }
  if (type === undefined) throw invalid(`${param}.type`, 'A tool needs a type.');
  return { type: 'server', name: asString(own(entry, 'name')) ?? type, raw: entry, rawProtocol: 'alpha' };
}

function typeOf(entry: unknown): string | undefined {
  const given = asString(own(entry, 'type'));
  if (given === undefined) return own(entry, 'function') !== undefined || own(entry, 'name') !== undefined ? 'function' : undefined;
  // Free text here; in the messages protocol a function, which has a schema.
  return given === 'custom' && own(entry, 'input_schema') !== undefined ? 'function' : given;
}

function readFunction(definition: unknown, entry: unknown, param: string): Tool {
  const parameters = own(definition, 'parameters') ?? own(definition, 'input_schema');
  const strict = asBoolean(own(definition, 'strict'));
  const cache = readCacheMark(entry);
  return {
    type: 'function',
    ...readNaming(definition, param),
    ...(parameters !== undefined && { parameters }),
    ...(strict !== undefined && { strict }),
    ...(cache && { cache }),
  };
}

function readNaming(definition: unknown, param: string): { name: string; description?: string } {
  const name = asString(own(definition, 'name'));
  if (!name) throw invalid(`${param}.name`, 'A tool needs a name.');
  const description = asString(own(definition, 'description'));
  return { name, ...(description !== undefined && { description }) };
}

const choiceWords: Readonly<Record<string, ToolChoice>> = { auto: { type: 'auto' }, none: { type: 'none' }, required: { type: 'any' }, any: { type: 'any' } };

/** `tool_choice`, or the older `function_call`. */
export function readToolChoice(source: JsonObject): ToolChoice | undefined {
  const value = own(source, 'tool_choice') ?? own(source, 'function_call');
  if (value === undefined) return undefined;
  const word = asString(value) ?? asString(own(value, 'type'));
  if (word === 'allowed_tools') return readAllowed(own(value, 'allowed_tools') ?? value);
  const known = word !== undefined && Object.hasOwn(choiceWords, word) ? choiceWords[word] : undefined;
  if (known) return known;
  const name = asString(own(own(value, 'function') ?? own(value, 'custom') ?? value, 'name'));
  if (!name) throw invalid('tool_choice', '`tool_choice` must be none, auto, required, or name a tool.');
  return { type: 'tool', name };
}

function readAllowed(value: unknown): ToolChoice {
  const allowed = readList(own(value, 'tools'), 'tool_choice.allowed_tools.tools').map((tool) => {
    const name = asString(own(own(tool, 'function') ?? own(tool, 'custom') ?? tool, 'name'));
    if (!name) throw invalid('tool_choice.allowed_tools.tools', 'An allowed tool needs a name.');
    return name;
  });
  return { type: own(value, 'mode') === 'required' ? 'any' : 'auto', allowed };
}

/** `tools` and `tool_choice` of an upstream request; {} when no tool is left, since neither may then be sent. */
export function writeTools(
  all: readonly Tool[],
  choice: ToolChoice | undefined,
  family: ChatFamily,
  losses: Losses,
  relaxed: Map<string, unknown> = new Map(),
): JsonObject {
  const filter = allowedBy(choice, family);
  if (filter && all.some(({ name }) => !filter.has(name))) losses.add('tool_choice.allowed', 'emulated', 'The tools that may not be called were left out.');
  const tools = all.filter((tool) => !filter || filter.has(tool.name)).flatMap((tool) => writeTool(tool, family, losses, relaxed) ?? []);
  if (tools.length === 0) {
    loseForcedChoice(choice, losses);
    return {};
  }
  return { tools, ...(choice && { tool_choice: writeChoice(choice, all, family) }) };
}

/** The tools that are offered so that no other is called, where the choice itself cannot say so; null: all. */
function allowedBy(choice: ToolChoice | undefined, family: ChatFamily): ReadonlySet<string> | null {
  if (choice?.type === 'tool') return family.namedChoice ? null : new Set([choice.name]);
  return choice?.allowed && !family.firstParty ? new Set(choice.allowed) : null;
}

function writeTool(tool: Tool, family: ChatFamily, losses: Losses, relaxed: Map<string, unknown>): JsonObject | undefined {
  if (tool.type === 'server') {
    if (asksSearch(tool)) return undefined;
    if (tool.rawProtocol === 'alpha') return tool.raw as JsonObject;
    losses.add('tools.server', 'dropped', 'A tool that the vendor runs itself is only known to its own endpoint.');
    return undefined;
  }
  if (tool.type === 'custom') return writeCustomTool(tool, losses);
  if (tool.cache && !family.cacheControl) losses.add('cache_control', 'dropped', 'This upstream caches prompts by itself.');
  const { name, description } = tool;
  const strict = keepStrict(tool.strict, tool.parameters, 'tools.strict', losses);
  const parameters = tool.parameters === undefined ? undefined : objectParameters(tool.parameters, losses);
  if (parameters?.relaxed) relaxed.set(name, tool.parameters);
  return {
    type: 'function',
    function: {
      name,
      ...(description !== undefined && { description }),
      ...(parameters && { parameters: family.typedUnions ? typeUnions(parameters.schema) : parameters.schema }),
      ...(strict !== undefined && { strict }),
    },
    ...(tool.cache && family.cacheControl && { cache_control: { type: 'ephemeral', ...(tool.cache.ttl && { ttl: tool.cache.ttl }) } }),
  };
}

function writeCustomTool(tool: Tool, losses: Losses): JsonObject {
  const naming = { name: tool.name, ...(tool.description !== undefined && { description: tool.description }) };
  const format = own(tool.raw, 'format');
  if (format === undefined) return { type: 'custom', custom: naming };
  if (tool.rawProtocol === 'alpha') return { type: 'custom', custom: { ...naming, format } };
  // Responses spells a grammar flat; here it is one level deeper.
  if (own(format, 'type') === 'grammar' && own(format, 'definition') !== undefined) {
    return {
      type: 'custom',
      custom: { ...naming, format: { type: 'grammar', grammar: { syntax: own(format, 'syntax'), definition: own(format, 'definition') } } },
    };
  }
  if (own(format, 'type') !== 'text') losses.add('tools.custom.format', 'dropped', 'The format of a custom tool is not known here.');
  return { type: 'custom', custom: naming };
}

function writeChoice(choice: ToolChoice, tools: readonly Tool[], family: ChatFamily): unknown {
  const naming = (name: string) =>
    tools.find((tool) => tool.name === name)?.type === 'custom' ? { type: 'custom', custom: { name } } : { type: 'function', function: { name } };
  if (choice.type === 'tool') return family.namedChoice ? naming(choice.name) : 'required';
  const mode = choice.type === 'any' ? 'required' : choice.type;
  if (choice.allowed && family.firstParty && choice.type !== 'none') {
    return { type: 'allowed_tools', allowed_tools: { mode, tools: choice.allowed.map(naming) } };
  }
  return mode;
}
