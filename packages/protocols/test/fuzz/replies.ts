/** Replies of each upstream as lists of records and as whole bodies: what the fuzz changes. Played ones, recorded ones where they are, and one with every optional field. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createEventStreamParser, createSseParser } from '@model-gateway/stream-framing';
import { type FramedRecord, foldEvents } from '../../src/index.ts';
import { citedReply, reply, text } from '../board/replies.ts';
import { play, type Upstream } from '../laws/harness.ts';
import { replyScenarios } from '../laws/scenarios.ts';
import { recordingsFolder } from '../support/recordings-folder.ts';

/** A record before its envelope is opened: what is changed is `json`. */
export interface FuzzedRecord {
  event?: string | undefined;
  failure?: FramedRecord['failure'];
  /** undefined: `data` is no JSON. */
  json: unknown;
  data: string;
}

export interface ReplySeeds {
  streams: FuzzedRecord[][];
  wholes: unknown[];
}

const folder = recordingsFolder;
/** Longer ones would be all that the fuzz reads. */
const maxRecordedLength = 48 * 1024;

function recordsOf(framing: Upstream['upstream']['framing'], bytes: Uint8Array): FuzzedRecord[] {
  const maxBytes = 1 << 20;
  const parser = framing === 'event-stream' ? createEventStreamParser({ maxMessageBytes: maxBytes }) : createSseParser({ maxEventBytes: maxBytes });
  return [...parser.push(bytes), ...parser.finish()].map(({ event, failure, data }: FramedRecord) => ({ event, failure, json: parse(data), data }));
}

function parse(data: string): unknown {
  try {
    return JSON.parse(data) as unknown;
  } catch {
    return undefined;
  }
}

/** Recorded replies of this protocol; none where the recordings are not. Errors among them are replies, too. */
function recorded({ id, upstream }: Upstream): ReplySeeds {
  const seeds: ReplySeeds = { streams: [], wholes: [] };
  const own = join(folder, id.split(',')[0]!);
  for (const name of existsSync(own) ? readdirSync(own) : []) {
    for (const file of readdirSync(join(own, name))) {
      const path = join(own, name, file);
      if (!file.includes('response') || statSync(path).size > maxRecordedLength) continue;
      if (/\.(?:sse|bin)$/.test(file)) seeds.streams.push(recordsOf(upstream.framing, readFileSync(path)));
      else if (file.endsWith('.json')) seeds.wholes.push(parse(readFileSync(path, 'utf8')));
    }
  }
  return seeds;
}

/** Cited, with every kind of block, and each scenario of the laws. */
function played(upstream: Upstream): ReplySeeds {
  const cited = citedReply(upstream.id);
  const all = [...replyScenarios.map(({ events }) => events), ...(cited ? [reply([...cited, text('Done.')])] : [])];
  return {
    streams: all.map((events) => recordsOf(upstream.upstream.framing, play(upstream, events))),
    wholes: upstream.whole ? all.map((events) => JSON.parse(JSON.stringify(upstream.whole?.(foldEvents(events)))) as unknown) : [],
  };
}

const named = (json: Record<string, unknown> & { type: string }): FuzzedRecord => ({ event: json.type, json, data: '' });
const bare = (json: unknown): FuzzedRecord => ({ json, data: '' });
const event = (name: string, json: unknown): FuzzedRecord => ({ event: name, json, data: '' });

const usage = {
  prompt_tokens: 9,
  completion_tokens: 5,
  total_tokens: 14,
  prompt_tokens_details: { cached_tokens: 3, audio_tokens: 1 },
  completion_tokens_details: { reasoning_tokens: 2, audio_tokens: 0, accepted_prediction_tokens: 1, rejected_prediction_tokens: 0 },
  prompt_cache_hit_tokens: 3,
};
const chunk = (delta: unknown, finish: string | null = null, more: object = {}): FuzzedRecord =>
  bare({
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    system_fingerprint: 'f',
    choices: [{ index: 0, delta, finish_reason: finish, logprobs: null }],
    ...more,
  });
