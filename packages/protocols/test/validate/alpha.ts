/** A strict reader of the chunk stream, as pedantic as the pickiest client: gives every rule that a stream breaks. */

type Json = Record<string, unknown>;

const finishWords = ['stop', 'length', 'tool_calls', 'content_filter', 'function_call'];
const deltaFields = [
  'role',
  'content',
  'refusal',
  'reasoning_content',
  'reasoning_details',
  'tool_calls',
  'function_call',
  'extra_content',
  'annotations',
  'audio',
  'images',
];
const textFields = ['content', 'refusal', 'reasoning_content'];

interface Call {
  id: string;
  custom: boolean;
  text: string;
}

interface Choice {
  roleSeen: boolean;
  finish: string | null;
  calls: Map<number, Call>;
}

interface State {
  faults: string[];
  done: boolean;
  chunks: number;
  identity: string | null;
  reportsUsage: boolean | null;
  usageSeen: boolean;
  warned: boolean;
  choices: Map<number, Choice>;
  ids: Set<string>;
}

/** The rules that `text`, a whole stream of server-sent events, breaks; [] when a strict client takes it. `partial`: it may stop after any event. */
export function validateStream(text: string, options: { partial?: boolean } = {}): string[] {
  const state: State = {
    faults: [],
    done: false,
    chunks: 0,
    identity: null,
    reportsUsage: null,
    usageSeen: false,
    warned: false,
    choices: new Map(),
    ids: new Set(),
  };
  if (text !== '' && !text.endsWith('\n\n')) state.faults.push('the last event has no blank line');
  for (const event of text.split('\n\n').filter((piece) => piece !== '')) checkEvent(state, event);
  if (!options.partial) checkEnd(state);
  return state.faults;
}

function checkEvent(state: State, event: string): void {
  if (event.split('\n').every((line) => line.startsWith(':'))) return;
  const data = /^data: ([^\n\r]+)$/.exec(event)?.[1];
  if (data === undefined) state.faults.push(`not one data line: ${event.slice(0, 80)}`);
  else if (state.done) state.faults.push('something follows [DONE]');
  else if (data === '[DONE]') state.done = true;
  else checkChunk(state, data);
}

function checkChunk(state: State, data: string): void {
  const chunk = parse(data);
  if (!isObject(chunk)) {
    state.faults.push(`not a JSON object: ${data.slice(0, 80)}`);
    return;
  }
  state.chunks++;
  if (chunk['object'] !== 'chat.completion.chunk') state.faults.push(`object is ${String(chunk['object'])}`);
  if (typeof chunk['id'] !== 'string' || chunk['id'] === '') state.faults.push('a chunk has no id');
  if (!Number.isInteger(chunk['created'])) state.faults.push('created is no integer');
  if (typeof chunk['model'] !== 'string' || chunk['model'] === '') state.faults.push('a chunk has no model');
  const identity = JSON.stringify([chunk['id'], chunk['created'], chunk['model']]);
  if (state.identity !== null && state.identity !== identity) state.faults.push('id, created or model changed');
  state.identity ??= identity;
  if (!Array.isArray(chunk['choices'])) {
    state.faults.push('choices is no list');
    return;
  }
  if (state.usageSeen && chunk['_gateway_warning'] === undefined) state.faults.push('a chunk follows the usage');
  checkUsage(state, chunk);
  if (chunk['_gateway_warning'] !== undefined) checkWarning(state, chunk['_gateway_warning']);
  for (const choice of chunk['choices'] as unknown[]) checkChoice(state, choice);
}

/** `usage: null` on every chunk and the numbers on a last one without choices, or no such field at all. */
function checkUsage(state: State, chunk: Json): void {
  const has = Object.hasOwn(chunk, 'usage');
  state.reportsUsage ??= has;
  if (has !== state.reportsUsage) state.faults.push('usage is on some chunks only');
  const empty = (chunk['choices'] as unknown[]).length === 0;
  const usage = chunk['usage'];
  if (!isObject(usage)) {
    if (has && usage !== null) state.faults.push('usage is neither null nor an object');
    if (empty && chunk['_gateway_warning'] === undefined) state.faults.push('a chunk has neither choices nor usage');
    return;
  }
  state.usageSeen = true;
  if (!empty) state.faults.push('usage stands beside choices');
  const counts = ['prompt_tokens', 'completion_tokens', 'total_tokens'].map((field) => usage[field]);
  if (!counts.every((count) => Number.isInteger(count) && (count as number) >= 0)) state.faults.push('usage lacks a count');
  if ((counts[0] as number) + (counts[1] as number) !== counts[2]) state.faults.push('total_tokens is not the sum');
}

