/** A model that works like a coding agent's: reads a file, edits it, runs a command, reports. It finds the caller's own tools by their names. */
import type { Play } from '../fake-upstream/index.ts';

export interface Task {
  /** Absolute path of the file to be edited. */
  file: string;
  before: string;
  after: string;
  /** Shell command that leaves a trace. */
  command: string;
  /** Last words. */
  report: string;
}

export interface Tool {
  name: string;
  /** Properties of its arguments; null for a tool that takes free text. */
  properties: Record<string, { type?: unknown }> | null;
}

type Json = Record<string, unknown>;
const list = (value: unknown): Json[] => (Array.isArray(value) ? value.filter((one): one is Json => typeof one === 'object' && one !== null) : []);
const propertiesOf = (schema: unknown): Tool['properties'] =>
  ((schema as { properties?: Tool['properties'] } | undefined)?.properties ?? {}) as Tool['properties'];

/** Tools of a request in any of the protocols, Converse's and DashScope's among them. */
export function toolsOf(body: Json): Tool[] {
  const converse = list((body['toolConfig'] as Json | undefined)?.['tools']).flatMap(({ toolSpec }): Tool[] => {
    const { name, inputSchema } = (toolSpec ?? {}) as { name?: string; inputSchema?: Json };
    return name === undefined ? [] : [{ name, properties: propertiesOf(inputSchema?.['json']) }];
  });
  if (converse.length > 0) return converse;
  return list(body['tools'] ?? (body['parameters'] as Json | undefined)?.['tools']).flatMap((tool): Tool[] => {
    const declared = list(tool['functionDeclarations'] ?? tool['function_declarations']);
    if (declared.length > 0)
      return declared.map((one) => ({ name: String(one['name']), properties: propertiesOf(one['parameters'] ?? one['parametersJsonSchema']) }));
    const inner = (tool['function'] ?? tool) as Json;
    if (typeof inner['name'] !== 'string') return [];
    return [{ name: inner['name'], properties: tool['type'] === 'custom' ? null : propertiesOf(inner['parameters'] ?? inner['input_schema']) }];
  });
}

/** How many calls of tools the conversation holds so far. */
export function callsSoFar(body: Json): number {
  const turns = [...list(body['messages']), ...list(body['input']), ...list(body['contents'])];
  return turns.reduce((sum, turn) => {
    const own = ['function_call', 'custom_tool_call', 'local_shell_call'].includes(String(turn['type'])) ? 1 : 0;
    const parts = [...list(turn['content']), ...list(turn['parts'])].filter(
      (part) => part['type'] === 'tool_use' || part['functionCall'] !== undefined || part['toolUse'] !== undefined,
    ).length;
    return sum + own + parts + list(turn['tool_calls']).length;
  }, 0);
}

export const shellNames = /^(?:bash|shell|shell_command|exec_command|local_shell|run_shell_command|container\.exec)$/i;
export const readNames = /^(?:read|read_file|view)$/i;
const editNames = /^(?:edit|replace|str_replace_editor)$/i;

/** The arguments a tool wants, by the names of its properties. */
export function fill(tool: Tool, known: Record<string, unknown>): Json {
  return Object.fromEntries(Object.keys(tool.properties ?? {}).flatMap((name) => (Object.hasOwn(known, name) ? [[name, known[name]]] : [])));
}

export function shellCall(tool: Tool, command: string) {
  const isList = tool.properties?.['command']?.type === 'array';
  return {
    call: tool.name,
    args: fill(tool, { command: isList ? ['bash', '-lc', command] : command, cmd: command, description: 'does what was asked', timeout: 20_000 }),
  };
}

export const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Each step is done with the tool made for it, else with the shell. */
export function playTask(task: Task): Play {
  const paths = { file_path: task.file, filePath: task.file, absolute_path: task.file, path: task.file };
  return (body) => {
    const tools = toolsOf(body);
    const find = (names: RegExp) => tools.find(({ name }) => names.test(name));
    const shell = find(shellNames);
    // Agents also ask for titles and summaries, without tools.
    if (!shell) return { text: 'A small task' };
    const steps = [
      () => {
        const tool = find(readNames);
        return tool ? { call: tool.name, args: fill(tool, paths) } : shellCall(shell, `cat ${quoted(task.file)}`);
      },
      () => {
        const tool = find(editNames);
        const texts = {
          old_string: task.before,
          oldString: task.before,
          new_string: task.after,
          newString: task.after,
          edits: [{ oldText: task.before, newText: task.after }],
          instruction: 'Replace the word.',
        };
        if (tool) return { call: tool.name, args: fill(tool, { ...paths, ...texts }) };
        const patch = find(/^apply_patch$/);
        const text = `*** Begin Patch\n*** Update File: ${task.file}\n@@\n-${task.before}\n+${task.after}\n*** End Patch`;
        if (patch) return { call: patch.name, args: fill({ ...patch, properties: patch.properties ?? { input: {} } }, { input: text }) };
        return shellCall(shell, `sed -i s/${task.before}/${task.after}/ ${quoted(task.file)}`);
      },
      () => shellCall(shell, task.command),
    ];
    const step = steps[callsSoFar(body)];
    return step ? step() : { text: task.report };
  };
}

/** A text of that length in which no sentence comes twice: agents take a model that repeats itself for one in a loop. */
export function longText(sentence: string, length: number): string {
  let text = '';
  for (let n = 0; text.length < length; n++) text += `${sentence} ${n} is ${(n * 7919 + 104_729).toString(36)}. `;
  return text.slice(0, length);
}