const chatMessage = {
  role: 'assistant',
  content: 'Look:',
  refusal: null,
  reasoning_content: 'Rivers',
  reasoning: 'Rivers',
  reasoning_details: [
    { type: 'reasoning.text', text: 'Rivers', signature: 'AAAA', format: 'anthropic-claude-v1', index: 0, id: null },
    { type: 'reasoning.encrypted', data: 'BBBB', format: 'openai-responses-v1', index: 1, id: 'rs_1' },
    { type: 'reasoning.summary', summary: 'R', index: 2 },
  ],
  annotations: [{ type: 'url_citation', url_citation: { url: 'https://rivers.test', title: 'R', start_index: 0, end_index: 3, content: 'x' } }],
  audio: { id: 'a', data: 'AAAA', transcript: 'T', expires_at: 1 },
  images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }],
  tool_calls: [
    {
      index: 0,
      id: 'call_1',
      type: 'function',
      function: { name: 'get_weather', arguments: '{"place":"Paris"}' },
      extra_content: { google: { thought_signature: 'CCCC' } },
    },
    { index: 1, id: '', type: 'custom', custom: { name: 'apply_patch', input: 'x' } },
  ],
  function_call: { name: 'old', arguments: '{}' },
};
const chatStream: FuzzedRecord[] = [
  bare({ id: '', model: '', choices: [], prompt_filter_results: [{ prompt_index: 0, content_filter_results: {} }] }),
  chunk({ role: 'assistant', content: '' }),
  chunk({ reasoning_content: 'Riv', reasoning_details: chatMessage.reasoning_details }),
  chunk({
    content: [
      { type: 'thinking', thinking: [{ type: 'text', text: 'T' }] },
      { type: 'text', text: 'x' },
    ],
  }),
  chunk({ content: 'Look' }, null, { usage: null, obfuscation: 'x', p: 'y' }),
  chunk({ content: ':', annotations: chatMessage.annotations, audio: chatMessage.audio }),
  chunk({ tool_calls: [{ ...chatMessage.tool_calls[0], function: { name: 'get_weather', arguments: '' } }] }),
  chunk({ tool_calls: [{ index: 0, id: '', function: { name: '', arguments: '{"place":' } }] }),
  chunk({ tool_calls: [{ index: 0, function: { arguments: '"Paris"}' } }, chatMessage.tool_calls[1]] }),
  chunk({ refusal: 'No' }),
  chunk({}, 'tool_calls', { native_finish_reason: 'x', service_tier: 'default', x_groq: { id: 'r', usage } }),
  bare({ id: 'c', choices: [], usage }),
  { json: undefined, data: '[DONE]' },
];
const chatWhole = {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [
    {
      index: 0,
      message: chatMessage,
      finish_reason: 'tool_calls',
      logprobs: { content: [{ token: 'a', logprob: -1, bytes: [1], top_logprobs: [] }] },
      content_filter_results: {},
    },
  ],
  usage,
  citations: ['https://rivers.test'],
};

