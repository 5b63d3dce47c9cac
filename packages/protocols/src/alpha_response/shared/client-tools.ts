/**
 * Tools that the caller runs and only this protocol knows: a shell in two forms, and patches of files. Elsewhere each is a function of the same name,
 * whose arguments are what its item says.
 */
import type { Tool, ToolCallPart, ToolResultPart } from '../../chat/conversation.ts';
import { asArray, asNumber, asObject, asString, type JsonObject, own } from '../../kit/read.ts';

/** A built-in tool of the vendor that the caller runs, and how its items map to tool calls and results. */
export interface ClientTool {
  tool: Tool;
  /** The type of a call's item; that of its output ends in `_output`. */
  item: string;
  /** Of the item's id. */
  prefix: string;
  /** What an item says before its arguments are known, or where they were cut. */
  empty: JsonObject;
  /** What a model wrote as arguments, as the item says it; null when nothing can be run. */
  readArguments(given: unknown): JsonObject | null;
  /** The arguments that an item of the history stands for. */
  argumentsOf(item: JsonObject): JsonObject;
  /** What an output says where it is not plain text; undefined: read as any other. */
  readOutput?(item: JsonObject): { text: string; isError: boolean } | undefined;
}

const closed = (properties: JsonObject, required: readonly string[]): JsonObject => ({ type: 'object', properties, required, additionalProperties: false });
const timeout = { type: 'integer', description: 'Milliseconds after which it is stopped.' };

const oldShell: ClientTool = {
  tool: Object.freeze({
    type: 'function',
    name: 'local_shell',
    description: "Runs a command in the user's shell and returns what it prints. Give the program and each argument as one text of the list.",
    parameters: closed(
      {
        command: { type: 'array', items: { type: 'string' }, description: 'The program and its arguments, as execvp takes them.' },
        working_directory: { type: 'string', description: 'Where to run it.' },
        timeout_ms: timeout,
      },
      ['command'],
    ),
  }),
  item: 'local_shell_call',
  prefix: 'lsh_',
  empty: { action: { type: 'exec', command: [], env: {} } },
  readArguments(given) {
    const line = asString(own(given, 'command'));
    const command = line === undefined ? textsOf(own(given, 'command')) : ['bash', '-lc', line];
    if (command.length === 0) return null;
    const directory = asString(own(given, 'working_directory'));
    const limit = asNumber(own(given, 'timeout_ms'));
    const limits = { ...(directory !== undefined && { working_directory: directory }), ...(limit !== undefined && { timeout_ms: limit }) };
    return { action: { type: 'exec', command, env: {}, ...limits } };
  },
  argumentsOf(item) {
    const { type: _type, env, ...action } = asObject(own(item, 'action')) ?? {};
    return { ...action, ...(Object.keys(asObject(env) ?? {}).length > 0 && { env }) };
  },
};

const shell: ClientTool = {
  tool: Object.freeze({
    type: 'function',
    name: 'shell',
    description: "Runs commands in the user's shell and returns what each prints. Give each command as one line; they may run side by side.",
    parameters: closed(
      {
        commands: { type: 'array', items: { type: 'string' }, description: 'Command lines.' },
        timeout_ms: timeout,
        max_output_length: { type: 'integer', description: 'Characters of output that are wanted at most.' },
      },
      ['commands'],
    ),
  }),
  item: 'shell_call',
  prefix: 'sh_',
  empty: { action: { commands: [], timeout_ms: null, max_output_length: null }, environment: { type: 'local' } },
  readArguments(given) {
    const line = asString(own(given, 'commands'));
    const commands = line === undefined ? textsOf(own(given, 'commands')) : [line];
    if (commands.length === 0) return null;
    const [limit, length] = [asNumber(own(given, 'timeout_ms')), asNumber(own(given, 'max_output_length'))];
    return { action: { commands, timeout_ms: limit ?? null, max_output_length: length ?? null }, environment: { type: 'local' } };
  },
  argumentsOf(item) {
    const action = own(item, 'action');
    const limits = ['timeout_ms', 'max_output_length'].flatMap((name) => (asNumber(own(action, name)) === undefined ? [] : [[name, own(action, name)]]));
    return { commands: textsOf(own(action, 'commands')), ...Object.fromEntries(limits) };
  },
  readOutput(item) {
    const outputs = asArray(own(item, 'output'));
    if (!outputs) return undefined;
    const described = outputs.map((output) => {
      const outcome = own(output, 'outcome');
      const ended = own(outcome, 'type') === 'timeout' ? '[timed out]' : `[exit code ${asNumber(own(outcome, 'exit_code')) ?? 0}]`;
      return [asString(own(output, 'stdout')), asString(own(output, 'stderr')), ended].filter(Boolean).join('\n');
    });
    return { text: described.join('\n\n'), isError: false };
  },
};

