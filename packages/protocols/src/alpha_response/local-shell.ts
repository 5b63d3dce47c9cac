/**
 * `local_shell`: a tool that the caller runs and only this protocol knows. Elsewhere it is a function of the same name, whose arguments are the
 * item's action.
 */
import type { Tool, ToolCallPart } from '../chat/conversation.ts';
import { asArray, asNumber, asObject, asString, type JsonObject, own } from '../kit/read.ts';

export const shellName = 'local_shell';

export const shellTool: Tool = Object.freeze({
  type: 'function',
  name: shellName,
  description: "Runs a command in the user's shell and returns what it prints. Give the program and each argument as one text of the list.",
  parameters: {
    type: 'object',
    properties: {
      command: { type: 'array', items: { type: 'string' }, description: 'The program and its arguments, as execvp takes them.' },
      working_directory: { type: 'string', description: 'Where to run it.' },
      timeout_ms: { type: 'integer', description: 'Milliseconds after which it is stopped.' },
    },
    required: ['command'],
    additionalProperties: false,
  },
});

/** What a model wrote as arguments, as the fields of an action; null when it is no command. */
export function readShellArguments(text: string): JsonObject | null {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    // Cut or broken arguments: there is nothing to run.
    return null;
  }
  const line = asString(own(given, 'command'));
  const command = line === undefined ? asArray(own(given, 'command'))?.filter((word) => typeof word === 'string') : ['bash', '-lc', line];
  if (!command || command.length === 0) return null;
  const directory = asString(own(given, 'working_directory'));
  const timeout = asNumber(own(given, 'timeout_ms'));
  return { command, ...(directory !== undefined && { working_directory: directory }), ...(timeout !== undefined && { timeout_ms: timeout }) };
}

/** A `local_shell_call` of the history. */
export function readShellCall(item: JsonObject): ToolCallPart {
  const { type: _type, env, ...action } = asObject(own(item, 'action')) ?? {};
  const environment = Object.keys(asObject(env) ?? {}).length > 0 ? { env } : {};
  const id = asString(own(item, 'call_id')) ?? asString(own(item, 'id')) ?? '';
  return { type: 'tool-call', id, name: shellName, arguments: JSON.stringify({ ...action, ...environment }) };
}
