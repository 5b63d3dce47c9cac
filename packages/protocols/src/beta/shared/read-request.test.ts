/** What a caller's body means, and which bodies are refused with which words. */
import { describe, expect, test } from '@jest/globals';
import { type GatewayError, isGatewayError } from '@model-gateway/contracts/errors';
import { readContext, recorded } from '../../../test/support/beta.ts';
import { readRequest } from './read-request.ts';

const read = (fields: Record<string, unknown>) =>
  readRequest({ model: 'm', max_tokens: 100, messages: [{ role: 'user', content: 'hi' }], ...fields }, readContext);

function refusal(body: unknown): GatewayError {
  try {
    readRequest(body, readContext);
  } catch (error) {
    if (isGatewayError(error)) return error;
    throw error;
  }
  throw new Error('was not refused');
}
const refusalOf = (fields: Record<string, unknown>) => refusal({ model: 'm', max_tokens: 100, messages: [{ role: 'user', content: 'hi' }], ...fields });

describe('content', () => {
  test('text, images, documents', () => {
    const content = [
      { type: 'text', text: 'look', cache_control: { type: 'ephemeral', ttl: '1h' } },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
      { type: 'image', source: { type: 'url', url: 'https://x.test/a.png' } },
      { type: 'document', title: 'T', context: 'C', source: { type: 'base64', media_type: 'application/pdf', data: 'BBBB' } },
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'plain' } },
      {
        type: 'document',
        source: {
          type: 'content',
          content: [
            { type: 'text', text: 'a' },
            { type: 'text', text: 'b' },
          ],
        },
      },
      { type: 'document', source: { type: 'file', file_id: 'file_1' } },
    ];
    expect(read({ messages: [{ role: 'user', content }] }).conversation.turns[0]?.parts).toEqual([
      { type: 'text', text: 'look', cache: { ttl: '1h' } },
      { type: 'media', kind: 'image', mimeType: 'image/png', data: 'AAAA' },
      { type: 'media', kind: 'image', url: 'https://x.test/a.png' },
      { type: 'media', kind: 'document', mimeType: 'application/pdf', data: 'BBBB', title: 'T', context: 'C' },
      { type: 'media', kind: 'document', mimeType: 'text/plain', text: 'plain' },
      { type: 'media', kind: 'document', mimeType: 'text/plain', text: 'a\nb' },
      { type: 'media', kind: 'document', fileId: 'file_1' },
    ]);
  });

  test('a tool loop with thinking', () => {
    const { conversation } = read({
      messages: [
        { role: 'user', content: 'weather?' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hm', signature: 'sealed' },
            { type: 'redacted_thinking', data: 'sealed2' },
            { type: 'thinking', thinking: 'unsigned', signature: '' },
            { type: 'tool_use', id: 'toolu_1', name: 'f', input: { a: [1] }, caller: { type: 'direct' } },
            { type: 'tool_use', id: 'toolu_2', name: 'g', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'toolu_1', content: 'sunny' },
            { type: 'tool_result', tool_use_id: 'toolu_2', is_error: true, content: [{ type: 'image', source: { type: 'url', url: 'https://x.test/i' } }] },
            { type: 'text', text: 'and?' },
          ],
        },
      ],
    });
    expect(conversation.turns.slice(1)).toEqual([
      {
        role: 'assistant',
        parts: [
          { type: 'thinking', text: 'hm', signature: 'sealed' },
          { type: 'thinking', text: '', redacted: true, signature: 'sealed2' },
          { type: 'thinking', text: 'unsigned' },
          { type: 'tool-call', id: 'toolu_1', name: 'f', arguments: '{"a":[1]}' },
          { type: 'tool-call', id: 'toolu_2', name: 'g', arguments: '{}' },
        ],
      },
      {
        role: 'user',
        parts: [
          { type: 'tool-result', callId: 'toolu_1', content: [{ type: 'text', text: 'sunny' }] },
          { type: 'tool-result', callId: 'toolu_2', isError: true, content: [{ type: 'media', kind: 'image', url: 'https://x.test/i' }] },
          { type: 'text', text: 'and?' },
        ],
      },
    ]);
  });

  test('system: string, blocks, and inside messages (leading or between turns)', () => {
    expect(read({ system: 'be brief' }).conversation.system).toEqual([{ text: 'be brief' }]);
    const { conversation } = read({
      system: [{ type: 'text', text: 'a', cache_control: { type: 'ephemeral' } }],
      messages: [
        { role: 'system', content: 'b' },
        { role: 'user', content: 'hi' },
        { role: 'system', content: [{ type: 'text', text: 'c' }] },
      ],
    });
    expect(conversation.system).toEqual([{ text: 'a', cache: {} }, { text: 'b' }]);
    expect(conversation.turns[1]).toEqual({ role: 'system', parts: [{ type: 'text', text: 'c' }] });
  });

  test('a message thread that goes on is refused where its turns are not known; one that begins loses no turn', () => {
    expect(() => read({ thread: { type: 'continue', previous_message_id: 'msg_1' } })).toThrow(
      expect.objectContaining({ status: 400, param: 'thread', message: expect.stringContaining('Send the whole conversation') }),
    );
    expect(read({ thread: { type: 'create' } }).losses).toMatchObject([{ field: 'thread', action: 'dropped' }]);
    expect(read({ thread: null }).losses).toEqual([]);
  });

  test('blocks and fields of the vendor alone are declared, never refused, and strange names are not repeated', () => {
    const { conversation, losses } = read({
      context_management: { edits: [] },
      'my secret': 1,
      messages: [
        {
          role: 'assistant',
          content: [
            { type: 'container_upload', id: 'srvtoolu_1', name: 'web_search', input: {} },
            { type: 'text', text: 'x', new_field: 1 },
          ],
        },
      ],
    });
    expect(conversation.turns[0]?.parts).toEqual([{ type: 'text', text: 'x' }]);
    expect(losses.map(({ field }) => field)).toEqual(['context_management', '(unnamed)', 'messages.0.content.0']);
  });

  test('a search result is kept, beside text that names its source; one with a blank part is that text alone', () => {
    const block = { type: 'search_result', source: 'https://s.test', title: 'T', content: [{ type: 'text', text: 'fact' }] };
    const { conversation, losses } = read({ messages: [{ role: 'user', content: [block, { ...block, title: ' ' }] }] });
    expect(conversation.turns[0]?.parts).toEqual([
      { type: 'text', text: 'T\nhttps://s.test\nfact', searchResult: { source: 'https://s.test', title: 'T', content: ['fact'], cite: false } },
      { type: 'text', text: ' \nhttps://s.test\nfact' },
    ]);
    expect(losses).toMatchObject([{ field: 'messages.0.content.1', action: 'downgraded' }]);
  });

  test('a cache mark at the top level is put on the last block', () => {
    expect(read({ cache_control: { type: 'ephemeral' } }).conversation.turns[0]?.parts[0]).toEqual({ type: 'text', text: 'hi', cache: {} });
  });
});