const operations: ReadonlySet<string> = new Set(['create_file', 'update_file', 'delete_file']);

const patch: ClientTool = {
  tool: Object.freeze({
    type: 'function',
    name: 'apply_patch',
    description:
      'Changes one file. `diff` holds hunks: a line `@@`, which may name the function or class that is meant, then lines that begin with a blank (stays), ' +
      '`-` (goes) or `+` (comes), with three lines of what stays around each change. Of a new file each line begins with `+`. To delete a file, leave it out.',
    parameters: closed({ type: { type: 'string', enum: [...operations] }, path: { type: 'string' }, diff: { type: 'string' } }, ['type', 'path']),
  }),
  item: 'apply_patch_call',
  prefix: 'apc_',
  empty: { operation: { type: 'update_file', path: '', diff: '' } },
  readArguments(given) {
    const [type, path] = [asString(own(given, 'type')) ?? '', asString(own(given, 'path'))];
    if (!operations.has(type) || !path) return null;
    return { operation: { type, path, ...(type !== 'delete_file' && { diff: asString(own(given, 'diff')) ?? '' }) } };
  },
  argumentsOf: (item) => ({ ...asObject(own(item, 'operation')) }),
  readOutput: (item) => ({ text: asString(own(item, 'output')) ?? '', isError: own(item, 'status') === 'failed' }),
};

const textsOf = (value: unknown): string[] => (asArray(value) ?? []).filter((text) => typeof text === 'string');

const all: readonly ClientTool[] = [oldShell, shell, patch];
const byType: ReadonlyMap<string, ClientTool> = new Map(all.map((one) => [one.tool.name, one]));
const byItem: ReadonlyMap<string, ClientTool> = new Map(all.map((one) => [one.item, one]));

/** The tool that an entry of `tools` means; undefined for any other, and for a shell that the vendor runs. */
export function findClientTool(entry: JsonObject): ClientTool | undefined {
  const place = asString(own(own(entry, 'environment'), 'type'));
  return place === undefined || place === 'local' ? byType.get(asString(own(entry, 'type')) ?? '') : undefined;
}

/** A call of the history; undefined for any other item. */
export function readClientCall(item: JsonObject, type: string): ToolCallPart | undefined {
  const found = byItem.get(type);
  if (!found) return undefined;
  const id = asString(own(item, 'call_id')) ?? asString(own(item, 'id')) ?? '';
  return { type: 'tool-call', id, name: found.tool.name, arguments: JSON.stringify(found.argumentsOf(item)) };
}

/** What a call's output says; undefined for any other item, null where it is read as that of a function. */
export function readClientOutput(item: JsonObject, type: string): Pick<ToolResultPart, 'content' | 'isError'> | null | undefined {
  const found = type.endsWith('_output') ? byItem.get(type.slice(0, -'_output'.length)) : undefined;
  if (!found) return undefined;
  const described = found.readOutput?.(item);
  return described ? { content: [{ type: 'text', text: described.text }], ...(described.isError && { isError: true }) } : null;
}