const part = { type: 'output_text', text: '', annotations: [], logprobs: [] };
const annotation = { type: 'url_citation', url: 'https://rivers.test', title: 'R', start_index: 0, end_index: 3 };
const turn = { id: 'resp_1', object: 'response', created_at: 1, status: 'in_progress', model: 'm', output: [], usage: null, tools: [], metadata: {} };
const turnUsage = {
  input_tokens: 9,
  input_tokens_details: { cached_tokens: 3 },
  output_tokens: 5,
  output_tokens_details: { reasoning_tokens: 2 },
  total_tokens: 14,
};
const items = [
  {
    type: 'reasoning',
    id: 'rs_1',
    summary: [{ type: 'summary_text', text: 'Rivers' }],
    content: [{ type: 'reasoning_text', text: 'Raw' }],
    encrypted_content: 'AAAA',
  },
  { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'x', sources: [] } },
  {
    type: 'message',
    id: 'msg_1',
    role: 'assistant',
    status: 'completed',
    phase: 'final_answer',
    content: [
      { ...part, text: 'Look:', annotations: [annotation] },
      { type: 'refusal', refusal: 'No' },
    ],
  },
  { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'get_weather', namespace: 'p', arguments: '{"place":"Paris"}', status: 'completed' },
  { type: 'custom_tool_call', id: 'ctc_1', call_id: 'call_2', name: 'apply_patch', input: 'x', status: 'completed' },
  { type: 'mcp_call', id: 'mcp_1', name: 'n', arguments: '{}', output: 'o', server_label: 's', error: null },
];
const at = (output_index: number, item_id: string, more: object): Record<string, unknown> => ({ output_index, item_id, ...more });
const responsesStream: FuzzedRecord[] = [
  named({ type: 'response.created', sequence_number: 0, response: turn }),
  named({ type: 'response.in_progress', response: turn }),
  named({ type: 'response.output_item.added', output_index: 0, item: { ...items[0], summary: [], content: [] } }),
  named({ type: 'response.reasoning_summary_part.added', ...at(0, 'rs_1', { summary_index: 0, part: { type: 'summary_text', text: '' } }) }),
  named({ type: 'response.reasoning_summary_text.delta', ...at(0, 'rs_1', { summary_index: 0, delta: 'Rivers' }) }),
  named({ type: 'response.reasoning_summary_text.done', ...at(0, 'rs_1', { summary_index: 0, text: 'Rivers' }) }),
  named({ type: 'response.reasoning_text.delta', ...at(0, 'rs_1', { content_index: 0, delta: 'Raw' }) }),
  named({ type: 'response.output_item.done', output_index: 0, item: items[0] }),
  named({ type: 'response.output_item.added', output_index: 1, item: items[1] }),
  named({ type: 'response.web_search_call.searching', ...at(1, 'ws_1', {}) }),
  named({ type: 'response.output_item.done', output_index: 1, item: items[1] }),
  named({ type: 'response.output_item.added', output_index: 2, item: { ...items[2], content: [] } }),
  named({ type: 'response.content_part.added', ...at(2, 'msg_1', { content_index: 0, part }) }),
  named({ type: 'response.output_text.delta', ...at(2, 'msg_1', { content_index: 0, delta: 'Look:', logprobs: [], obfuscation: 'x' }) }),
  named({ type: 'response.output_text.annotation.added', ...at(2, 'msg_1', { content_index: 0, annotation_index: 0, annotation }) }),
  named({ type: 'response.output_text.done', ...at(2, 'msg_1', { content_index: 0, text: 'Look:', logprobs: [] }) }),
  named({ type: 'response.content_part.done', ...at(2, 'msg_1', { content_index: 0, part: { ...part, text: 'Look:' } }) }),
  named({ type: 'response.refusal.delta', ...at(2, 'msg_1', { content_index: 1, delta: 'No' }) }),
  named({ type: 'response.output_item.done', output_index: 2, item: items[2] }),
  named({ type: 'response.output_item.added', output_index: 3, item: { ...items[3], arguments: '' } }),
  named({ type: 'response.output_item.added', output_index: 4, item: { ...items[4], input: '' } }),
  named({ type: 'response.function_call_arguments.delta', ...at(3, 'fc_1', { delta: '{"place":"Paris"}' }) }),
  named({ type: 'response.custom_tool_call_input.delta', ...at(4, 'ctc_1', { delta: 'x' }) }),
  named({ type: 'response.function_call_arguments.done', ...at(3, 'fc_1', { arguments: '{"place":"Paris"}' }) }),
  named({ type: 'response.output_item.done', output_index: 3, item: items[3] }),
  named({ type: 'response.output_item.done', output_index: 4, item: items[4] }),
  named({ type: 'response.completed', response: { ...turn, status: 'completed', output: items, usage: turnUsage, incomplete_details: null, error: null } }),
];

