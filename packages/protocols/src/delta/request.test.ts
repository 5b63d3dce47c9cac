/** What goes to the native endpoints, and what is declared lost on the way. */
import { describe, expect, test } from '@jest/globals';
import type { Conversation } from '../chat/conversation.ts';
import type { Target } from '../contract/index.ts';
import { listModels, request } from './upstream/endpoint.ts';
import { readError } from './upstream/errors.ts';
import type { WireRequest } from './upstream/wire.ts';
import { writeRequest } from './upstream/write-request.ts';

const target = (more: Partial<Target> = {}): Target => ({
  baseUrl: 'https://h',
  directPath: false,
  upstreamModelId: 'qwen-plus',
  neutralHeaders: false,
  extraConfig: null,
  ...more,
});
const base: Conversation = { system: [], turns: [{ role: 'user', parts: [{ type: 'text', text: 'hi' }] }], tools: [], sampling: {}, stream: true };

function write(conversation: Partial<Conversation>, to: Partial<Target> = {}, stream = true) {
  const context = { target: target(to), operation: 'generate' as const, stream, openSignature: () => null, mintId: (prefix: string) => `${prefix}1` };
  const { body, losses, emulation } = writeRequest({ ...base, ...conversation }, context);
  const { input, parameters } = body as WireRequest;
  return { messages: input.messages, parameters, losses: losses.map(({ field, action }) => `${action} ${field}`), emulation };
}

describe('addresses', () => {
  const text = 'https://h/api/v1/services/aigc/text-generation/generation';
  test.each([
    [{}, text],
    [{ baseUrl: 'https://h/api/v1' }, text],
    [{ baseUrl: 'https://h/proxy' }, 'https://h/proxy/api/v1/services/aigc/text-generation/generation'],
    [{ kind: 'delta-multimodal' }, 'https://h/api/v1/services/aigc/multimodal-generation/generation'],
    [{ baseUrl: 'https://h/as/it/is', directPath: true }, 'https://h/as/it/is'],
  ])('%j', (more, url) => expect(request({ target: target(more), operation: 'generate', stream: false }).url).toBe(url));

  test('tokens are counted beside them, models listed on the host', () => {
    for (const more of [{}, { baseUrl: 'https://h/api/v1' }, { baseUrl: text, directPath: true }, { baseUrl: `${text}?a=/api/v1`, directPath: true }]) {
      expect(request({ target: target(more), operation: 'count-tokens', stream: false }).url).toBe('https://h/api/v1/tokenizer');
      expect(listModels(target(more)).url).toBe('https://h/compatible-mode/v1/models');
    }
  });

  test('a stream is asked for by header, and where nothing else is answered', () => {
    const sse = (model: string, stream: boolean) =>
      request({ target: target({ upstreamModelId: model }), operation: 'generate', stream }).headers['x-dashscope-sse'];
    expect([sse('qwen-plus', true), sse('qwen-plus', false), sse('qwq-plus', false), sse('qwen3-8b', false)]).toEqual([
      'enable',
      undefined,
      'enable',
      'enable',
    ]);
  });
});

test('a stream is asked for in pieces, sampling within its bounds', () => {
  const { parameters, losses } = write({
    sampling: { maxTokens: 9, temperature: 2, topP: 0, topK: 5, seed: 1, stop: ['a'], frequencyPenalty: 1, logprobs: true },
  });
  expect(parameters).toEqual({
    result_format: 'message',
    incremental_output: true,
    max_tokens: 9,
    temperature: 1.99,
    top_p: 0.01,
    top_k: 5,
    seed: 1,
    stop: ['a'],
    logprobs: true,
  });
  expect(losses).toEqual(['downgraded temperature', 'downgraded top_p', 'dropped frequency_penalty']);
  expect(write({}, {}, false).parameters).toEqual({ result_format: 'message' });
});

test('reasoning', () => {
  expect(write({ reasoning: { enabled: true, budget: 100 } }).parameters).toMatchObject({ enable_thinking: true, thinking_budget: 100 });
  expect(write({ reasoning: { enabled: false } }).parameters).toMatchObject({ enable_thinking: false });
  expect(write({ reasoning: { enabled: false } }, { upstreamModelId: 'qwq-32b' })).toMatchObject({ losses: ['downgraded reasoning.enabled'] });
});

test('choices of tools', () => {
  const tools = ['f', 'g'].map((name) => ({ type: 'function' as const, name }));
  const choose = (toolChoice: Conversation['toolChoice'] & object, more: Partial<Conversation> = {}) => {
    const { parameters, losses } = write({ tools, toolChoice, ...more });
    return [parameters['tool_choice'], losses];
  };
  expect(choose({ type: 'tool', name: 'f' })).toEqual([{ type: 'function', function: { name: 'f' } }, []]);
  expect(choose({ type: 'none' })).toEqual(['none', []]);
  expect(choose({ type: 'any' })).toEqual(['auto', ['downgraded tool_choice']]);
  expect(choose({ type: 'any', allowed: ['g'] })).toEqual([{ type: 'function', function: { name: 'g' } }, ['emulated tool_choice.allowed']]);
  expect(choose({ type: 'tool', name: 'f' }, { reasoning: { enabled: true } })).toEqual([
    { type: 'function', function: { name: 'f' } },
    ['downgraded thinking'],
  ]);
});

