/** Messages. */
import { callsOf, type FakeProtocol, hasText, listOf, nameOf, sse, type Turn, textOf } from './fake-protocol.ts';

const stopReason = (turn: Turn): string => (turn.tool === null ? 'end_turn' : 'tool_use');
const thinking = (turn: Turn) => (turn.thinking ? [{ type: 'thinking', thinking: turn.thinking.text, signature: turn.thinking.signature }] : []);
const blocks = (turn: Turn): unknown[] => [
  ...thinking(turn),
  ...(hasText(turn) ? [{ type: 'text', text: turn.chunks.join('') }] : []),
  ...callsOf(turn).map(({ id, name, args }) => ({ type: 'tool_use', id, name, input: JSON.parse(args) })),
];
const message = (turn: Turn, content: unknown[], reason: string | null, outputTokens: number) => ({
  id: `msg_fake${turn.id}`,
  type: 'message',
  role: 'assistant',
  model: turn.model,
  content,
  stop_reason: reason,
  stop_sequence: null,
  usage: { input_tokens: turn.inputTokens, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: outputTokens },
});
const event = (type: string, fields: object = {}): string => sse({ type, ...fields }, type);
const blockDelta = (index: number, delta: object): string => event('content_block_delta', { index, delta });
const textDelta = (text: string, index = 0): string => blockDelta(index, { type: 'text_delta', text });

/** Each block as its start and what comes before its stop. */
function* streamedBlocks(turn: Turn): Iterable<(index: number) => [start: object, deltas: string[]]> {
  const { thinking } = turn;
  if (thinking)
    yield (index) => [
      { type: 'thinking', thinking: '', signature: '' },
      [blockDelta(index, { type: 'thinking_delta', thinking: thinking.text }), blockDelta(index, { type: 'signature_delta', signature: thinking.signature })],
    ];
  if (hasText(turn)) yield (index) => [{ type: 'text', text: '' }, turn.chunks.map((text) => textDelta(text, index))];
  for (const { id, name, args } of callsOf(turn)) {
    const half = args.length >> 1;
    const inputDelta = (index: number, json: string): string => blockDelta(index, { type: 'input_json_delta', partial_json: json });
    yield (index) => [{ type: 'tool_use', id, name, input: {} }, [inputDelta(index, args.slice(0, half)), inputDelta(index, args.slice(half))]];
  }
}
const errorTypes: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

export const beta: FakeProtocol = {
  read(body) {
    const messages = listOf(body['messages']);
    const results = (content: unknown) => listOf(content).filter((part) => part['type'] === 'tool_result');
    const lastText = messages.findLastIndex((one) => one['role'] === 'user' && results(one['content']).length === 0);
    const result = messages
      .slice(lastText + 1)
      .flatMap((one) => results(one['content']))
      .at(-1);
    return {
      text: textOf(messages[lastText]?.['content']),
      tools: listOf(body['tools']).flatMap((tool) => nameOf(tool['name'])),
      toolResult: result === undefined ? null : textOf(result['content']),
    };
  },
  whole: (turn) => message(turn, blocks(turn), stopReason(turn), turn.outputTokens),
  events(turn) {
    return [
      event('message_start', { message: message(turn, [], null, 1) }),
      ...[...streamedBlocks(turn)].flatMap((block, index) => {
        const [start, deltas] = block(index);
        const ping = index === 0 ? [event('ping')] : [];
        return [event('content_block_start', { index, content_block: start }), ...ping, ...deltas, event('content_block_stop', { index })];
      }),
      event('message_delta', { delta: { stop_reason: stopReason(turn), stop_sequence: null }, usage: { output_tokens: turn.outputTokens } }),
      event('message_stop'),
    ];
  },
  delta: (_turn, text) => textDelta(text),
  midstreamError: (text) => event('error', { error: { type: 'overloaded_error', message: text } }),
  error: (status, code, text) => ({
    type: 'error',
    error: { type: code === 'error' ? (errorTypes[status] ?? 'api_error') : code, message: text },
    request_id: 'req_fake',
  }),
  countTokens: (tokens) => ({ input_tokens: tokens }),
  models: (ids) => ({
    data: ids.map((id) => ({ type: 'model', id, display_name: id, created_at: '2025-01-01T00:00:00Z' })),
    has_more: false,
    first_id: ids[0] ?? null,
    last_id: ids.at(-1) ?? null,
  }),
};