const beginning = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [],
  stop_reason: null,
  stop_sequence: null,
  usage: {
    input_tokens: 5,
    cache_read_input_tokens: 3,
    cache_creation_input_tokens: 1,
    cache_creation: { ephemeral_5m_input_tokens: 1, ephemeral_1h_input_tokens: 0 },
    output_tokens: 1,
    service_tier: 'standard',
  },
};
const citation = { type: 'web_search_result_location', url: 'https://rivers.test', title: 'R', encrypted_index: 'a', cited_text: 'Look' };
const blocks: object[] = [
  { type: 'thinking', thinking: 'Rivers', signature: 'AAAA' },
  { type: 'redacted_thinking', data: 'BBBB' },
  { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'x' } },
  {
    type: 'web_search_tool_result',
    tool_use_id: 'srvtoolu_1',
    content: [{ type: 'web_search_result', url: 'https://rivers.test', title: 'R', encrypted_content: 'e', page_age: null }],
  },
  { type: 'text', text: 'Look:', citations: [citation] },
  { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: { place: 'Paris' }, caller: { type: 'direct' } },
];
const ending = { stop_reason: 'tool_use', stop_sequence: null, stop_details: null, container: null };
const started: object[] = [
  { type: 'thinking', thinking: '', signature: '' },
  blocks[1]!,
  { ...blocks[2], input: {} },
  blocks[3]!,
  { type: 'text', text: '', citations: [] },
  { ...blocks[5], input: {} },
];
const deltas: object[][] = [
  [
    { type: 'thinking_delta', thinking: 'Rivers', estimated_tokens: 1 },
    { type: 'signature_delta', signature: 'AAAA' },
  ],
  [],
  [{ type: 'input_json_delta', partial_json: '{"query":"x"}' }],
  [],
  [
    { type: 'citations_delta', citation },
    { type: 'text_delta', text: 'Look:' },
  ],
  [
    { type: 'input_json_delta', partial_json: '' },
    { type: 'input_json_delta', partial_json: '{"place":"Paris"}' },
  ],
];
const messagesStream: FuzzedRecord[] = [
  named({ type: 'message_start', message: beginning }),
  named({ type: 'ping' }),
  ...started.flatMap((content_block, index) => [
    named({ type: 'content_block_start', index, content_block }),
    ...deltas[index]!.map((delta) => named({ type: 'content_block_delta', index, delta })),
    named({ type: 'content_block_stop', index }),
  ]),
  named({
    type: 'message_delta',
    delta: ending,
    usage: { output_tokens: 9, input_tokens: 5, cache_read_input_tokens: 3, server_tool_use: { web_search_requests: 1 } },
    context_management: { applied_edits: [] },
  }),
  named({ type: 'message_stop' }),
];
const messagesWhole = { ...beginning, ...ending, content: blocks, usage: { ...beginning.usage, output_tokens: 9 } };

const grounding = {
  webSearchQueries: ['x'],
  searchEntryPoint: { renderedContent: '<b>' },
  groundingChunks: [{ web: { uri: 'https://rivers.test', title: 'R' } }],
  groundingSupports: [{ segment: { partIndex: 0, startIndex: 0, endIndex: 4, text: 'Look' }, groundingChunkIndices: [0], confidenceScores: [0.9] }],
};
const parts: object[] = [
  { text: 'Rivers', thought: true, thoughtSignature: 'AAAA' },
  { text: 'Look:' },
  {
    functionCall: {
      id: 'c1',
      name: 'get_weather',
      args: { place: 'Paris' },
      partialArgs: [{ jsonPath: '$.place', stringValue: 'P', willContinue: true }],
      willContinue: false,
    },
    thoughtSignature: 'BBBB',
  },
  { executableCode: { language: 'PYTHON', code: '1' } },
  { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } },
  { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
  { text: '', thoughtSignature: 'CCCC' },
];
const counts = {
  promptTokenCount: 9,
  candidatesTokenCount: 5,
  thoughtsTokenCount: 2,
  cachedContentTokenCount: 3,
  toolUsePromptTokenCount: 1,
  totalTokenCount: 17,
  promptTokensDetails: [{ modality: 'TEXT', tokenCount: 9 }],
};
const candidate = (own: object[], more: object = {}): unknown => ({
  candidates: [
    {
      index: 0,
      content: { role: 'model', parts: own },
      safetyRatings: [{ category: 'x', probability: 'LOW', blocked: false }],
      citationMetadata: { citationSources: [{ startIndex: 0, endIndex: 3, uri: 'https://rivers.test' }] },
      avgLogprobs: -1,
      logprobsResult: {},
      ...more,
    },
  ],
  usageMetadata: counts,
  promptFeedback: { safetyRatings: [] },
  modelVersion: 'm',
  responseId: 'r',
  createTime: '2026-01-01T00:00:00Z',
});
const finished = { finishReason: 'STOP', finishMessage: 'x', groundingMetadata: grounding, urlContextMetadata: { urlMetadata: [] }, tokenCount: 5 };
const gammaStream = [...parts.map((own) => bare(candidate([own]))), bare(candidate([{ text: '' }], finished))];

