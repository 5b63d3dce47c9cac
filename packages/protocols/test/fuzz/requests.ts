/** Requests that use every optional field that the gateway reads, by client protocol: what the fuzz changes. */
import { askerOf, historyOfTwo, pdf, png } from '../board/asks.ts';

const words = 'Speak of rivers.';
const parameters = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  type: 'object',
  properties: {
    place: { type: ['string', 'null'], minLength: 1 },
    days: { type: 'integer', exclusiveMinimum: 0, enum: [1, 2] },
    rest: { $ref: '#/$defs/rest' },
  },
  required: ['place'],
  additionalProperties: false,
  $defs: { rest: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'number' } }] } },
};
const patch = '*** Begin Patch\n*** End Patch';

const chat = {
  model: 'm',
  messages: [
    { role: 'system', content: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral', ttl: '1h' } }] },
    { role: 'developer', content: 'In French.', name: 'dev' },
    {
      role: 'user',
      name: 'anna',
      content: [
        { type: 'text', text: words },
        { type: 'image_url', image_url: { url: `data:image/png;base64,${png}`, detail: 'high' } },
        { type: 'image_url', image_url: { url: 'https://pictures.test/seine.png' } },
        { type: 'file', file: { filename: 'river.pdf', file_data: `data:application/pdf;base64,${pdf}` } },
        { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
      ],
    },
    {
      role: 'assistant',
      content: [{ type: 'text', text: 'Look:' }],
      refusal: 'No.',
      reasoning_content: 'Rivers …',
      reasoning_details: [{ type: 'reasoning.encrypted', data: 'AAAA', format: 'anthropic-claude-v1', index: 0, id: 'r1', signature: 'BBBB' }],
      annotations: [{ type: 'url_citation', url_citation: { url: 'https://rivers.test', title: 'R', start_index: 0, end_index: 3 } }],
      tool_calls: [
        {
          id: 'call_1',
          type: 'function',
          function: { name: 'get_weather', arguments: '{"place":"Paris"}' },
          extra_content: { google: { thought_signature: 'CCCC' } },
        },
        { id: 'call_2', type: 'custom', custom: { name: 'apply_patch', input: patch } },
      ],
    },
    {
      role: 'tool',
      tool_call_id: 'call_1',
      name: 'get_weather',
      content: [
        { type: 'text', text: '21 °C' },
        { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
      ],
    },
    { role: 'tool', tool_call_id: 'call_2', content: 'done' },
    { role: 'user', content: 'Go on.' },
  ],
  tools: [
    { type: 'function', function: { name: 'get_weather', description: 'Weather', parameters, strict: true } },
    {
      type: 'custom',
      custom: { name: 'apply_patch', description: 'Patch', format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'start: "x"' } } },
    },
  ],
  tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'get_weather' } }] } },
  parallel_tool_calls: false,
  response_format: { type: 'json_schema', json_schema: { name: 'place', description: 'A place', strict: true, schema: parameters } },
  stream: true,
  stream_options: { include_usage: true, include_obfuscation: false },
  max_tokens: 100,
  max_completion_tokens: 200,
  temperature: 0.5,
  top_p: 0.9,
  top_k: 5,
  n: 1,
  stop: ['END', 'STOP'],
  seed: 7,
  presence_penalty: 0.1,
  frequency_penalty: 0.1,
  logit_bias: { 50256: -100 },
  logprobs: true,
  top_logprobs: 2,
  user: 'u',
  metadata: { a: 'b' },
  store: false,
  service_tier: 'auto',
  prompt_cache_key: 'k',
  reasoning_effort: 'high',
  reasoning: { effort: 'low', max_tokens: 2000, exclude: false, enabled: true },
  verbosity: 'low',
  thinking: { type: 'enabled', budget_tokens: 2048 },
  enable_thinking: true,
  web_search_options: { search_context_size: 'low' },
  prediction: { type: 'content', content: 'x' },
  modalities: ['text'],
  functions: [{ name: 'old', description: 'Old', parameters }],
  function_call: 'auto',
};

