/** Responses. */
import { alpha } from './alpha.ts';
import { type Call, callsOf, type FakeProtocol, hasText, listOf, nameOf, sse, type Turn, textOf } from './fake-protocol.ts';

const usage = (turn: Turn) => ({
  input_tokens: turn.inputTokens,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: turn.outputTokens,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: turn.inputTokens + turn.outputTokens,
});
const part = (text: string) => ({ type: 'output_text', annotations: [], logprobs: [], text });
/** Ids of items are the turn's own: what is stored is known again by them. */
const messageId = (turn: Turn): string => `msg_fake${turn.id}`;

/** An item of the output: as it is added, the events between, as it is done. */
interface Item {
  begun: object;
  events(event: Numbered, index: number): string[];
  done: object;
}

function textItem(turn: Turn): Item {
  const base = { id: messageId(turn), type: 'message', role: 'assistant' };
  const text = turn.chunks.join('');
  return {
    begun: { ...base, status: 'in_progress', content: [] },
    events(event, index) {
      const at = { item_id: base.id, output_index: index, content_index: 0 };
      return [
        event('response.content_part.added', { ...at, part: part('') }),
        ...turn.chunks.map((delta) => event('response.output_text.delta', { ...at, delta, logprobs: [] })),
        event('response.output_text.done', { ...at, text, logprobs: [] }),
        event('response.content_part.done', { ...at, part: part(text) }),
      ];
    },
    done: { ...base, status: 'completed', content: [part(text)] },
  };
}

function callItem(turn: Turn, { id, name, args }: Call, number: number): Item {
  const base = { id: `fc_fake${turn.id}_${number}`, type: 'function_call', call_id: id, name };
  return {
    begun: { ...base, status: 'in_progress', arguments: '' },
    events(event, index) {
      const at = { item_id: base.id, output_index: index };
      const half = args.length >> 1;
      return [
        event('response.function_call_arguments.delta', { ...at, delta: args.slice(0, half) }),
        event('response.function_call_arguments.delta', { ...at, delta: args.slice(half) }),
        event('response.function_call_arguments.done', { ...at, arguments: args }),
      ];
    },
    done: { ...base, status: 'completed', arguments: args },
  };
}

function reasoningItem(turn: Turn, { text, signature }: { text: string; signature: string }): Item {
  const base = { id: `rs_fake${turn.id}`, type: 'reasoning' };
  const summary = { type: 'summary_text', text };
  return {
    begun: { ...base, summary: [], encrypted_content: '' },
    events(event, index) {
      const at = { item_id: base.id, output_index: index, summary_index: 0 };
      return [
        event('response.reasoning_summary_part.added', { ...at, part: { ...summary, text: '' } }),
        event('response.reasoning_summary_text.delta', { ...at, delta: text }),
        event('response.reasoning_summary_text.done', { ...at, text }),
        event('response.reasoning_summary_part.done', { ...at, part: summary }),
      ];
    },
    done: { ...base, summary: [summary], encrypted_content: signature },
  };
}

const itemsOf = (turn: Turn): Item[] => [
  ...(turn.thinking ? [reasoningItem(turn, turn.thinking)] : []),
  ...(hasText(turn) ? [textItem(turn)] : []),
  ...callsOf(turn).map((call, number) => callItem(turn, call, number)),
];

const response = (turn: Turn, status: string) => ({
  id: `resp_fake${turn.id}`,
  object: 'response',
  created_at: 1_700_000_000,
  status,
  background: false,
  error: null,
  incomplete_details: null,
  instructions: null,
  max_output_tokens: null,
  model: turn.model,
  output: status === 'completed' ? itemsOf(turn).map(({ done }) => done) : [],
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

type Numbered = (type: string, fields: object) => string;
/** Numbers events as they are written. */
function numbered(): Numbered {
  let next = 0;
  return (type, fields) => sse({ type, sequence_number: next++, ...fields }, type);
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
      ...itemsOf(turn).flatMap((item, index) => [
        event('response.output_item.added', { output_index: index, item: item.begun }),
        ...item.events(event, index),
        event('response.output_item.done', { output_index: index, item: item.done }),
      ]),
      event('response.completed', { response: response(turn, 'completed') }),
    ];
  },
  delta: (turn, delta, n) =>
    sse(
      { type: 'response.output_text.delta', sequence_number: 5 + n, item_id: messageId(turn), output_index: 0, content_index: 0, delta, logprobs: [] },
      'response.output_text.delta',
    ),
  midstreamError: (message) => sse({ type: 'error', sequence_number: 99, code: 'server_error', message, param: null }, 'error'),
  error: alpha.error,
  compact: (turn, body, sealed) => ({
    id: `resp_fake_${turn.id}`,
    object: 'response.compaction',
    created_at: 1_700_000_000,
    output: [
      ...listOf(body['input'])
        .filter(({ role }) => role === 'user')
        .map((message, at) => ({
          id: `msg_fake_${turn.id}_${at}`,
          type: 'message',
          status: 'completed',
          role: 'user',
          content: typeof message['content'] === 'string' ? [{ type: 'input_text', text: message['content'] }] : message['content'],
        })),
      { id: `cmp_fake_${turn.id}`, type: 'compaction', encrypted_content: sealed },
    ],
    usage: { input_tokens: turn.inputTokens, output_tokens: turn.outputTokens, total_tokens: turn.inputTokens + turn.outputTokens },
  }),
  countTokens: (tokens) => ({ object: 'response.input_tokens', input_tokens: tokens }),
  models: alpha.models,
};

function toolNames(body: Record<string, unknown>): string[] {
  return listOf(body['tools']).flatMap((tool) => (tool['type'] === 'function' ? nameOf(tool['name']) : []));
}
