/** Tools and the choice among them, both ways. */
import type { Tool, ToolChoice } from '../../chat/conversation.ts';
import { invalid } from '../../kit/fail.ts';
import { Losses } from '../../kit/losses.ts';
import { noteRelaxed } from '../../kit/object-parameters.ts';
import { asArray, asObject, asString, type JsonObject } from '../../kit/read.ts';
import { rootObject } from '../../kit/root-object.ts';
import { camelName, field, listField, objectField, textField } from './fields.ts';
import { readSchema, writeSchema } from './schema.ts';

/** Gamma has no free-text tools: their text travels in this one argument. */
export const customArgument = 'input';

/** Names of functions that the vendor takes: dots and colons too, but no leading digit. */
export const functionName = /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/;

const choiceFields = new Set(['functionCallingConfig']);
const declarationFields = new Set(['name', 'description', 'parameters', 'parametersJsonSchema']);

/** `tools` of a request. Each entry may hold function declarations and built-in tools; the latter stay raw. */
export function readTools(body: unknown, losses: Losses): Tool[] {
  const tools: Tool[] = [];
  listField(body, 'tools').forEach((entry, index) => {
    for (const [key, value] of Object.entries(asObject(entry) ?? {})) {
      const name = camelName(key);
      if (value === null) continue;
      if (name !== 'functionDeclarations') {
        tools.push({ type: 'server', name, raw: { [name]: value }, rawProtocol: 'gamma' });
        continue;
      }
      const path = `tools.${index}.${name}`;
      for (const [at, declaration] of (asArray(value) ?? [value]).entries()) tools.push(readDeclaration(declaration, `${path}.${at}`, losses));
    }
  });
  return tools;
}

function readDeclaration(declaration: unknown, path: string, losses: Losses): Tool {
  const name = textField(declaration, 'name');
  if (name === undefined || name === '') throw invalid(`${path}.name`, 'is required');
  losses.unread('tools.functionDeclarations', declaration, declarationFields, camelName);
  const description = textField(declaration, 'description');
  const jsonSchema = field(declaration, 'parametersJsonSchema');
  const parameters = jsonSchema ?? readSchema(field(declaration, 'parameters'), `${path}.parameters`);
  return {
    type: 'function',
    name,
    ...(description !== undefined && description !== '' && { description }),
    ...(parameters !== undefined && { parameters }),
  };
}

/** `toolConfig` of a request; undefined when the caller leaves the choice to the default. */
export function readToolChoice(body: unknown, losses: Losses): ToolChoice | undefined {
  const config = objectField(body, 'toolConfig');
  losses.unread('toolConfig', config, choiceFields, camelName);
  const calling = objectField(config, 'functionCallingConfig');
  const mode = textField(calling, 'mode')?.toUpperCase();
  const names = (asArray(field(calling, 'allowedFunctionNames')) ?? []).filter((name): name is string => typeof name === 'string');
  const allowed = names.length > 0 ? { allowed: names } : {};
  switch (mode) {
    case undefined:
    case 'MODE_UNSPECIFIED':
      return undefined;
    case 'AUTO':
      return { type: 'auto', ...allowed };
    case 'NONE':
      return { type: 'none' };
    case 'ANY':
      return names.length === 1 ? { type: 'tool', name: names[0]! } : { type: 'any', ...allowed };
    case 'VALIDATED':
      losses.add('toolConfig.functionCallingConfig.mode', 'downgraded', 'VALIDATED became a free choice: arguments are not held to the schema.');
      return { type: 'auto', ...allowed };
    default:
      throw invalid('toolConfig.functionCallingConfig.mode', 'must be AUTO, ANY, NONE or VALIDATED');
  }
}

/** All function declarations in one entry, then each built-in tool of this protocol as it came. `widened` gets the caller's schema where another is sent. */
export function writeTools(tools: readonly Tool[], losses: Losses, relaxed: Map<string, unknown>): JsonObject[] {
  const written: JsonObject[] = [];
  const declarations = tools.filter((tool) => tool.type !== 'server').map((tool) => writeDeclaration(tool, losses, relaxed));
  if (declarations.length > 0) written.push({ functionDeclarations: declarations });
  for (const tool of tools) {
    if (tool.type !== 'server') continue;
    const raw = tool.rawProtocol === 'gamma' ? asObject(tool.raw) : undefined;
    if (raw) written.push(raw);
    else losses.add('tools', 'dropped', 'A built-in tool of another vendor has no counterpart.');
  }
  return written;
}

function writeDeclaration(tool: Tool, losses: Losses, relaxed: Map<string, unknown>): JsonObject {
  if (tool.cache) losses.add('tools.cache_control', 'dropped', 'Cache marks have no counterpart: caching is implicit.');
  if (tool.strict === true) losses.add('tools.strict', 'dropped', 'Strict tool schemas have no counterpart.');
  const head = { name: tool.name, ...(tool.description !== undefined && { description: tool.description }) };
  const ofSchema = new Losses();
  // A choice at the root, whose members need not say that they are objects, is refused.
  const root = tool.parameters === undefined ? undefined : rootObject(tool.parameters);
  if (root?.relaxed) noteRelaxed(ofSchema);
  const { dialect, schema } = writeSchema(root?.relaxed ? root.schema : tool.parameters, ofSchema, 'tools.parameters');
  if (ofSchema.list.length > 0) relaxed.set(tool.name, tool.parameters);
  for (const { field: name, action, detail } of ofSchema.list) losses.add(name, action, detail);
  // An object schema without properties is a 400 on older models, and no schema at all means the same.
  if (isEmpty(schema)) return head;
  if (schema['type'] === undefined && asObject(schema['properties'])) schema['type'] = 'object';
  return { ...head, [dialect === 'open-api' ? 'parameters' : 'parametersJsonSchema']: schema };
}

const isEmpty = (schema: JsonObject): boolean =>
  Object.keys(schema).every((word) => ['type', 'properties', 'required', 'additionalProperties', 'title', 'description'].includes(word)) &&
  Object.keys(asObject(schema['properties']) ?? {}).length === 0 &&
  (asString(schema['type']) ?? 'object') === 'object' &&
  typeof (schema['additionalProperties'] ?? false) === 'boolean';

/** The choice, or undefined where gamma's default (AUTO) says the same. Limiting a free choice needs VALIDATED: AUTO takes no names. */
export function writeToolChoice(choice: ToolChoice | undefined): JsonObject | undefined {
  if (!choice) return undefined;
  if (choice.type === 'tool') return calling('ANY', [choice.name]);
  if (choice.type === 'none') return calling('NONE');
  if (choice.type === 'any') return calling('ANY', choice.allowed);
  return choice.allowed ? calling('VALIDATED', choice.allowed) : undefined;
}

const calling = (mode: string, names?: readonly string[]): JsonObject => ({
  functionCallingConfig: { mode, ...(names && names.length > 0 && { allowedFunctionNames: names }) },
});
