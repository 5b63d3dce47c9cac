/** Responses in the playground. */
import {
  at,
  dataUrl,
  errorPiece,
  finishPiece,
  list,
  type PlaygroundDialect,
  type PlaygroundPiece,
  type PlaygroundTurn,
  startOf,
  text,
  textPiece,
  usagePiece,
  wordsOf,
} from '../../playground/dialect.ts';

const item = ({ role, text: words, images }: PlaygroundTurn) => ({
  role,
  content: [
    ...(words ? [{ type: role === 'user' ? 'input_text' : 'output_text', text: words }] : []),
    ...images.map((image) => ({ type: 'input_image', image_url: dataUrl(image) })),
  ],
});

const toolPiece = (id: unknown, name: unknown, args: unknown): PlaygroundPiece => ({
  kind: 'tool',
  id: text(id),
  ...(text(name) && { name: text(name) }),
  arguments: text(args),
});

const end = (response: unknown): PlaygroundPiece[] => [
  ...errorPiece(response),
  ...finishPiece(at(response, 'incomplete_details', 'reason') ?? at(response, 'status')),
  ...usagePiece(at(response, 'usage', 'input_tokens'), at(response, 'usage', 'output_tokens')),
];

const readers: Readonly<Record<string, (event: unknown) => PlaygroundPiece[]>> = {
  'response.output_text.delta': (event) => textPiece('text', at(event, 'delta')),
  'response.refusal.delta': (event) => textPiece('text', at(event, 'delta')),
  'response.reasoning_text.delta': (event) => textPiece('thinking', at(event, 'delta')),
  'response.reasoning_summary_text.delta': (event) => textPiece('thinking', at(event, 'delta')),
  'response.output_item.added': (event) =>
    at(event, 'item', 'type') === 'function_call' ? [toolPiece(at(event, 'item', 'id'), at(event, 'item', 'name'), '')] : [],
  'response.function_call_arguments.delta': (event) => [toolPiece(at(event, 'item_id'), '', at(event, 'delta'))],
  'response.completed': (event) => end(at(event, 'response')),
  'response.incomplete': (event) => end(at(event, 'response')),
  'response.failed': (event) => end(at(event, 'response')),
  error: (event) => (text(at(event, 'message')) ? [{ kind: 'error', message: text(at(event, 'message')) }] : errorPiece(event)),
};

function readItem(value: unknown): PlaygroundPiece[] {
  if (at(value, 'type') === 'function_call') return [toolPiece(at(value, 'id'), at(value, 'name'), at(value, 'arguments'))];
  if (at(value, 'type') === 'reasoning') return list(at(value, 'summary')).flatMap((part) => textPiece('thinking', at(part, 'text')));
  return list(at(value, 'content')).flatMap((part) => textPiece('text', at(part, 'text') ?? at(part, 'refusal')));
}

export const playground: PlaygroundDialect = {
  id: 'alpha_response',
  path: () => '/v1/responses',
  headers: (key) => ({ authorization: `Bearer ${key}` }),
  body: ({ model, system, turns, tools, maxTokens, temperature, stream }) => ({
    model,
    ...(system && { instructions: system }),
    input: turns.map(item),
    ...(tools.length > 0 && { tools: tools.map((tool) => ({ type: 'function', ...tool, strict: false })) }),
    max_output_tokens: maxTokens,
    ...(temperature !== null && { temperature }),
    store: false,
    stream,
  }),
  readEvent: (event) => {
    const type = text(at(event, 'type'));
    return Object.hasOwn(readers, type) ? (readers[type]?.(event) ?? []) : errorPiece(event);
  },
  readWhole: (reply) => [...list(at(reply, 'output')).flatMap(readItem), ...end(reply)],
  readRequest: (body) => {
    const input = at(body, 'input');
    const items = list(input).map((one) => ({ role: at(one, 'role'), words: wordsOf(at(one, 'content')) }));
    const isSystem = ({ role }: { role: unknown }) => role === 'system' || role === 'developer';
    const system = [text(at(body, 'instructions')), ...items.filter(isSystem).map(({ words }) => words)].filter(Boolean);
    const turns = text(input) ? [{ role: 'user', words: text(input) }] : items.filter((one) => !isSystem(one));
    return startOf(system.join('\n'), turns, at(body, 'max_output_tokens'), at(body, 'temperature'));
  },
  sampleReply: (words, model) => ({
    id: 'resp_sample',
    object: 'response',
    created_at: 1_760_000_000,
    status: 'completed',
    model,
    output: [{ id: 'msg_sample', type: 'message', status: 'completed', role: 'assistant', content: [{ type: 'output_text', text: words, annotations: [] }] }],
    usage: { input_tokens: 24, output_tokens: 9, total_tokens: 33 },
  }),
};
