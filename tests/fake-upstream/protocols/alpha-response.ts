/** Responses. */
import { alpha } from './alpha.ts';
import { type FakeProtocol, listOf, nameOf, sse, type Turn, textOf } from './fake-protocol.ts';

const usage = (turn: Turn) => ({
  input_tokens: turn.inputTokens,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: turn.outputTokens,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: turn.inputTokens + turn.outputTokens,
});
const part = (text: string) => ({ type: 'output_text', annotations: [], logprobs: [], text });
const itemId = (turn: Turn): string => (turn.tool === null ? 'msg_fake' : 'fc_fake');

const item = (turn: Turn, status: string, content: string) =>
  turn.tool === null
    ? { id: itemId(turn), type: 'message', status, content: status === 'completed' ? [part(content)] : [], role: 'assistant' }
    : { id: itemId(turn), type: 'function_call', status, arguments: content, call_id: turn.tool.id, name: turn.tool.name };
const full = (turn: Turn): string => turn.tool?.args ?? turn.chunks.join('');

const response = (turn: Turn, status: string) => ({
  id: 'resp_fake',
  object: 'response',
  created_at: 1_700_000_000,
  status,
  background: false,
  error: null,
  incomplete_details: null,
  instructions: null,
  max_output_tokens: null,
  model: turn.model,
  output: status === 'completed' ? [item(turn, 'completed', full(turn))] : [],
  parallel_tool_calls: true,
  previous_response_id: null,
  store: false,
  temperature: 1,
  tool_choice: 'auto',
  tools: [],
  top_p: 1,
  usage: status === 'completed' ? usage(turn) : null,
  metadata: {},
});

/** Numbers events as they are written. */
function numbered(): (type: string, fields: object) => string {
  let next = 0;
  return (type, fields) => sse({ type, sequence_number: next++, ...fields }, type);
}

function textEvents(turn: Turn, event: ReturnType<typeof numbered>): string[] {
  const at = { item_id: itemId(turn), output_index: 0, content_index: 0 };
  return [
    event('response.content_part.added', { ...at, part: part('') }),
    ...turn.chunks.map((delta) => event('response.output_text.delta', { ...at, delta, logprobs: [] })),
    event('response.output_text.done', { ...at, text: full(turn), logprobs: [] }),
    event('response.content_part.done', { ...at, part: part(full(turn)) }),
  ];
}

function toolEvents(turn: Turn, event: ReturnType<typeof numbered>): string[] {
  const at = { item_id: itemId(turn), output_index: 0 };
  const args = full(turn);
  const half = args.length >> 1;
  return [
    event('response.function_call_arguments.delta', { ...at, delta: args.slice(0, half) }),
    event('response.function_call_arguments.delta', { ...at, delta: args.slice(half) }),
    event('response.function_call_arguments.done', { ...at, arguments: args }),
  ];
}

export const alphaResponse: FakeProtocol = {
  read(body) {
    if (typeof body['input'] === 'string') return { text: body['input'], tools: toolNames(body), toolResult: null };
    const items = listOf(body['input']);
    const lastUser = items.findLastIndex((one) => one['role'] === 'user');
    const result = items.slice(lastUser + 1).findLast((one) => one['type'] === 'function_call_output');
    return { text: textOf(items[lastUser]?.['content']), tools: toolNames(body), toolResult: result === undefined ? null : textOf(result['output']) };
  },
  whole: (turn) => response(turn, 'completed'),
  events(turn) {
    const event = numbered();
    return [
      event('response.created', { response: response(turn, 'in_progress') }),
      event('response.in_progress', { response: response(turn, 'in_progress') }),
      event('response.output_item.added', { output_index: 0, item: item(turn, 'in_progress', '') }),
      ...(turn.tool === null ? textEvents(turn, event) : toolEvents(turn, event)),
      event('response.output_item.done', { output_index: 0, item: item(turn, 'completed', full(turn)) }),
      event('response.completed', { response: response(turn, 'completed') }),
    ];
  },
  delta: (turn, delta, n) =>
    sse(
      { type: 'response.output_text.delta', sequence_number: 5 + n, item_id: itemId(turn), output_index: 0, content_index: 0, delta, logprobs: [] },
      'response.output_text.delta',
    ),
  midstreamError: (message) => sse({ type: 'error', sequence_number: 99, code: 'server_error', message, param: null }, 'error'),
  error: alpha.error,
  countTokens: (tokens) => ({ object: 'response.input_tokens', input_tokens: tokens }),
  models: alpha.models,
};

function toolNames(body: Record<string, unknown>): string[] {
  return listOf(body['tools']).flatMap((tool) => (tool['type'] === 'function' ? nameOf(tool['name']) : []));
}
