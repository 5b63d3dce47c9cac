/** What the mock upstream says: whole replies and stream frames of OpenAI chat completions and responses, and Anthropic messages, made once and reused. */

export type MockDialect = 'openai' | 'anthropic' | 'responses';
/** What is no conversation. */
export type MockMedia = 'embeddings' | 'speech';

const words = ' the quick brown fox jumps over a lazy dog while seven wizards boil'.split(/(?= )/);
const word = (at: number): string => words[at % words.length]!;
const created = 1_760_000_000;

const openaiUsage = (output: number): object => ({
  prompt_tokens: 25,
  completion_tokens: output,
  total_tokens: 25 + output,
  prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0, accepted_prediction_tokens: 0, rejected_prediction_tokens: 0 },
});
const anthropicUsage = (output: number): object => ({
  input_tokens: 25,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: output,
});
const openaiBase = { created, model: 'gpt-4o-2024-08-06', service_tier: 'default', system_fingerprint: 'fp_mock000000' };
const anthropicMessage = { id: 'msg_01mock00000000000000000', type: 'message', role: 'assistant', model: 'claude-sonnet-4-5', stop_sequence: null };

const response = (status: string, output: readonly object[], usage: object | null): object => ({
  ...{ id: 'resp_01mock0000000000000000000000', object: 'response', created_at: created, status, background: false, error: null, incomplete_details: null },
  ...{ instructions: 'You are a helpful assistant.', max_output_tokens: 512, model: 'gpt-4o-2024-08-06', output, parallel_tool_calls: true },
  ...{ previous_response_id: null, reasoning: { effort: null, summary: null }, service_tier: 'default', store: false, temperature: 1 },
  ...{ text: { format: { type: 'text' } }, tool_choice: 'auto', tools: [], top_p: 1, truncation: 'disabled', usage, user: null, metadata: {} },
});
const responsesMessage = (text: string, status = 'completed'): object => ({
  ...{ id: 'msg_01mock0000000000000000000000', type: 'message', status, role: 'assistant' },
  content: status === 'completed' ? [{ type: 'output_text', annotations: [], logprobs: [], text }] : [],
});
const responsesUsage = (output: number): object => ({
  ...{ input_tokens: 25, input_tokens_details: { cached_tokens: 0 }, output_tokens: output, output_tokens_details: { reasoning_tokens: 0 } },
  total_tokens: 25 + output,
});

const wholes: Record<MockDialect, (text: string) => object> = {
  openai: (text) => ({
    id: 'chatcmpl-Bk0mock0000000000000000000',
    object: 'chat.completion',
    ...openaiBase,
    choices: [{ index: 0, message: { role: 'assistant', content: text, refusal: null }, logprobs: null, finish_reason: 'stop' }],
    usage: openaiUsage(text.length >> 2),
  }),
  anthropic: (text) => ({ ...anthropicMessage, content: [{ type: 'text', text }], stop_reason: 'end_turn', usage: anthropicUsage(text.length >> 2) }),
  responses: (text) => response('completed', [responsesMessage(text)], responsesUsage(text.length >> 2)),
};

const event = (data: object, name?: string): string => `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;

const streams: Record<MockDialect, (chunks: number) => string[]> = {
  openai(chunks) {
    const base = { id: 'chatcmpl-Bk0mock0000000000000000000', object: 'chat.completion.chunk', ...openaiBase };
    const chunk = (delta: object, finish: string | null = null): string =>
      event({ ...base, choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }] });
    return [
      chunk({ role: 'assistant', content: '', refusal: null }),
      ...Array.from({ length: chunks }, (_, at) => chunk({ content: word(at) })),
      chunk({}, 'stop'),
      event({ ...base, choices: [], usage: openaiUsage(chunks) }),
      'data: [DONE]\n\n',
    ];
  },
  anthropic(chunks) {
    const frame = (type: string, rest: object): string => event({ type, ...rest }, type);
    return [
      frame('message_start', { message: { ...anthropicMessage, content: [], stop_reason: null, usage: anthropicUsage(1) } }),
      frame('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
      frame('ping', {}),
      ...Array.from({ length: chunks }, (_, at) => frame('content_block_delta', { index: 0, delta: { type: 'text_delta', text: word(at) } })),
      frame('content_block_stop', { index: 0 }),
      frame('message_delta', { delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: chunks } }),
      frame('message_stop', {}),
    ];
  },
  responses(chunks) {
    let number = 0;
    const frame = (type: string, rest: object): string => event({ type, sequence_number: number++, ...rest }, type);
    const place = { item_id: 'msg_01mock0000000000000000000000', output_index: 0, content_index: 0 };
    const text = Array.from({ length: chunks }, (_, at) => word(at)).join('');
    const part = (said: string): object => ({ part: { type: 'output_text', annotations: [], logprobs: [], text: said } });
    return [
      frame('response.created', { response: response('in_progress', [], null) }),
      frame('response.in_progress', { response: response('in_progress', [], null) }),
      frame('response.output_item.added', { output_index: 0, item: responsesMessage('', 'in_progress') }),
      frame('response.content_part.added', { ...place, ...part('') }),
      ...Array.from({ length: chunks }, (_, at) => frame('response.output_text.delta', { ...place, delta: word(at), logprobs: [] })),
      frame('response.output_text.done', { ...place, text, logprobs: [] }),
      frame('response.content_part.done', { ...place, ...part(text) }),
      frame('response.output_item.done', { output_index: 0, item: responsesMessage(text) }),
      frame('response.completed', { response: response('completed', [responsesMessage(text)], responsesUsage(chunks)) }),
    ];
  },
};

/** A whole reply of about that many bytes. */
export function wholeReply(dialect: MockDialect, bytes: number): Buffer {
  const frame = JSON.stringify(wholes[dialect]('')).length;
  const line = words.join('');
  const length = Math.max(1, bytes - frame);
  return Buffer.from(JSON.stringify(wholes[dialect](line.repeat(Math.ceil(length / line.length)).slice(0, length))));
}

/** The frames of a stream with that many content chunks. */
export const streamFrames = (dialect: MockDialect, chunks: number): Buffer[] => streams[dialect](chunks).map((frame) => Buffer.from(frame));

/** Vectors of 1,536 numbers. */
export const embeddingsReply = (vectors: number): Buffer =>
  Buffer.from(
    JSON.stringify({
      object: 'list',
      data: Array.from({ length: vectors }, (_, index) => ({
        object: 'embedding',
        index,
        embedding: Buffer.from(Float32Array.from({ length: 1536 }, (_none, at) => Math.sin(at + index)).buffer).toString('base64'),
      })),
      model: 'text-embedding-3-small',
      usage: { prompt_tokens: 250 * vectors, total_tokens: 250 * vectors },
    }),
  );

/** 40 ms of sound at 24 kHz each; the last one ends in a word by which the driver knows it. */
export const soundPieces = (pieces: number): Buffer[] =>
  Array.from({ length: pieces }, (_, at) => (at < pieces - 1 ? Buffer.alloc(1920, at) : Buffer.concat([Buffer.alloc(1914), Buffer.from('[DONE]')])));

export const mediaOfPath = (path = ''): MockMedia | undefined =>
  path.includes('/embeddings') ? 'embeddings' : path.includes('/audio/speech') ? 'speech' : undefined;

/** Whose endpoint is asked. */
export const dialectOfPath = (path = ''): MockDialect => (path.includes('/messages') ? 'anthropic' : path.includes('/responses') ? 'responses' : 'openai');
