/** What a caller may send, what an upstream gets, and what is declared as lost between the two. */
import { describe, expect, test } from '@jest/globals';
import { isGatewayError } from '@model-gateway/contracts/errors';
import type { Conversation, Part } from '../chat/conversation.ts';
import type { WriteRequestContext } from '../contract/index.ts';
import type { JsonObject } from '../kit/read.ts';
import type { SignatureRefusal } from '../kit/signature-refusal.ts';
import { readRequest } from './client/read-request.ts';
import { writeRequest } from './upstream/write-request.ts';

const user = { role: 'user', content: 'hi' };
const read = (body: unknown) => readRequest(body, { path: '/v1/chat/completions', operation: 'generate', streamForm: 'sse', headers: {} });
const talk = (body: object): Conversation => read({ model: 'm', messages: [user], ...body }).conversation;

function writer(model = 'some-model', open: (sealed: string) => string | null = () => null): WriteRequestContext {
  let next = 0;
  const target = { baseUrl: 'https://h', directPath: false, upstreamModelId: model, neutralHeaders: false, extraConfig: null };
  return { target, operation: 'generate', stream: false, openSignature: open, mintId: (prefix) => `${prefix}${++next}` };
}
const plain: Conversation = { system: [], turns: [{ role: 'user', parts: [{ type: 'text', text: 'hi' }] }], tools: [], sampling: {}, stream: false };
interface WrittenMessage {
  role: string;
  content: unknown;
  tool_call_id?: string;
  tool_calls?: { id: string; function: { arguments: string } }[];
  [field: string]: unknown;
}
function write(conversation: Partial<Conversation>, context = writer()) {
  const { body, losses } = writeRequest({ ...plain, ...conversation }, context);
  const object = body as JsonObject;
  return { body: object, messages: object['messages'] as WrittenMessage[], losses: losses.map((loss) => loss.field) };
}

describe('wrong shapes name the field', () => {
  test.each([
    ['nothing', null, 'body'],
    ['no messages', {}, 'messages'],
    ['empty messages', { messages: [] }, 'messages'],
    ['unknown role', { messages: [{ role: 'wizard' }] }, 'messages[0].role'],
    ['inherited role', { messages: [{ role: 'constructor' }] }, 'messages[0].role'],
    ['content number', { messages: [{ role: 'user', content: 5 }] }, 'messages[0].content'],
    ['part type', { messages: [{ role: 'user', content: [{ type: 'smell' }] }] }, 'messages[0].content[0].type'],
    ['image without url', { messages: [{ role: 'user', content: [{ type: 'image_url' }] }] }, 'messages[0].content[0].image_url.url'],
    ['call without name', { messages: [{ role: 'assistant', tool_calls: [{ id: 'x' }] }] }, 'messages[0].tool_calls[0].function.name'],
    ['temperature', { messages: [user], temperature: 'hot' }, 'temperature'],
    ['a negative limit', { messages: [user], max_tokens: -1 }, 'max_tokens'],
    ['stop', { messages: [user], stop: [1] }, 'stop'],
    ['n', { messages: [user], n: 0 }, 'n'],
    ['tools', { messages: [user], tools: {} }, 'tools'],
    ['tool without name', { messages: [user], tools: [{ type: 'function', function: {} }] }, 'tools[0].function.name'],
    ['tool_choice', { messages: [user], tool_choice: 'perhaps' }, 'tool_choice'],
    ['response_format', { messages: [user], response_format: { type: 'xml' } }, 'response_format.type'],
    ['effort', { messages: [user], reasoning_effort: 'a lot' }, 'reasoning_effort'],
  ])('%s', (_name, body, param) => {
    let thrown: unknown;
    try {
      read(body);
    } catch (error) {
      thrown = error;
    }
    expect(isGatewayError(thrown) && [thrown.code, thrown.status, thrown.param]).toEqual(['invalid_request', 400, param]);
  });

  test('unknown fields never fail, and are declared', () => {
    const { losses } = read({ model: 'm', messages: [{ ...user, odd: 1 }], prediction: {}, store: false, modalities: ['text'], 'a b': 1, nothing: null });
    expect(losses.map((loss) => loss.field)).toEqual(['prediction', '(unnamed)']);
  });
});