const converseUsage = {
  inputTokens: 5,
  outputTokens: 9,
  totalTokens: 18,
  cacheReadInputTokens: 3,
  cacheWriteInputTokens: 1,
  cacheDetails: [{ ttl: '5m', inputTokens: 1 }],
};
const converseBlocks = [
  { reasoningContent: { reasoningText: { text: 'Rivers', signature: 'AAAA' } } },
  { reasoningContent: { redactedContent: 'BBBB' } },
  { text: 'Look:' },
  {
    citationsContent: {
      content: [{ text: 'x' }],
      citations: [{ title: 'R', location: { web: { url: 'https://rivers.test', domain: 'd' } }, sourceContent: [{ text: 's' }] }],
    },
  },
  { toolUse: { toolUseId: 'tooluse_1', name: 'get_weather', input: { place: 'Paris' }, type: 'server_tool_use' } },
  { toolResult: { toolUseId: 'tooluse_1', content: [{ json: {} }], status: 'success', type: 'nova_grounding_result' } },
];
const step = (contentBlockIndex: number, delta: object): FuzzedRecord => event('contentBlockDelta', { contentBlockIndex, delta, p: 'abc' });
const stop = (contentBlockIndex: number): FuzzedRecord => event('contentBlockStop', { contentBlockIndex });
const converseStream: FuzzedRecord[] = [
  event('messageStart', { role: 'assistant', p: 'a' }),
  step(0, { reasoningContent: { text: 'Rivers' } }),
  step(0, { reasoningContent: { signature: 'AAAA' } }),
  step(1, { reasoningContent: { redactedContent: 'BBBB' } }),
  stop(0),
  stop(1),
  step(2, { text: 'Look:' }),
  step(2, { citation: converseBlocks[3]!.citationsContent!.citations[0]! }),
  stop(2),
  event('contentBlockStart', { contentBlockIndex: 3, start: { toolUse: { toolUseId: 'tooluse_1', name: 'get_weather' } } }),
  step(3, { toolUse: { input: '' } }),
  step(3, { toolUse: { input: '{"place":"Paris"}' } }),
  stop(3),
  event('contentBlockStart', { contentBlockIndex: 4, start: { toolResult: { toolUseId: 'tooluse_1', status: 'success' } } }),
  step(4, { toolResult: [{ json: {} }] }),
  stop(4),
  event('messageStop', { stopReason: 'tool_use', additionalModelResponseFields: { stop_sequence: null } }),
  event('metadata', { usage: converseUsage, metrics: { latencyMs: 1 }, trace: { guardrail: {} }, performanceConfig: { latency: 'standard' } }),
];
const converseWhole = {
  output: { message: { role: 'assistant', content: converseBlocks } },
  stopReason: 'tool_use',
  usage: converseUsage,
  metrics: { latencyMs: 1 },
  additionalModelResponseFields: {},
};

/** As the host frames another protocol's events. */
const chunked = (records: readonly FuzzedRecord[]): FuzzedRecord[] =>
  records.map(({ json }) => event('chunk', { bytes: Buffer.from(JSON.stringify(json), 'utf8').toString('base64'), p: 'a' }));

