/** One whole reply per upstream protocol, and what today's upstreams say beside it that must not vanish. */
import type { Path } from './bodies.ts';

// biome-ignore lint/suspicious/noExplicitAny: wire bodies are untyped here, as they are to a reader.
type Reply = any;

const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };

export const replies: Readonly<Record<string, Reply>> = {
  alpha: {
    id: 'c1',
    created: 1,
    model: 'x',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
  },
  alpha_response: {
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    status: 'completed',
    model: 'x',
    output: [
      {
        id: 'msg_1',
        type: 'message',
        status: 'completed',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'Hello', annotations: [], logprobs: [] }],
      },
    ],
    usage,
  },
  beta: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'x',
    content: [
      { type: 'text', text: 'Hello' },
      { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} },
    ],
    stop_reason: 'tool_use',
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: 5 },
  },
  gamma: {
    candidates: [{ content: { role: 'model', parts: [{ text: 'Hello' }] }, finishReason: 'STOP', index: 0 }],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
    modelVersion: 'x',
    responseId: 'r',
  },
};

const rated = [{ category: 'HARM_CATEGORY_HARASSMENT', probability: 'LOW' }];

/** Fields that matter to the caller: the reply must contain them, or a loss must name them. */
export const loudReplies: Readonly<Record<string, readonly (readonly [Path, unknown])[]>> = {
  alpha: [
    [['choices', 1], { index: 1, message: { role: 'assistant', content: 'Other' }, finish_reason: 'stop' }],
    [['choices', 0, 'logprobs'], { content: [{ token: 'Hello', logprob: -0.1, bytes: null, top_logprobs: [] }], refusal: null }],
    [['choices', 0, 'message', 'audio'], { id: 'a', data: 'AAAA', transcript: 't', expires_at: 5 }],
    [['choices', 0, 'message', 'content', 1], { type: 'image_url', image_url: { url: 'https://a.test/x.png' } }],
    [['choices', 0, 'message', 'refusal'], 'no'],
    [['choices', 0, 'content_filter_results'], { hate: { filtered: false, severity: 'low' } }],
    [['prompt_filter_results'], [{ prompt_index: 0, content_filter_results: { jailbreak: { filtered: false, detected: true } } }]],
    [['moderation'], { input: { results: [] } }],
    [['prompt_cache_diagnostics'], { type: 'cache_hit' }],
    [['service_tier'], 'flex'],
    [['service_tier'], 'priority'],
    [['service_tier'], 'of-another-kind'],
    [['search_results'], [{ title: 'T', url: 'https://a.test/', date: '2026-01-01' }]],
    [['citations'], ['https://a.test/']],
    [['usage', 'completion_tokens_details'], { audio_tokens: 3 }],
    [['usage', 'prompt_tokens_details'], { audio_tokens: 3 }],
    [['usage', 'completion_tokens_details'], { rejected_prediction_tokens: 3 }],
  ],
  alpha_response: [
    [['output', 0, 'phase'], 'commentary'],
    [['output', 0, 'content', 0, 'logprobs'], [{ token: 'Hello', logprob: -0.1, bytes: [72], top_logprobs: [] }]],
    [['output', 0, 'content', 0, 'annotations'], [{ type: 'file_citation', file_id: 'f', index: 0, filename: 'n' }]],
    [['output', 1], { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: 'AAAA' }],
    [['service_tier'], 'priority'],
    [['service_tier'], 'ultrafast'],
    [['moderation'], { input: { results: [] } }],
    [['prompt_cache_diagnostics'], { type: 'cache_hit' }],
    [['input_transformations'], [{ id: 'rs_1', type: 'reasoning', action: 'removed', reason: 'turn_boundary' }]],
    [['tool_usage'], { image_gen: { input_tokens: 0 }, web_search: { num_requests: 2 } }],
    [['usage', 'output_tokens_details'], { reasoning_tokens: 0, audio_tokens: 2 }],
  ],
  beta: [
    [['container'], { id: 'container_1', expires_at: '2026-01-01T00:00:00Z' }],
    [['context_management'], { applied_edits: [{ type: 'clear_tool_uses_20250919', cleared_tool_uses: 3, cleared_input_tokens: 5 }] }],
    [['input_transformations'], [{ type: 'thinking_dropped', path: 'messages.1.content.0', reason: 'model_binding_mismatch' }]],
    [['stop_details'], { type: 'refusal', category: 'cyber', explanation: 'Because.' }],
    [['usage', 'server_tool_use'], { web_search_requests: 2, web_fetch_requests: 0 }],
    [['content', 1, 'caller'], { type: 'code_execution_20250825', tool_id: 'srvtoolu_1' }],
    [['content', 1, 'toolset_name'], 'tools'],
    [['usage', 'service_tier'], 'priority'],
    [['usage', 'service_tier'], 'batch'],
    [['usage', 'speed'], 'fast'],
  ],
  gamma: [
    [['candidates', 1], { index: 1, content: { parts: [{ text: 'Other' }] }, finishReason: 'STOP' }],
    [['candidates', 0, 'finishMessage'], 'Because.'],
    [['candidates', 0, 'safetyRatings'], rated],
    [['promptFeedback'], { safetyRatings: rated }],
    [['candidates', 0, 'content', 'parts', 1], { inlineData: { mimeType: 'image/png', data: 'AA' } }],
    [['candidates', 0, 'continuationToken'], 'AAAA'],
    [['usageMetadata', 'serviceTier'], 'flex'],
    [['usageMetadata', 'trafficType'], 'ON_DEMAND_PRIORITY'],
    [['usageMetadata', 'trafficType'], 'PROVISIONED_THROUGHPUT'],
    [['usageMetadata', 'promptTokensDetails'], [{ modality: 'AUDIO', tokenCount: 3 }]],
  ],
};

/** The same reply with one field more, or another value there. */
export function withField(reply: unknown, path: Path, value: unknown): unknown {
  const copy = structuredClone(reply);
  // biome-ignore lint/suspicious/noExplicitAny: walks a wire body.
  let holder = copy as any;
  for (const step of path.slice(0, -1)) {
    // A text that shall hold parts.
    if (step === 'content' && typeof holder[step] === 'string') holder[step] = [{ type: 'text', text: holder[step] }];
    holder[step] ??= {};
    holder = holder[step];
  }
  holder[path.at(-1)!] = value;
  return copy;
}