test('formats', () => {
  const schema = { type: 'object' };
  const asked = write({ output: { type: 'schema', schema } });
  expect(asked).toMatchObject({ parameters: { response_format: { type: 'json_object' } }, emulation: { schema } });
  expect(asked.messages[0]).toMatchObject({ role: 'system', content: expect.stringContaining('{"type":"object"}') });
  expect(write({ output: { type: 'json' } }).messages[0]).toMatchObject({ role: 'system', content: expect.stringMatching(/json/i) });
  const thinking = write({ output: { type: 'json' }, reasoning: { enabled: true } });
  expect([thinking.parameters['response_format'], thinking.emulation]).toEqual([undefined, {}]);
});

test('a history with thoughts, calls, results and their images, at both endpoints', () => {
  const turns: Conversation['turns'] = [
    { role: 'user', parts: [{ type: 'text', text: 'look' }] },
    {
      role: 'assistant',
      parts: [
        { type: 'thinking', text: 'hm', signature: 'sealed' },
        { type: 'tool-call', id: '', name: 'see', arguments: '' },
      ],
    },
    {
      role: 'user',
      parts: [
        { type: 'tool-result', callId: '', isError: true, content: [{ type: 'text', text: 'dark' }] },
        { type: 'media', kind: 'image', url: 'https://i/x.png' },
        { type: 'media', kind: 'video', data: 'AA==' },
      ],
    },
  ];
  const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'see', arguments: '{}' } };
  expect(write({ turns }, { kind: 'delta-multimodal' }).messages).toEqual([
    { role: 'user', content: [{ text: 'look' }] },
    { role: 'assistant', content: [], reasoning_content: 'hm', tool_calls: [call] },
    { role: 'tool', name: 'see', tool_call_id: 'call_1', content: [{ text: 'Error: dark' }] },
    { role: 'user', content: [{ image: 'https://i/x.png' }, { video: 'data:video/mp4;base64,AA==' }] },
  ]);
  const text = write({ turns });
  expect(text.messages.map(({ content }) => typeof content)).toEqual(['string', 'string', 'string', 'string']);
  expect(text.losses).toEqual(expect.arrayContaining(['dropped messages.image', 'dropped messages.video', 'dropped reasoning.signature']));
});

test.each([
  ['Throttling.AllocationQuota', 429, 'rate'],
  ['Throttling.RateQuota', 429, 'rate'],
  ['Arrearage', 400, 'account'],
  ['AllocationQuota.FreeTierOnly', 403, 'account'],
  ['InvalidApiKey', 401, 'credential'],
  ['Model.AccessDenied', 403, 'credential'],
  ['DataInspectionFailed', 400, 'caller'],
  ['ModelNotFound', 404, 'not-found'],
  ['InternalError.Timeout', 500, 'timeout'],
  ['ServiceUnavailable', 503, 'overloaded'],
  ['InternalError', 500, 'server'],
  ['Unheard', 418, 'caller'],
  ['InvalidParameter', 401, 'credential'],
  ['InvalidParameter', 500, 'server'],
])('%s (%d) is %s', (code, status, kind) =>
  expect(readError(status, {}, JSON.stringify({ code, message: 'm', request_id: 'r' }))).toMatchObject({ class: kind, code, status }),
);

test('words decide where a code says too little', () => {
  const read = (message: string) => readError(400, {}, JSON.stringify({ code: 'InvalidParameter', message })).class;
  expect(read('Range of input length should be [1, 30720]')).toBe('context');
  expect(read('url error, please check url！')).toBe('server');
  expect(read('Content length must be greater than 0')).toBe('caller');
});

test('texts in pieces: no line for an empty one; arguments that are no JSON are wrapped', () => {
  const say = (text: string) => ({ type: 'text' as const, text });
  const call = (given: string) => ({ type: 'tool-call' as const, id: 'c1', name: 'f', arguments: given });
  const asked = (given: string) =>
    write({
      turns: [
        { role: 'user', parts: [say(''), say('three'), say('')] },
        { role: 'assistant', parts: [call(given)] },
      ],
    });
  expect(asked('{}').messages[0]).toEqual({ role: 'user', content: 'three' });
  expect(asked('{"a":').messages[1]?.tool_calls?.[0]?.function.arguments).toBe('{"input":"{\\"a\\":"}');
  expect(asked('{"a":').losses).toContain('downgraded messages.tool_calls.arguments');
  expect(asked(' {"a":1}').messages[1]?.tool_calls?.[0]?.function.arguments).toBe(' {"a":1}');
});