const responses = {
  model: 'm',
  instructions: 'Be brief.',
  input: [
    { type: 'message', role: 'developer', content: 'In French.' },
    {
      role: 'user',
      content: [
        { type: 'input_text', text: words },
        { type: 'input_image', image_url: `data:image/png;base64,${png}`, detail: 'high' },
        { type: 'input_file', filename: 'river.pdf', file_data: `data:application/pdf;base64,${pdf}` },
        { type: 'input_file', file_url: 'https://files.test/a.pdf' },
        { type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } },
      ],
    },
    {
      type: 'reasoning',
      id: 'rs_1',
      summary: [{ type: 'summary_text', text: 'Rivers' }],
      content: [{ type: 'reasoning_text', text: 'Raw' }],
      encrypted_content: 'AAAA',
    },
    {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      phase: 'commentary',
      content: [
        { type: 'output_text', text: 'Look:', annotations: [] },
        { type: 'refusal', refusal: 'No.' },
      ],
    },
    { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'get_weather', namespace: 'places', arguments: '{"place":"Paris"}', status: 'completed' },
    {
      type: 'function_call_output',
      call_id: 'call_1',
      output: [
        { type: 'input_text', text: '21 °C' },
        { type: 'input_image', image_url: `data:image/png;base64,${png}` },
      ],
    },
    { type: 'custom_tool_call', id: 'ctc_1', call_id: 'call_2', name: 'apply_patch', input: patch },
    { type: 'custom_tool_call_output', call_id: 'call_2', output: 'done' },
    {
      type: 'local_shell_call',
      id: 'ls_1',
      call_id: 'call_3',
      status: 'completed',
      action: { type: 'exec', command: ['ls'], env: {}, timeout_ms: 5, working_directory: '/' },
    },
    { type: 'local_shell_call_output', call_id: 'call_3', output: '{}' },
    { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'x' } },
    { type: 'compaction', id: 'cmp_1', encrypted_content: 'AAAA' },
    { role: 'user', content: 'Go on.' },
  ],
  tools: [
    { type: 'function', name: 'get_weather', description: 'Weather', parameters, strict: false },
    { type: 'custom', name: 'apply_patch', description: 'Patch', format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' } },
    { type: 'namespace', name: 'places', tools: [{ type: 'function', name: 'find', parameters }] },
    { type: 'local_shell' },
    { type: 'web_search', search_context_size: 'low', filters: { allowed_domains: ['rivers.test'] } },
  ],
  tool_choice: { type: 'function', name: 'get_weather' },
  parallel_tool_calls: true,
  text: { format: { type: 'json_schema', name: 'place', strict: true, schema: parameters }, verbosity: 'low' },
  reasoning: { effort: 'high', summary: 'auto' },
  include: ['reasoning.encrypted_content'],
  max_output_tokens: 100,
  temperature: 0.5,
  top_p: 0.9,
  top_logprobs: 1,
  truncation: 'auto',
  store: false,
  stream: true,
  stream_options: { include_obfuscation: true },
  user: 'u',
  metadata: { a: 'b' },
  service_tier: 'auto',
  prompt_cache_key: 'k',
  max_tool_calls: 3,
  background: false,
};

const mark = { cache_control: { type: 'ephemeral', ttl: '5m' } };
const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } };
const messages = {
  model: 'm',
  max_tokens: 20_000,
  system: [
    { type: 'text', text: 'Be brief.', ...mark },
    { type: 'text', text: 'x-anthropic-billing-header: a=b' },
  ],
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: words, ...mark },
        image,
        { type: 'image', source: { type: 'url', url: 'https://pictures.test/seine.png' } },
        {
          type: 'document',
          source: { type: 'base64', media_type: 'application/pdf', data: pdf },
          title: 'River',
          context: 'c',
          citations: { enabled: true },
          ...mark,
        },
        { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Seine' } },
        { type: 'search_result', source: 'https://rivers.test', title: 'R', content: [{ type: 'text', text: 'Seine' }] },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Rivers …', signature: 'AAAA' },
        { type: 'redacted_thinking', data: 'BBBB' },
        {
          type: 'text',
          text: 'Look:',
          citations: [{ type: 'web_search_result_location', url: 'https://rivers.test', title: 'R', encrypted_index: 'a', cited_text: 'S' }],
        },
        { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'x' } },
        {
          type: 'web_search_tool_result',
          tool_use_id: 'srvtoolu_1',
          content: [{ type: 'web_search_result', url: 'https://rivers.test', title: 'R', encrypted_content: 'e', page_age: 'x' }],
        },
        { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: { place: 'Paris' }, caller: { type: 'direct' }, ...mark },
        { type: 'tool_use', id: 'toolu_2', name: 'find', input: {} },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: '21 °C' }, image], is_error: false, ...mark },
        { type: 'tool_result', tool_use_id: 'toolu_2', content: 'none', is_error: true },
        { type: 'text', text: 'Go on.' },
      ],
    },
    { role: 'system', content: 'In French.' },
    { role: 'user', content: 'Now.' },
  ],
  tools: [
    { name: 'get_weather', description: 'Weather', input_schema: parameters, strict: true, ...mark },
    { type: 'custom', name: 'find', input_schema: parameters, defer_loading: true, input_examples: [{ place: 'Rome' }] },
    { type: 'web_search_20250305', name: 'web_search', max_uses: 2, allowed_domains: ['rivers.test'] },
    { type: 'bash_20250124', name: 'bash' },
  ],
  tool_choice: { type: 'tool', name: 'get_weather', disable_parallel_tool_use: true },
  thinking: { type: 'enabled', budget_tokens: 10_000, display: 'summarized' },
  output_config: { effort: 'high', format: { type: 'json_schema', schema: parameters } },
  stop_sequences: ['END'],
  temperature: 1,
  top_p: 0.99,
  top_k: 5,
  stream: true,
  metadata: { user_id: 'u' },
  service_tier: 'auto',
  betas: ['x-2025-01-01'],
  context_management: { edits: [] },
  mcp_servers: [{ type: 'url', url: 'https://mcp.test', name: 'm' }],
  container: 'c',
};