describe('reading', () => {
  test('leading system and developer text, and system text between turns', () => {
    const { system, turns } = talk({
      messages: [{ role: 'developer', content: 'a' }, { role: 'system', content: [{ type: 'text', text: 'b' }] }, user, { role: 'system', content: 'c' }],
    });
    expect(system).toEqual([{ text: 'a' }, { text: 'b' }]);
    expect(turns.map((turn) => turn.role)).toEqual(['user', 'system']);
  });

  test('media of every kind', () => {
    const content = [
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } },
      { type: 'image_url', image_url: { url: 'https://x/y.png' } },
      { type: 'input_audio', input_audio: { data: 'BBBB', format: 'mp3' } },
      { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,CCCC' } },
      { type: 'file', file: { file_id: 'file-1' } },
      { type: 'video_url', video_url: { url: 'https://x/y.mp4' } },
    ];
    const parts = talk({ messages: [{ role: 'user', content }] }).turns[0]?.parts;
    expect(parts).toEqual([
      { type: 'media', kind: 'image', mimeType: 'image/png', data: 'AAAA', detail: 'low' },
      { type: 'media', kind: 'image', url: 'https://x/y.png' },
      { type: 'media', kind: 'audio', mimeType: 'audio/mpeg', data: 'BBBB' },
      { type: 'media', kind: 'document', filename: 'a.pdf', mimeType: 'application/pdf', data: 'CCCC' },
      { type: 'media', kind: 'document', fileId: 'file-1' },
      { type: 'media', kind: 'video', url: 'https://x/y.mp4' },
    ]);
    expect(write({ turns: [{ role: 'user', parts: parts as Part[] }] }).messages[0]?.content).toEqual(content);
  });

  test('results of one step are one turn', () => {
    const { turns } = talk({
      messages: [
        user,
        { role: 'assistant', content: null, tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '' } }] },
        { role: 'tool', tool_call_id: 'a', content: '1' },
        { role: 'tool', tool_call_id: 'b', content: [] },
        user,
      ],
    });
    expect(turns.map((turn) => turn.parts.map((part) => part.type))).toEqual([['text'], ['tool-call'], ['tool-result', 'tool-result'], ['text']]);
  });

  test('the older functions', () => {
    const result = read({
      model: 'm',
      functions: [{ name: 'f', parameters: {} }],
      function_call: { name: 'f' },
      messages: [user, { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } }, { role: 'function', name: 'f', content: '1' }],
    });
    expect(result.conversation).toMatchObject({ tools: [{ type: 'function', name: 'f' }], toolChoice: { type: 'tool', name: 'f' }, parallelToolCalls: false });
    expect(result.echo).toEqual({ includeUsage: false, legacyFunctions: true });
    const { messages } = write(result.conversation);
    expect(messages[2]?.tool_call_id).toBe(messages[1]?.tool_calls?.[0]?.id);
  });

  test('the Responses shape, as some clients send it here', () => {
    const { conversation } = read({
      input: [
        { role: 'user', content: [{ type: 'input_text', text: 'q' }] },
        { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c', output: 'r' },
      ],
      instructions: 'sys',
      tools: [{ type: 'function', name: 'f', parameters: {} }],
      max_output_tokens: 9,
      text: { format: { type: 'json_schema', name: 's', schema: {} } },
    });
    expect(conversation).toMatchObject({
      system: [{ text: 'sys' }],
      tools: [{ name: 'f' }],
      sampling: { maxTokens: 9 },
      output: { type: 'schema', name: 's' },
    });
    expect(conversation.turns.map((turn) => turn.parts[0]?.type)).toEqual(['text', 'tool-call', 'tool-result']);
  });

  test.each([
    ['auto', { type: 'auto' }],
    ['none', { type: 'none' }],
    ['required', { type: 'any' }],
    [
      { type: 'function', function: { name: 'f' } },
      { type: 'tool', name: 'f' },
    ],
    [
      { type: 'custom', custom: { name: 'f' } },
      { type: 'tool', name: 'f' },
    ],
    [
      { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'f' } }] } },
      { type: 'any', allowed: ['f'] },
    ],
  ])('tool_choice %j', (given, expected) => expect(talk({ tool_choice: given }).toolChoice).toEqual(expected));

  test.each([
    [{ reasoning_effort: 'low' }, { effort: 'low' }],
    [{ reasoning_effort: 'none' }, { effort: 'none', enabled: false }],
    [{ reasoning: { max_tokens: 100, exclude: true } }, { budget: 100, summary: 'none' }],
    [{ thinking: { type: 'disabled' } }, { enabled: false }],
    [{ thinking: { type: 'enabled', budget_tokens: 5 } }, { enabled: true, budget: 5 }],
    [
      { enable_thinking: true, thinking_budget: 7 },
      { enabled: true, budget: 7 },
    ],
    [{ reasoning: null }, undefined],
  ])('reasoning %j', (given, expected) => expect(talk(given).reasoning).toEqual(expected));

  test('reasoning in the history keeps its signatures', () => {
    const assistant = {
      role: 'assistant',
      content: 'x',
      reasoning_content: 'abcd',
      reasoning_details: [
        { type: 'reasoning.text', text: '', signature: 'S1', span: [0, 2] },
        { type: 'reasoning.text', text: '', signature: 'S2', span: [2, 3] },
      ],
    };
    expect(talk({ messages: [user, assistant] }).turns[1]?.parts.slice(0, 3)).toEqual([
      { type: 'thinking', text: 'ab', signature: 'S1' },
      { type: 'thinking', text: 'c', signature: 'S2' },
      { type: 'thinking', text: 'd' },
    ]);
    const lying = { ...assistant, reasoning_details: [{ type: 'reasoning.text', text: '', signature: 'S', span: [0, 999] }] };
    expect(talk({ messages: [user, lying] }).turns[1]?.parts[0]).toEqual({ type: 'thinking', text: 'abcd', signature: 'S' });
    const collected = {
      ...assistant,
      reasoning_details: [
        { type: 'reasoning.text', text: 'ab', index: 0 },
        { type: 'reasoning.text', text: 'cd', index: 0 },
        { type: 'reasoning.text', signature: 'S', index: 0 },
      ],
    };
    expect(talk({ messages: [user, collected] }).turns[1]?.parts[0]).toEqual({ type: 'thinking', text: 'abcd', signature: 'S' });
  });

  test('no key of the caller reaches a prototype', () => {
    const { conversation } = read(
      JSON.parse('{"messages":[{"role":"user","content":"x"}],"logit_bias":{"__proto__":5,"1":2},"metadata":{"__proto__":{"a":1}}}'),
    );
    expect((conversation.sampling.logitBias as JsonObject)['1']).toBe(2);
    expect(({} as JsonObject)['a']).toBeUndefined();
  });
});

