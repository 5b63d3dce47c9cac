/** A strict reader of the messages stream, as pedantic as the pickiest client: gives every rule that a stream breaks. */

/** Which deltas a block of each type may hold; types that are not listed may hold any (they are the vendor's own). */
const deltasOf: Readonly<Record<string, readonly string[]>> = {
  text: ['text_delta', 'citations_delta'],
  thinking: ['thinking_delta', 'signature_delta'],
  redacted_thinking: [],
  tool_use: ['input_json_delta'],
};
const stopReasons = ['end_turn', 'max_tokens', 'stop_sequence', 'tool_use', 'pause_turn', 'refusal', 'model_context_window_exceeded'];
const knownEvents = ['message_start', 'content_block_start', 'content_block_delta', 'content_block_stop', 'message_delta', 'message_stop', 'ping'];
const startUsageFields = ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens', 'output_tokens'];

type Json = Record<string, unknown>;

interface State {
  faults: string[];
  place: 'before' | 'blocks' | 'delivered' | 'over';
  next: number;
  open: { index: number; type: string; signed: boolean; json: string } | null;
  calledTool: boolean;
  ids: Set<string>;
}

/** `partial`: the stream may stop after any event, so a missing end is no fault. */
export function validateStream(text: string, options: { partial?: boolean } = {}): string[] {
  const state: State = { faults: [], place: 'before', next: 0, open: null, calledTool: false, ids: new Set() };
  if (text !== '' && !text.endsWith('\n\n')) state.faults.push('the last event has no blank line');
  for (const event of text.split('\n\n').filter((piece) => piece !== '')) checkFraming(state, event);
  if (!options.partial && state.place !== 'over') state.faults.push('message_stop is missing');
  return state.faults;
}

function checkFraming(state: State, event: string): void {
  const lines = event.split('\n');
  if (lines.every((line) => line.startsWith(':'))) return;
  const name = /^event: (.+)$/s.exec(lines[0] ?? '')?.[1];
  const data = /^data: (.+)$/s.exec(lines[1] ?? '')?.[1];
  if (lines.length !== 2 || name === undefined || data === undefined) {
    state.faults.push(`not one event line and one data line: ${event.slice(0, 80)}`);
    return;
  }
  let json: Json;
  try {
    json = JSON.parse(data) as Json;
  } catch {
    state.faults.push(`not JSON: ${data.slice(0, 80)}`);
    return;
  }
  if (json['type'] !== name) state.faults.push(`event ${name} holds ${String(json['type'])}`);
  if (!knownEvents.includes(name)) state.faults.push(`unknown event ${name}`);
  if (state.place === 'over') state.faults.push(`${name} after message_stop`);
  checks[name]?.(state, json);
}

const checks: Readonly<Record<string, (state: State, json: Json) => void>> = {
  message_start(state, json) {
    if (state.place !== 'before') state.faults.push('a second message_start');
    state.place = 'blocks';
    const message = json['message'] as Json;
    if (!/^msg_/.test(String(message['id']))) state.faults.push('message id does not begin with msg_');
    if (message['type'] !== 'message' || message['role'] !== 'assistant') state.faults.push('message is not an assistant message');
    if (typeof message['model'] !== 'string') state.faults.push('message has no model');
    if (!Array.isArray(message['content']) || message['content'].length > 0) state.faults.push('message_start has content');
    for (const field of startUsageFields) {
      if (typeof (message['usage'] as Json)?.[field] !== 'number') state.faults.push(`message_start has no usage.${field}`);
    }
  },
  content_block_start(state, json) {
    if (state.place !== 'blocks') state.faults.push(`a block starts ${state.place}`);
    if (state.open) state.faults.push(`block ${String(json['index'])} starts inside block ${state.open.index}`);
    if (json['index'] !== state.next) state.faults.push(`block ${String(json['index'])} where ${state.next} was due`);
    const block = json['content_block'] as Json;
    const type = String(block['type']);
    state.open = { index: Number(json['index']), type, signed: false, json: '' };
    state.next += 1;
    if (type === 'tool_use') checkCall(state, block);
    if (type === 'text' && block['text'] !== '') state.faults.push('a text block does not start empty');
    if (type === 'thinking' && (block['thinking'] !== '' || block['signature'] !== '')) state.faults.push('a thinking block does not start empty');
    if (type === 'redacted_thinking' && (typeof block['data'] !== 'string' || block['data'] === '')) state.faults.push('redacted thinking without data');
  },
  content_block_delta(state, json) {
    const delta = json['delta'] as Json;
    if (!state.open || json['index'] !== state.open.index) {
      state.faults.push(`a delta of block ${String(json['index'])}, which is not open`);
      return;
    }
    const allowed = deltasOf[state.open.type];
    if (allowed && !allowed.includes(String(delta['type']))) state.faults.push(`${String(delta['type'])} in a ${state.open.type} block`);
    if (state.open.signed) state.faults.push('a delta after the signature');
    if (delta['type'] === 'signature_delta') state.open.signed = true;
    if (delta['type'] === 'input_json_delta') state.open.json += String(delta['partial_json']);
  },
  content_block_stop(state, json) {
    if (!state.open || json['index'] !== state.open.index) state.faults.push(`block ${String(json['index'])} stops but is not open`);
    state.open = null;
  },
  message_delta(state, json) {
    if (state.place !== 'blocks') state.faults.push(`message_delta ${state.place}`);
    if (state.open) state.faults.push(`message_delta inside block ${state.open.index}`);
    state.place = 'delivered';
    const delta = json['delta'] as Json;
    const reason = String(delta['stop_reason']);
    if (!stopReasons.includes(reason)) state.faults.push(`stop_reason ${reason}`);
    if (!('stop_sequence' in delta)) state.faults.push('stop_sequence is missing');
    if (reason === 'tool_use' && !state.calledTool) state.faults.push('stop_reason tool_use without a call');
    if (typeof (json['usage'] as Json)?.['output_tokens'] !== 'number') state.faults.push('message_delta has no usage.output_tokens');
  },
  message_stop(state) {
    if (state.place !== 'delivered') state.faults.push(`message_stop ${state.place}`);
    state.place = 'over';
  },
};

function checkCall(state: State, block: Json): void {
  state.calledTool = true;
  const id = String(block['id']);
  if (!/^toolu_[a-zA-Z0-9_]+$/.test(id)) state.faults.push(`call id ${id}`);
  if (state.ids.has(id)) state.faults.push('two calls of one id');
  state.ids.add(id);
  if (typeof block['name'] !== 'string' || block['name'] === '') state.faults.push('a call without a name');
  if (JSON.stringify(block['input']) !== '{}') state.faults.push('a call does not start with input {}');
}