const contents = {
  systemInstruction: { role: 'system', parts: [{ text: 'Be brief.' }, { text: 'In French.' }] },
  contents: [
    {
      role: 'user',
      parts: [
        { text: words },
        { inlineData: { mimeType: 'image/png', data: png, displayName: 'x' }, mediaResolution: { level: 'MEDIA_RESOLUTION_LOW' } },
        { inline_data: { mime_type: 'application/pdf', data: pdf } },
        { fileData: { mimeType: 'image/png', fileUri: 'https://pictures.test/seine.png' }, videoMetadata: { fps: 1 } },
      ],
    },
    {
      role: 'model',
      parts: [
        { text: 'Rivers …', thought: true },
        { text: 'Look:', thoughtSignature: 'AAAA' },
        { functionCall: { id: 'c1', name: 'get_weather', args: { place: 'Paris' } }, thoughtSignature: 'BBBB' },
        { functionCall: { name: 'find', args: {} } },
        { executableCode: { language: 'PYTHON', code: '1' } },
        { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } },
      ],
    },
    {
      role: 'user',
      parts: [
        { functionResponse: { id: 'c1', name: 'get_weather', response: { output: '21 °C' }, parts: [{ inlineData: { mimeType: 'image/png', data: png } }] } },
        { functionResponse: { name: 'find', response: { error: 'none' }, willContinue: false, scheduling: 'SILENT' } },
        { text: 'Go on.' },
      ],
    },
  ],
  tools: [
    {
      functionDeclarations: [
        { name: 'get_weather', description: 'Weather', parameters: { type: 'OBJECT', properties: { place: { type: 'STRING', nullable: true } } } },
      ],
    },
    { function_declarations: [{ name: 'find', parametersJsonSchema: parameters, responseJsonSchema: parameters, behavior: 'BLOCKING' }] },
    { googleSearch: {} },
    { codeExecution: {} },
  ],
  toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['get_weather'] } },
  safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }],
  cachedContent: 'cachedContents/1',
  labels: { a: 'b' },
  generationConfig: {
    temperature: 0.5,
    topP: 0.9,
    topK: 5,
    maxOutputTokens: 100,
    stopSequences: ['END'],
    seed: 7,
    candidateCount: 1,
    presencePenalty: 0.1,
    frequencyPenalty: 0.1,
    responseLogprobs: true,
    logprobs: 2,
    responseMimeType: 'application/json',
    responseSchema: { type: 'OBJECT', properties: { place: { type: 'STRING' } }, propertyOrdering: ['place'] },
    responseJsonSchema: parameters,
    responseModalities: ['TEXT'],
    thinkingConfig: { includeThoughts: true, thinkingBudget: 1024, thinkingLevel: 'high' },
    mediaResolution: 'MEDIA_RESOLUTION_LOW',
  },
};

const full: Readonly<Record<string, object>> = { alpha: chat, alpha_response: responses, beta: messages, gamma: contents };

/** Bodies of this client protocol, the first with everything in it; the others each with one thing, so that it is not refused for another's sake. */
export function requestSeeds(client: string): object[] {
  const asks = askerOf(client);
  const whole = full[client];
  if (!whole) throw new Error(`no full body is written for callers of ${client}`);
  return [whole, asks.text(), asks.tools(historyOfTwo), asks.image(), asks.document(), asks.thinking(), asks.structured()];
}