function checkWarning(state: State, warning: unknown): void {
  if (state.warned) state.faults.push('two warnings');
  state.warned = true;
  const fields = isObject(warning) ? Object.keys(warning).sort().join() : '';
  if (fields !== 'detail,last_finish_reason,reason,timestamp') state.faults.push(`the warning has the fields ${fields}`);
}

function checkChoice(state: State, value: unknown): void {
  if (!isObject(value) || !Number.isInteger(value['index']) || !isObject(value['delta'])) {
    state.faults.push('a choice lacks index or delta');
    return;
  }
  const index = value['index'] as number;
  const choice: Choice = state.choices.get(index) ?? { roleSeen: false, finish: null, calls: new Map() };
  state.choices.set(index, choice);
  if (choice.finish !== null) state.faults.push(`choice ${index} goes on after its finish`);
  checkDelta(state, choice, value['delta']);
  const finish = value['finish_reason'];
  if (finish === null) return;
  if (!finishWords.includes(finish as string)) state.faults.push(`finish_reason is ${String(finish)}`);
  if (Object.keys(value['delta']).length > 0) state.faults.push('the finish chunk has a delta');
  choice.finish = String(finish);
  checkFinish(state, choice);
}

function checkDelta(state: State, choice: Choice, delta: Json): void {
  for (const field of Object.keys(delta)) if (!deltaFields.includes(field)) state.faults.push(`unknown delta field ${field}`);
  if (delta['role'] !== undefined) {
    if (delta['role'] !== 'assistant') state.faults.push('the role is not assistant');
    if (choice.roleSeen) state.faults.push('the role is sent twice');
    choice.roleSeen = true;
  } else if (!choice.roleSeen) state.faults.push('the first delta has no role');
  for (const field of textFields) {
    const value = delta[field];
    if (value !== undefined && value !== null && typeof value !== 'string') state.faults.push(`${field} is no text`);
  }
  if (delta['tool_calls'] === undefined) return;
  const calls = Array.isArray(delta['tool_calls']) ? (delta['tool_calls'] as unknown[]) : [];
  if (calls.length === 0) state.faults.push('tool_calls is empty');
  for (const call of calls) checkCall(state, choice, call);
}

function checkCall(state: State, choice: Choice, fragment: unknown): void {
  if (!isObject(fragment) || !Number.isInteger(fragment['index'])) {
    state.faults.push('a tool call fragment has no index');
    return;
  }
  const index = fragment['index'] as number;
  const custom = fragment['custom'] !== undefined;
  const body = (custom ? fragment['custom'] : fragment['function']) as Json | undefined;
  const text = body?.[custom ? 'input' : 'arguments'];
  if (typeof text !== 'string') state.faults.push('a tool call fragment has no arguments');
  const known = choice.calls.get(index);
  if (known) {
    if (fragment['id'] !== undefined || fragment['type'] !== undefined || body?.['name'] !== undefined)
      state.faults.push('a later fragment names the call again');
    known.text += String(text);
    return;
  }
  if (index !== choice.calls.size) state.faults.push(`tool call index ${index} skips`);
  const id = fragment['id'];
  if (typeof id !== 'string' || id === '') state.faults.push('a tool call has no id');
  else if (state.ids.has(id)) state.faults.push(`tool call id ${id} is used twice`);
  else state.ids.add(id);
  if (fragment['type'] !== (custom ? 'custom' : 'function')) state.faults.push('a tool call has no type');
  if (typeof body?.['name'] !== 'string' || body['name'] === '') state.faults.push('a tool call has no name');
  choice.calls.set(index, { id: String(id), custom, text: String(text) });
}

/** A client runs calls when it reads `tool_calls`: then each must be whole. */
function checkFinish(state: State, choice: Choice): void {
  if (choice.finish !== 'tool_calls') return;
  if (choice.calls.size === 0) state.faults.push('tool_calls without a call');
  for (const call of choice.calls.values()) {
    if (!call.custom && !isObject(parse(call.text))) state.faults.push(`arguments are no JSON object: ${call.text.slice(0, 80)}`);
  }
}

function checkEnd(state: State): void {
  if (!state.done) state.faults.push('[DONE] is missing');
  if (state.choices.size === 0) state.faults.push('there was no choice');
  for (const [index, choice] of state.choices) if (choice.finish === null) state.faults.push(`choice ${index} has no finish`);
  if (state.reportsUsage && !state.usageSeen && !state.warned) state.faults.push('usage was promised and not sent');
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