describe('writing', () => {
  test.each([
    ['gpt-4o', 'max_tokens'],
    ['o3-mini', 'max_completion_tokens'],
    ['openai/gpt-5-nano', 'max_completion_tokens'],
    ['o4-mini', 'max_completion_tokens'],
    ['olmo-2', 'max_tokens'],
  ])('the token limit of %s is %s', (model, field) => expect(write({ sampling: { maxTokens: 5 } }, writer(model)).body[field]).toBe(5));

  test('reasoning models get no sampling that they refuse', () => {
    const { body, losses } = write({ sampling: { temperature: 0.2, topP: 1, presencePenalty: 0 } }, writer('gpt-5'));
    expect(body).toMatchObject({ top_p: 1, presence_penalty: 0 });
    expect(body).not.toHaveProperty('temperature');
    expect(losses).toContain('temperature');
  });

  test.each([
    ['gpt-5', { enabled: true, effort: 'max' }, { reasoning_effort: 'high' }],
    ['gpt-5.2', { effort: 'max' }, { reasoning_effort: 'xhigh' }],
    ['gpt-5.6-terra', { effort: 'max' }, { reasoning_effort: 'max' }],
    ['gpt-6.1-sol', { effort: 'xhigh' }, { reasoning_effort: 'xhigh' }],
    ['gpt-6-astra', { enabled: false }, { reasoning_effort: 'low' }],
    ['o3', { enabled: false }, { reasoning_effort: 'low' }],
    ['gpt-5', { enabled: false }, { reasoning_effort: 'minimal' }],
    ['gpt-4o', { effort: 'low' }, {}],
    ['any', { budget: 4000 }, { reasoning_effort: 'medium' }],
    ['glm-4.7', { effort: 'high' }, { thinking: { type: 'enabled' } }],
    ['qwen3-max', { effort: 'low' }, { enable_thinking: true, thinking_budget: 2048 }],
    ['anthropic/claude-haiku-4.5', { budget: 1024 }, { reasoning: { max_tokens: 1024 } }],
  ] as const)('reasoning of %s from %j', (model, reasoning, expected) => {
    const { body } = write({ reasoning }, writer(model));
    const { model: _model, messages: _messages, ...rest } = body;
    expect(rest).toEqual(expected);
  });

  test('usage is asked for on streams, where the vendor takes the question', () => {
    expect(write({}, { ...writer(), stream: true }).body).toMatchObject({ stream: true, stream_options: { include_usage: true } });
    expect(write({}, { ...writer('mistral-small'), stream: true }).body).not.toHaveProperty('stream_options');
  });

  test('results go first and one by one; their media and errors are described', () => {
    const image: Part = { type: 'media', kind: 'image', mimeType: 'image/png', data: 'AA' };
    const { messages, losses } = write({
      turns: [
        {
          role: 'assistant',
          parts: [
            { type: 'tool-call', id: 'a', name: 'f', arguments: '' },
            { type: 'tool-call', id: 'b', name: 'g', arguments: '{"x":1}' },
          ],
        },
        {
          role: 'user',
          parts: [
            { type: 'text', text: 'and?' },
            { type: 'tool-result', callId: 'a', content: [image] },
            { type: 'tool-result', callId: 'b', content: [{ type: 'text', text: 'no' }], isError: true },
          ],
        },
      ],
    });
    expect(messages.map((message) => [message.role, message.tool_call_id])).toEqual([
      ['assistant', undefined],
      ['tool', 'a'],
      ['tool', 'b'],
      ['user', undefined],
    ]);
    expect(messages[0]?.tool_calls?.map((call) => call.function.arguments)).toEqual(['{}', '{"x":1}']);
    expect(messages[2]?.content).toBe('Error: no');
    expect(messages[3]?.content).toMatchObject([{ type: 'text' }, { type: 'image_url' }, { type: 'text', text: 'and?' }]);
    expect(losses).toEqual(expect.arrayContaining(['tool_result.media', 'tool_result.is_error']));
  });

  test('ids: long ones are replaced alike on both sides, missing ones are minted and paired by name and order', () => {
    const long = `toolu_${'x'.repeat(80)}`;
    const call = (id: string, name: string): Part => ({ type: 'tool-call', id, name, arguments: '{}' });
    const result = (callId: string, name?: string): Part => ({ type: 'tool-result', callId, content: [], ...(name !== undefined && { name }) });
    const { messages } = write({
      turns: [
        { role: 'assistant', parts: [call(long, 'f'), call('', 'g'), call('', 'h')] },
        { role: 'user', parts: [result(long), result('', 'h'), result('')] },
      ],
    });
    const ids = messages[0]?.tool_calls?.map((one) => one.id) ?? [];
    expect(ids[0]).toMatch(/^call_[0-9a-f]{32}$/);
    expect(new Set(ids).size).toBe(3);
    expect(messages.slice(1).map((message) => message.tool_call_id)).toEqual([ids[0], ids[2], ids[1]]);
  });

  test('earlier reasoning goes back only where it must, and its signature only when it opens', () => {
    const turns: Conversation['turns'] = [
      {
        role: 'assistant',
        parts: [
          { type: 'thinking', text: 'hm', signature: 'sealed' },
          { type: 'tool-call', id: 'a', name: 'f', arguments: '{}' },
        ],
      },
    ];
    expect(write({ turns }, writer('deepseek-chat')).messages[0]).toMatchObject({ reasoning_content: 'hm' });
    const elsewhere = write({ turns });
    expect(elsewhere.messages[0]).not.toHaveProperty('reasoning_content');
    expect(elsewhere.losses).toEqual(['reasoning.signature', 'messages.reasoning']);
    const opened = write(
      { turns },
      writer('anthropic/claude-haiku-4.5', () => JSON.stringify({ type: 'reasoning.text', signature: 'S', format: 'v1' })),
    );
    expect(opened.messages[0]?.['reasoning_details']).toEqual([{ type: 'reasoning.text', signature: 'S', format: 'v1', text: 'hm', index: 0 }]);
    expect(opened.losses).toEqual([]);
  });

  test('reasoning is put between tags before the text for models that want it back there', () => {
    const said = (...parts: Part[]) => write({ turns: [{ role: 'assistant', parts }] }, writer('vendor/MiniMax-M2'));
    const thought: Part = { type: 'thinking', text: 'hm' };
    expect(said(thought, { type: 'text', text: 'Hi' })).toMatchObject({ messages: [{ content: '<think>\nhm\n</think>\n\nHi' }], losses: [] });
    const call: Part = { type: 'tool-call', id: 'c', name: 'f', arguments: '{}' };
    expect(said(thought, call).messages[0]).toMatchObject({ content: '<think>\nhm\n</think>\n\n', tool_calls: [{ id: 'c' }] });
    expect(said(call).messages[0]).toMatchObject({ content: null });
  });

  test('the first call of a step gets the placeholder where a signature is demanded', () => {
    const turns: Conversation['turns'] = [{ role: 'assistant', parts: ['a', 'b'].map((id): Part => ({ type: 'tool-call', id, name: 'f', arguments: '{}' })) }];
    const calls = write({ turns }, writer('gemini-3-pro')).messages[0]?.tool_calls as unknown as JsonObject[];
    expect(calls.map((call) => call['extra_content'])).toEqual([{ google: { thought_signature: 'skip_thought_signature_validator' } }, undefined]);
  });

  test('and nobody else, though the caller sends it', () => {
    const dummy = 'skip_thought_signature_validator';
    const parts: Part[] = [
      { type: 'text', text: 'x', signature: dummy },
      { type: 'tool-call', id: 'a', name: 'f', arguments: '{}', signature: dummy },
    ];
    for (const model of ['gpt-5.2', 'mistral-large-latest', 'deepseek-v3.2', 'gemini-2.5-pro', 'some-model'])
      expect(JSON.stringify(write({ turns: [{ role: 'assistant', parts }] }, writer(model)).body)).not.toContain('extra_content');
  });

  describe('calls that another model made, for models that demand the reasoning that led to them', () => {
    const made: Part = { type: 'tool-call', id: 'a', name: 'f', arguments: '{}' };
    const turns: Conversation['turns'] = [
      { role: 'user', parts: [{ type: 'text', text: 'go' }] },
      { role: 'assistant', parts: [{ type: 'thinking', text: 'because' }, made] },
      { role: 'user', parts: [{ type: 'tool-result', callId: 'a', content: [{ type: 'text', text: 'ok' }] }] },
      { role: 'assistant', parts: [{ ...made, id: 'b' }] },
      { role: 'user', parts: [{ type: 'tool-result', callId: 'b', content: [{ type: 'text', text: 'ok' }] }] },
    ];
    const reasons = (model: string, conversation: Partial<Conversation>, refused?: SignatureRefusal) => {
      const { body, messages, losses } = write({ turns, ...conversation }, { ...writer(model), ...(refused && { signaturesRefused: refused }) });
      return { thinking: body['thinking'], reasons: messages.filter(({ role }) => role === 'assistant').map((one) => one['reasoning_content']), losses };
    };

    test.each<[string, Partial<Conversation>]>([
      ['deepseek-v3.2', { reasoning: { enabled: true } }],
      ['deepseek-reasoner', {}],
      ['deepseek-v4-flash', {}],
      ['kimi-k2-thinking', {}],
    ])('%s gets a blank where none is known', (model, conversation) => {
      expect(reasons(model, conversation)).toMatchObject({ reasons: ['because', ' '], losses: expect.arrayContaining(['messages.reasoning']) });
    });

    test('a model that does not think gets none', () => {
      expect(reasons('deepseek-v3.2', {}).reasons).toEqual(['because', undefined]);
      expect(reasons('deepseek-v4-flash', { reasoning: { effort: 'none' } }).reasons).toEqual(['because', undefined]);
    });

    test('refused all the same: asked again without thinking', () => {
      const again = reasons('deepseek-v3.2', { reasoning: { enabled: true } }, { about: 'reasoning' });
      expect(again).toMatchObject({ thinking: { type: 'disabled' }, reasons: ['because', ' '] });
    });
  });

  test('allowed tools, schemas and marks: native where known, else emulated and declared', () => {
    const tools: Conversation['tools'] = ['f', 'g'].map((name) => ({ type: 'function', name, parameters: {} }));
    const toolChoice: Conversation['toolChoice'] = { type: 'any', allowed: ['g'] };
    const emulated = write({ tools, toolChoice });
    expect(emulated.body).toMatchObject({ tools: [{ function: { name: 'g' } }], tool_choice: 'required' });
    expect(emulated.losses).toContain('tool_choice.allowed');
    expect(write({ tools, toolChoice }, writer('gpt-4o')).body['tool_choice']).toMatchObject({ type: 'allowed_tools' });
    const output: Conversation['output'] = { type: 'schema', schema: { type: 'object' } };
    expect(write({ output }).body['response_format']).toEqual({ type: 'json_schema', json_schema: { name: 'response', schema: { type: 'object' } } });
    const described = write({ output, system: [{ text: 'be brief' }] }, writer('deepseek-chat'));
    expect(described.body['response_format']).toEqual({ type: 'json_object' });
    expect(described.messages).toHaveLength(2);
    expect(described.messages[0]?.content).toContain('{"type":"object"}');
    expect(write({ system: [{ text: 'x', cache: { ttl: '1h' } }] }).losses).toContain('cache_control');
    expect(write({ system: [{ text: 'x', cache: {} }] }, writer('claude-x')).messages[0]?.content).toEqual([
      { type: 'text', text: 'x', cache_control: { type: 'ephemeral' } },
    ]);
  });

  test('no tools: no tool fields at all', () => {
    expect(Object.keys(write({ toolChoice: { type: 'auto' }, parallelToolCalls: true }).body)).toEqual(['model', 'messages']);
  });

  test('what chat completions cannot say', () => {
    const { messages, losses } = write({
      sampling: { topK: 4, choices: 3 },
      metadata: { a: 1 },
      verbosity: 'low',
      turns: [
        {
          role: 'user',
          parts: [
            { type: 'media', kind: 'document', url: 'https://x/a.pdf' },
            { type: 'media', kind: 'document', text: 'body', title: 'T' },
          ],
        },
      ],
    });
    expect(messages[0]?.content).toEqual([
      { type: 'text', text: '[document: https://x/a.pdf]' },
      { type: 'text', text: 'T\n\nbody' },
    ]);
    expect(losses).toEqual(expect.arrayContaining(['top_k', 'n', 'metadata', 'verbosity', 'document.url', 'document.text']));
  });
});