const deltaUsage = {
  input_tokens: 9,
  output_tokens: 5,
  total_tokens: 14,
  image_tokens: 1,
  prompt_tokens_details: { cached_tokens: 3 },
  output_tokens_details: { reasoning_tokens: 2 },
};
const deltaMessage = {
  role: 'assistant',
  content: [{ text: 'Look:' }, { image: 'https://pictures.test/a.png' }],
  reasoning_content: 'Rivers',
  tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{"place":"Paris"}' } }],
  annotations: [{ type: 'audio_info', language: 'x' }],
};
const deltaBody = (message: object, finish: string): object => ({
  output: {
    text: 'Look:',
    finish_reason: finish,
    choices: [{ message, finish_reason: finish, logprobs: null, index: 0 }],
    search_info: { search_results: [{ index: 1, url: 'https://rivers.test', title: 'R', site_name: 's', icon: 'i' }] },
  },
  usage: deltaUsage,
  request_id: 'r',
  code: '',
  message: '',
});
const deltaStream = [
  event('result', deltaBody({ role: 'assistant', content: '', reasoning_content: 'Riv' }, 'null')),
  event('result', deltaBody({ role: 'assistant', content: [{ text: 'Look' }], reasoning_content: '' }, 'null')),
  event('result', deltaBody(deltaMessage, 'null')),
  event(
    'result',
    deltaBody({ role: 'assistant', content: '', tool_calls: [{ index: 0, id: '', type: 'function', function: { name: '', arguments: '' } }] }, 'tool_calls'),
  ),
];

const assistantStream: FuzzedRecord[] = [
  event('initial-response', { conversationId: 'c' }),
  event('messageMetadataEvent', { conversationId: 'c', utteranceId: 'u' }),
  event('reasoningContentEvent', { text: 'Rivers' }),
  event('reasoningContentEvent', { signature: 'AAAA' }),
  event('reasoningContentEvent', { redactedContent: 'BBBB' }),
  event('assistantResponseEvent', { content: '<thinking>Hm</thinking>Look:', modelId: 'auto' }),
  event('codeReferenceEvent', { references: [{ licenseName: 'MIT', repository: 'r', url: 'u' }] }),
  event('citationEvent', { citationLink: 'https://rivers.test', citationText: 'R', target: { location: 1 } }),
  event('supplementaryWebLinksEvent', { supplementaryWebLinks: [{ url: 'https://rivers.test', title: 'R', snippet: 's' }] }),
  event('toolUseEvent', { toolUseId: 'tooluse_1', name: 'get_weather' }),
  event('toolUseEvent', { toolUseId: 'tooluse_1', name: 'get_weather', input: '{"place":"Paris"}' }),
  event('toolUseEvent', { toolUseId: 'tooluse_1', name: 'get_weather', stop: true }),
  event('contextUsageEvent', { contextUsagePercentage: 1.5 }),
  event('metadataEvent', {
    stopReason: 'TOOL_USE',
    tokenUsage: { uncachedInputTokens: 5, outputTokens: 9, totalTokens: 14, cacheReadInputTokens: 3, cacheWriteInputTokens: 1 },
  }),
  event('meteringEvent', { unit: 'credit', usage: 0.1 }),
];

const fullReplies: Readonly<Record<string, ReplySeeds>> = {
  alpha: { streams: [chatStream], wholes: [chatWhole] },
  alpha_response: { streams: [responsesStream], wholes: [{ ...turn, status: 'completed', output: items, usage: turnUsage }] },
  beta: { streams: [messagesStream], wholes: [messagesWhole] },
  gamma: { streams: [gammaStream], wholes: [candidate(parts, finished)] },
  cloudhost_converse: { streams: [converseStream], wholes: [converseWhole] },
  cloudhost_invoke: { streams: [chunked(messagesStream)], wholes: [messagesWhole] },
  'cloudhost_invoke, nova': { streams: [chunked(converseStream.map(({ event: name, json }) => bare({ [name as string]: json })))], wholes: [converseWhole] },
  delta: { streams: [deltaStream], wholes: [deltaBody(deltaMessage, 'tool_calls')] },
  cloudhost_ide_streaming: { streams: [assistantStream], wholes: [] },
};

const fullReply = (id: string): ReplySeeds => fullReplies[id] ?? fullReplies[id.split(',')[0]!] ?? { streams: [], wholes: [] };

/** Of each source in turn, so that neither many recordings nor many scenarios hide the one with everything in it. */
export function replySeeds(upstream: Upstream): { [form in keyof ReplySeeds]: ReplySeeds[form][] } {
  const sources = [fullReply(upstream.id), played(upstream), recorded(upstream)];
  return {
    streams: sources.map(({ streams }) => streams).filter((list) => list.length > 0),
    wholes: sources.map(({ wholes }) => wholes).filter((list) => list.length > 0),
  };
}