describe('parameters', () => {
  test('sampling, tools, choice, reasoning, output, identity', () => {
    const server = { type: 'web_search_20250305', name: 'web_search', max_uses: 3 };
    const { conversation } = read({
      temperature: 0.5,
      top_p: 0.9,
      top_k: 5,
      stop_sequences: ['X'],
      stream: true,
      tools: [{ name: 'f', description: 'd', input_schema: { type: 'object' }, strict: true, cache_control: { type: 'ephemeral' } }, server],
      tool_choice: { type: 'tool', name: 'f', disable_parallel_tool_use: true },
      thinking: { type: 'enabled', budget_tokens: 2048 },
      output_config: { effort: 'high', format: { type: 'json_schema', schema: { type: 'object' } } },
      metadata: { user_id: 'u1', other: 'x' },
      service_tier: 'auto',
    });
    expect(conversation).toMatchObject({
      sampling: { maxTokens: 100, temperature: 0.5, topP: 0.9, topK: 5, stop: ['X'] },
      stream: true,
      toolChoice: { type: 'tool', name: 'f' },
      parallelToolCalls: false,
      reasoning: { enabled: true, budget: 2048, effort: 'high' },
      output: { type: 'schema', schema: { type: 'object' } },
      user: 'u1',
      metadata: { other: 'x' },
      serviceTier: 'auto',
    });
    expect(conversation.tools).toEqual([
      { type: 'function', name: 'f', description: 'd', parameters: { type: 'object' }, strict: true, cache: {} },
      { type: 'server', name: 'web_search', raw: server, rawProtocol: 'beta' },
    ]);
  });

  test('how eagerly the arguments of a tool are streamed is no loss; examples of them are', () => {
    const tool = { name: 'f', input_schema: { type: 'object' }, eager_input_streaming: true };
    expect(read({ stream: true, tools: [tool] }).losses).toEqual([]);
    expect(read({ tools: [{ ...tool, input_examples: [{}] }] }).losses.map(({ field }) => field)).toEqual(['tools.input_examples']);
  });

  test('a kind of thinking that nobody knows is refused by name', () => {
    expect(() => read({ thinking: { type: 'sometimes' } })).toThrow('thinking.type: must be one of enabled, adaptive, between_tools, disabled');
  });

  test('how thinking is shown or bound, and what becomes of an image that is too large, are declared where only the vendor knows', () => {
    const lost = (thinking: object) => read({ thinking: { type: 'adaptive', ...thinking } }).losses.map(({ field }) => field);
    expect(lost({ display: 'updates' })).toEqual(['thinking.display']);
    expect(lost({ block_binding: { prefix_mismatch_behavior: 'drop_block' } })).toEqual(['thinking.block_binding']);
    expect(['summarized', 'omitted', null].flatMap((display) => lost({ display }))).toEqual([]);
    const image = (oversized_image: string) => {
      const source = { type: 'base64', media_type: 'image/png', data: 'AAAA' };
      const content = [{ type: 'image', source, transformations: { oversized_image } }];
      return read({ messages: [{ role: 'user', content }] }).losses.map(({ field }) => field);
    };
    expect(image('error')).toEqual(['content.transformations']);
    expect(image('downsize')).toEqual([]);
  });

  test('adaptive and disabled thinking; the older field for a schema', () => {
    expect(read({ thinking: { type: 'adaptive', display: 'summarized' } }).conversation.reasoning).toEqual({ enabled: true, adaptive: true, summary: 'auto' });
    expect(read({ thinking: { type: 'disabled' } }).conversation.reasoning).toEqual({ enabled: false });
    expect(read({ output_format: { type: 'json_schema', schema: {} } }).conversation.output).toEqual({ type: 'schema', schema: {} });
  });

  test('a session is what an upstream may route by; the billing line is not part of the prompt', () => {
    const session = '0f9c1f5e-0000-4000-8000-00000000abcd';
    expect(read({ metadata: { user_id: `user_1_account_2_session_${session}` } }).conversation.promptCacheKey).toBe(session);
    const body = { model: 'm', max_tokens: 1, messages: [{ role: 'user', content: 'hi' }] };
    expect(readRequest(body, { ...readContext, headers: { 'x-claude-code-session-id': 's-1' } }).conversation.promptCacheKey).toBe('s-1');
    const { conversation, losses } = read({
      system: [
        { type: 'text', text: 'x-anthropic-billing-header: cch=1;' },
        { type: 'text', text: 'You are.' },
      ],
    });
    expect(conversation.system).toEqual([{ text: 'You are.' }]);
    expect(losses.map(({ field }) => field)).toEqual(['system.billing']);
  });

  test('null means absent, everywhere', () => {
    const fields = [
      'system',
      'tools',
      'tool_choice',
      'temperature',
      'top_p',
      'top_k',
      'stop_sequences',
      'metadata',
      'thinking',
      'output_config',
      'cache_control',
    ];
    expect(read(Object.fromEntries(fields.map((field) => [field, null])))).toEqual(read({}));
  });
});

