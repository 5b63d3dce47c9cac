/** Chat completions in the playground. */
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

const message = ({ role, text: words, images }: PlaygroundTurn) => ({
  role,
  content:
    images.length === 0
      ? words
      : [...(words ? [{ type: 'text', text: words }] : []), ...images.map((image) => ({ type: 'image_url', image_url: { url: dataUrl(image) } }))],
});

/** A message and a delta have the same fields. */
function readMessage(value: unknown): PlaygroundPiece[] {
  return [
    ...textPiece('thinking', at(value, 'reasoning_content')),
    ...textPiece('text', at(value, 'content')),
    ...textPiece('text', at(value, 'refusal')),
    ...list(at(value, 'tool_calls')).map((call, place): PlaygroundPiece => {
      const name = text(at(call, 'function', 'name'));
      return { kind: 'tool', id: String(at(call, 'index') ?? place), ...(name && { name }), arguments: text(at(call, 'function', 'arguments')) };
    }),
  ];
}

const read = (value: unknown, part: 'delta' | 'message'): PlaygroundPiece[] => [
  ...errorPiece(value),
  ...readMessage(at(value, 'choices', 0, part)),
  ...finishPiece(at(value, 'choices', 0, 'finish_reason')),
  ...usagePiece(at(value, 'usage', 'prompt_tokens'), at(value, 'usage', 'completion_tokens')),
];

export const playground: PlaygroundDialect = {
  id: 'alpha',
  path: () => '/v1/chat/completions',
  headers: (key) => ({ authorization: `Bearer ${key}` }),
  body: ({ model, system, turns, tools, maxTokens, temperature, stream }) => ({
    model,
    messages: [...(system ? [{ role: 'system', content: system }] : []), ...turns.map(message)],
    ...(tools.length > 0 && { tools: tools.map((tool) => ({ type: 'function', function: tool })) }),
    max_completion_tokens: maxTokens,
    ...(temperature !== null && { temperature }),
    stream,
    ...(stream && { stream_options: { include_usage: true } }),
  }),
  readEvent: (event) => read(event, 'delta'),
  readWhole: (reply) => read(reply, 'message'),
  readRequest: (body) => {
    const messages = list(at(body, 'messages')).map((one) => ({ role: at(one, 'role'), words: wordsOf(at(one, 'content')) }));
    const isSystem = ({ role }: { role: unknown }) => role === 'system' || role === 'developer';
    const system = messages.filter(isSystem).map(({ words }) => words);
    const turns = messages.filter((one) => !isSystem(one) && one.role !== 'tool');
    return startOf(system.join('\n'), turns, at(body, 'max_completion_tokens') ?? at(body, 'max_tokens'), at(body, 'temperature'));
  },
  sampleReply: (words, model) => ({
    id: 'chatcmpl-sample',
    object: 'chat.completion',
    created: 1_760_000_000,
    model,
    choices: [{ index: 0, message: { role: 'assistant', content: words }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 24, completion_tokens: 9, total_tokens: 33 },
  }),
};