test('many results of one step are read in time that grows with their number alone', () => {
  const content = (size: number) => Array.from({ length: size }, () => ({ role: 'tool', tool_call_id: 'c', content: 'r' }));
  const [few, many, times] = [content(2_500), content(40_000), 16];
  const measure = (messages: object[], repeats: number): number => {
    const started = performance.now();
    for (let run = 0; run < repeats; run++) expect(read({ messages }).conversation.turns).toHaveLength(1);
    return performance.now() - started;
  };
  // Sixteen reads of few against one of sixteen times as many: about the same. A pairing of each with each would be sixteen times.
  const rounds = Array.from({ length: 5 }, () => [measure(few, times), measure(many, 1)] as const);
  const quickest = (at: 0 | 1): number => Math.min(...rounds.map((round) => round[at]));
  expect(quickest(1) / quickest(0)).toBeLessThan(6);
});

describe('a forced call of a tool, which a family refuses while it thinks', () => {
  const tools = [{ name: 'f', parameters: { type: 'object' } }] as unknown as Conversation['tools'];
  const forced: NonNullable<Conversation['toolChoice']>[] = [{ type: 'any' }, { type: 'tool', name: 'f' }];
  const written = (toolChoice: NonNullable<Conversation['toolChoice']>, reasoning?: Conversation['reasoning'], model = 'deepseek-v4-pro') =>
    write({ tools, toolChoice, ...(reasoning && { reasoning }) }, writer(model));

  test.each(forced)('thinking that nobody asked for is turned off for $type', (choice) => {
    const { body, losses } = written(choice);
    expect(body['thinking']).toEqual({ type: 'disabled' });
    expect(body['tool_choice']).not.toBe('auto');
    expect(losses).toContain('thinking');
  });

  test.each(forced)('thinking that was asked for gives way to $type as well', (choice) => {
    const { body, losses } = written(choice, { enabled: true, effort: 'high' });
    expect(body['thinking']).toEqual({ type: 'disabled' });
    expect(body['tool_choice']).not.toBe('auto');
    expect(losses).toEqual(['thinking']);
  });

  test('a model that cannot stop thinking is asked', () => {
    const { body, losses } = written({ type: 'tool', name: 'f' }, { enabled: true }, 'qwen3-235b-a22b-thinking-2507');
    expect(body['tool_choice']).toBe('auto');
    expect(losses).toContain('tool_choice');
  });

  test('nothing changes without thinking, without force, without tools, nor for other families', () => {
    expect(written({ type: 'any' }, { enabled: false })).toMatchObject({ body: { tool_choice: 'required' }, losses: [] });
    expect(written({ type: 'auto' }).body['thinking']).toBeUndefined();
    expect(write({ toolChoice: { type: 'any' } }, writer('deepseek-v4-pro')).body['thinking']).toBeUndefined();
    expect(written({ type: 'any' }, undefined, 'deepseek-v3.2').body['thinking']).toBeUndefined();
  });
});

test('efforts are the words that the model takes', () => {
  const effort = (model: string, reasoning: Conversation['reasoning'] & object) => write({ reasoning }, writer(model)).body['reasoning_effort'];
  expect(effort('grok-4.3', { effort: 'minimal' })).toBe('low');
  expect(effort('grok-4.3', { effort: 'none' })).toBe('none');
  expect(effort('grok-4.5', { enabled: false })).toBe('low');
  expect(effort('grok-4.6', { effort: 'max' })).toBe('xhigh');
  expect(effort('grok-3-mini', { effort: 'medium' })).toBe('high');
  expect(effort('grok-3-mini', { budget: 5000 })).toBe('high');
  expect(effort('grok-4', { effort: 'high' })).toBeUndefined();
});

test('thinking budgets of Qwen keep to what the model thinks at most', () => {
  const fields = (model: string, budget: number) => {
    const { enable_thinking, thinking_budget } = write({ reasoning: { budget } }, writer(model)).body;
    return [enable_thinking, thinking_budget];
  };
  expect(fields('qwen-plus', 77_824)).toEqual([true, 77_824]);
  expect(fields('qwen-turbo', 77_824)).toEqual([true, 38_912]);
  expect(fields('qwen-plus', 0)).toEqual([false, undefined]);
});