describe('refusals', () => {
  test.each([
    [{ messages: undefined }, 'messages'],
    [{ messages: [] }, 'messages'],
    [{ messages: ['x'] }, 'messages.0'],
    [{ messages: [{ role: 'tool', content: 'x' }] }, 'messages.0.role'],
    [{ messages: [{ role: 'user', content: 5 }] }, 'messages.0.content'],
    [{ messages: [{ role: 'user', content: [{ type: 'text' }] }] }, 'messages.0.content.0.text'],
    [{ messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'ftp' } }] }] }, 'messages.0.content.0.source.type'],
    [{ messages: [{ role: 'user', content: [{ type: 'tool_use', id: 'a', name: 'b' }] }] }, 'messages.0.content.0'],
    [{ max_tokens: undefined }, 'max_tokens'],
    [{ max_tokens: -1 }, 'max_tokens'],
    [{ max_tokens: '5' }, 'max_tokens'],
    [{ temperature: 'hot' }, 'temperature'],
    [{ stop_sequences: 'X' }, 'stop_sequences'],
    [{ tools: {} }, 'tools'],
    [{ tools: [{}] }, 'tools.0.name'],
    [{ tool_choice: { type: 'tool' } }, 'tool_choice.name'],
    [{ tool_choice: 'auto' }, 'tool_choice.type'],
    [{ thinking: { type: 'enabled' } }, 'thinking.budget_tokens'],
    [{ system: 5 }, 'system'],
    [{ output_format: { type: 'xml' } }, 'output_config.format.type'],
  ])('%j names %s', (fields, param) => {
    const error = refusalOf(fields);
    expect(error).toMatchObject({ code: 'invalid_request', status: 400, param });
    expect(error.message).toContain(param);
  });

  test('a body that is no object', () => {
    for (const body of [null, [], 'x', 5]) expect(refusal(body)).toMatchObject({ status: 400 });
  });

  test('two calls of one id: the fixed message, the places in the cause alone', () => {
    const call = { role: 'assistant', content: [{ type: 'tool_use', id: 'same', name: 'f', input: {} }] };
    const error = refusalOf({ messages: [{ role: 'user', content: 'x' }, call, { role: 'user', content: 'y' }, call] });
    expect(error).toMatchObject({ status: 400, code: 'invalid_request', message: 'tool_use ids must be unique' });
    expect(String(error.cause)).toContain('messages.1.content.0');
  });

  test('a thread is refused as the vendor refuses one it cannot keep', () => {
    const thread = { type: 'continue', previous_message_id: 'msg_1' };
    // On these details the vendor's SDKs send the whole conversation.
    expect(refusal({ model: 'm', max_tokens: 9, thread, messages: [{ role: 'user', content: 'hi' }] })).toMatchObject({
      status: 400,
      code: 'invalid_request',
      param: 'thread',
      details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] },
    });
  });

  test('a conversation is not compacted by answering it', () => {
    const refused = refusal({ model: 'm', max_tokens: 9, compaction: { type: 'summarize' }, messages: [{ role: 'user', content: 'hi' }] });
    expect(refused).toMatchObject({ status: 400, param: 'compaction', message: expect.stringContaining('Ask for a summary') });
  });

  test('counting needs no max_tokens', () => {
    const body = { model: 'm', messages: [{ role: 'user', content: 'hi' }] };
    expect(readRequest(body, { ...readContext, operation: 'count-tokens' }).conversation.sampling).toEqual({});
  });
});

describe('recorded requests', () => {
  for (const { name, text } of recorded('request.json')) {
    test(`${name} is read, and its body stays as it was`, () => {
      const body = JSON.parse(text) as { messages: unknown[]; max_tokens?: number };
      const { conversation } = readRequest(body, { ...readContext, operation: body.max_tokens === undefined ? 'count-tokens' : 'generate' });
      expect(conversation.turns.length).toBe(body.messages.length);
      expect(body).toEqual(JSON.parse(text));
    });
  }
});
