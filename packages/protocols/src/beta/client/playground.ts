/** Messages in the playground. */
import {
  at,
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

const message = ({ role, text: words, images }: PlaygroundTurn) => ({
  role,
  content: [
    ...images.map(({ mediaType, base64 }) => ({ type: 'image', source: { type: 'base64', media_type: mediaType, data: base64 } })),
    ...(words ? [{ type: 'text', text: words }] : []),
  ],
});

/** A block, as a whole or as it opens: a call's arguments follow as deltas. */
function readBlock(block: unknown, id: string): PlaygroundPiece[] {
  if (at(block, 'type') !== 'tool_use') return [...textPiece('text', at(block, 'text')), ...textPiece('thinking', at(block, 'thinking'))];
  const input = at(block, 'input');
  const isEmpty = typeof input !== 'object' || input === null || Object.keys(input).length === 0;
  return [{ kind: 'tool', id, name: text(at(block, 'name')), arguments: isEmpty ? '' : JSON.stringify(input) }];
}

const usage = (value: unknown): PlaygroundPiece[] => usagePiece(at(value, 'usage', 'input_tokens'), at(value, 'usage', 'output_tokens'));

const readers: Readonly<Record<string, (event: unknown) => PlaygroundPiece[]>> = {
  message_start: (event) => usage(at(event, 'message')),
  content_block_start: (event) => readBlock(at(event, 'content_block'), String(at(event, 'index'))),
  content_block_delta: (event) => [
    ...textPiece('text', at(event, 'delta', 'text')),
    ...textPiece('thinking', at(event, 'delta', 'thinking')),
    ...(at(event, 'delta', 'type') === 'input_json_delta'
      ? [{ kind: 'tool', id: String(at(event, 'index')), arguments: text(at(event, 'delta', 'partial_json')) } as const]
      : []),
  ],
  message_delta: (event) => [...finishPiece(at(event, 'delta', 'stop_reason')), ...usage(event)],
  error: errorPiece,
};

export const playground: PlaygroundDialect = {
  id: 'beta',
  path: () => '/v1/messages',
  headers: (key) => ({ 'x-api-key': key, 'anthropic-version': '2023-06-01' }),
  body: ({ model, system, turns, tools, maxTokens, temperature, stream }) => ({
    model,
    max_tokens: maxTokens,
    ...(system && { system }),
    messages: turns.map(message),
    ...(tools.length > 0 && { tools: tools.map(({ parameters, ...tool }) => ({ ...tool, input_schema: parameters })) }),
    ...(temperature !== null && { temperature }),
    stream,
  }),
  readEvent: (event) => {
    const type = text(at(event, 'type'));
    return Object.hasOwn(readers, type) ? (readers[type]?.(event) ?? []) : [];
  },
  readWhole: (reply) => [
    ...errorPiece(reply),
    ...list(at(reply, 'content')).flatMap((block, index) => readBlock(block, String(index))),
    ...finishPiece(at(reply, 'stop_reason')),
    ...usage(reply),
  ],
  readRequest: (body) => {
    const turns = list(at(body, 'messages')).map((one) => ({ role: at(one, 'role'), words: wordsOf(at(one, 'content')) }));
    return startOf(wordsOf(at(body, 'system')), turns, at(body, 'max_tokens'), at(body, 'temperature'));
  },
  sampleReply: (words, model) => ({
    id: 'msg_sample',
    type: 'message',
    role: 'assistant',
    model,
    content: [{ type: 'text', text: words }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 24, output_tokens: 9 },
  }),
};
