/** Rules that go by a protocol's body layout, on the bodies of each: content types, tools, system prompts. */
import { describe, expect, test } from '@jest/globals';
import type { BodyRuleInput, ProtocolId } from '@model-gateway/contracts';
import { chatUpstreams, type UpstreamAdapter } from '@model-gateway/protocols';
import { layoutOf, tryRules } from './try-rules.ts';

const noImages: BodyRuleInput = { mode: 'filter-content-types', value: 'image' };
const gone = '[image removed]';

type Case = [protocol: ProtocolId, body: unknown, wanted: unknown, rule?: BodyRuleInput];

function check([protocol, body, wanted, rule = noImages]: Case): void {
  const result = tryRules([rule], JSON.stringify(body), layoutOf(protocol));
  expect(result.value).toEqual(wanted);
  expect(JSON.parse(result.text)).toEqual(wanted);
}

describe('filter-content-types', () => {
  test.each<Case>([
    [
      'alpha',
      { messages: [{ content: [{ type: 'text', text: 'a' }, { type: 'image_url' }] }, { content: 'b' }] },
      {
        messages: [
          {
            content: [
              { type: 'text', text: 'a' },
              { type: 'text', text: gone },
            ],
          },
          { content: 'b' },
        ],
      },
    ],
    [
      'alpha_response',
      { input: [{ content: [{ type: 'input_image' }] }, { output: [{ type: 'input_image' }, { type: 'input_text', text: 'a' }] }] },
      {
        input: [
          { content: [{ type: 'input_text', text: gone }] },
          {
            output: [
              { type: 'input_text', text: gone },
              { type: 'input_text', text: 'a' },
            ],
          },
        ],
      },
    ],
    [
      'beta',
      {
        system: [{ type: 'text', text: 's' }],
        messages: [{ content: [{ type: 'tool_result', content: [{ type: 'image' }, { type: 'image' }] }, { type: 'image' }] }],
      },
      {
        system: [{ type: 'text', text: 's' }],
        messages: [
          {
            content: [
              { type: 'tool_result', content: [{ type: 'text', text: gone }] },
              { type: 'text', text: gone },
            ],
          },
        ],
      },
    ],
    [
      'gamma',
      { contents: [{ parts: [{ inlineData: { mimeType: 'image/png' } }, { inline_data: { mime_type: 'audio/wav' } }, { text: 'a' }] }] },
      { contents: [{ parts: [{ text: gone }, { inline_data: { mime_type: 'audio/wav' } }, { text: 'a' }] }] },
    ],
    [
      'gamma',
      { contents: { parts: [{ fileData: { mimeType: 'application/pdf' } }, { text: 'a' }] } },
      { contents: { parts: [{ text: 'a' }] } },
      { mode: 'filter-content-types', value: ['document', 'video'] },
    ],
    [
      'cloudhost_converse',
      { messages: [{ content: [{ image: {} }, { toolResult: { content: [{ image: {} }, { text: 'a' }] } }] }] },
      { messages: [{ content: [{ text: gone }, { toolResult: { content: [{ text: gone }, { text: 'a' }] } }] }] },
    ],
    ['cloudhost_invoke', { messages: [{ content: [{ type: 'image' }] }] }, { messages: [{ content: [{ type: 'text', text: gone }] }] }],
    [
      'delta',
      { input: { messages: [{ content: [{ image: 'u' }, { text: 'a' }] }, { content: 'b' }] } },
      { input: { messages: [{ content: [{ text: gone }, { text: 'a' }] }, { content: 'b' }] } },
    ],
    [
      'cloudhost_ide_streaming',
      { conversationState: { currentMessage: { userInputMessage: { content: 'a', images: [{ format: 'png', source: {} }] } } } },
      { conversationState: { currentMessage: { userInputMessage: { content: 'a\n[image removed]' } } } },
    ],
    // What is no image leaves no trace, but never an empty array.
    [
      'beta',
      { messages: [{ content: [{ type: 'thinking' }, { type: 'text', text: 'a' }] }, { content: [{ type: 'thinking' }] }] },
      { messages: [{ content: [{ type: 'text', text: 'a' }] }, { content: [{ type: 'text', text: '[thinking removed]' }] }] },
      { mode: 'filter-content-types', value: ['thinking', 'redacted_thinking'] },
    ],
    // A path instead of all known places.
    [
      'beta',
      { messages: [{ content: [{ type: 'image' }] }, { content: [{ type: 'image' }] }] },
      { messages: [{ content: [{ type: 'image' }] }, { content: [{ type: 'text', text: gone }] }] },
      { mode: 'filter-content-types', path: 'messages.1.content', value: 'image' },
    ],
    // A removed block takes what stands inside it along.
    [
      'beta',
      {
        messages: [
          {
            content: [
              { type: 'tool_result', content: [{ type: 'image' }] },
              { type: 'text', text: 'a' },
            ],
          },
        ],
      },
      { messages: [{ content: [{ type: 'text', text: 'a' }] }] },
      { mode: 'filter-content-types', value: ['tool_result', 'image'] },
    ],
  ])('%s %#', (...args) => check(args));

  test('without a layout a path still works, and none means nothing', () => {
    expect(tryRules([{ ...noImages, path: 'c' }], '{"c":[{"type":"image"},{"x":1},3]}').value).toEqual({ c: [{ type: 'text', text: gone }, { x: 1 }, 3] });
    expect(tryRules([noImages], '{"messages":[{"content":[{"type":"image"}]}]}').applied).toBe(0);
  });
});

describe('filter-tools', () => {
  const drop = (value: BodyRuleInput['value']): BodyRuleInput => ({ mode: 'filter-tools', value });
  const fn = (name: string) => ({ type: 'function', function: { name } });
  test.each<Case>([
    ['alpha', { tools: [fn('a'), fn('b')], tool_choice: 'auto' }, { tools: [fn('b')], tool_choice: 'auto' }, drop('a')],
    ['alpha', { tools: [fn('a'), fn('b')], tool_choice: fn('a'), parallel_tool_calls: true }, { tools: [fn('b')], parallel_tool_calls: true }, drop(['a'])],
    ['alpha', { tools: [fn('a')], tool_choice: 'required', parallel_tool_calls: false, n: 1 }, { n: 1 }, drop('*')],
    ['alpha', { tools: [fn('mcp_x_read'), fn('mcp_y')] }, { tools: [fn('mcp_y')] }, drop('mcp_*_read')],
    ['alpha', { tools: [fn('a'), fn('b')] }, { tools: [fn('b')] }, drop({ keep: ['b'] })],
    [
      'alpha_response',
      { tools: [{ type: 'web_search' }, { type: 'function', name: 'a' }], tool_choice: { type: 'web_search' } },
      { tools: [{ type: 'function', name: 'a' }] },
      drop('web_search'),
    ],
    ['beta', { tools: [{ name: 'web_search', type: 'web_search_20250305' }, { name: 'a' }] }, { tools: [{ name: 'a' }] }, drop('web_search_*')],
    ['beta', { tools: [{ name: 'a' }], tool_choice: { type: 'tool', name: 'a' } }, {}, drop('a')],
    [
      'gamma',
      { tools: [{ functionDeclarations: [{ name: 'a' }, { name: 'b' }] }, { googleSearch: {} }] },
      { tools: [{ functionDeclarations: [{ name: 'b' }] }, { googleSearch: {} }] },
      drop('a'),
    ],
    ['gamma', { tools: [{ functionDeclarations: [{ name: 'a' }] }, { googleSearch: {} }] }, { tools: [{ googleSearch: {} }] }, drop('a')],
    [
      'gamma',
      { tools: [{ functionDeclarations: [{ name: 'a' }] }, { google_search: {} }] },
      { tools: [{ functionDeclarations: [{ name: 'a' }] }] },
      drop('googleSearch'),
    ],
    ['gamma', { tools: [{ functionDeclarations: [{ name: 'a' }] }], toolConfig: { functionCallingConfig: { mode: 'ANY' } } }, {}, drop('a')],
    [
      'gamma',
      { tools: [{ functionDeclarations: [{ name: 'a' }, { name: 'b' }] }], toolConfig: { functionCallingConfig: { allowedFunctionNames: ['a', 'b'] } } },
      { tools: [{ functionDeclarations: [{ name: 'b' }] }], toolConfig: { functionCallingConfig: { allowedFunctionNames: ['b'] } } },
      drop('a'),
    ],
    // A choice that allows some goes with the last of them: without their names it would demand another one.
    [
      'gamma',
      {
        tools: [{ functionDeclarations: [{ name: 'a' }, { name: 'b' }] }],
        toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['a'] }, retrievalConfig: {} },
      },
      { tools: [{ functionDeclarations: [{ name: 'b' }] }], toolConfig: { retrievalConfig: {} } },
      drop('a'),
    ],
    [
      'alpha',
      { tools: [fn('a'), fn('b'), fn('c')], tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [fn('a'), fn('b')] } } },
      { tools: [fn('b'), fn('c')], tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [fn('b')] } } },
      drop('a'),
    ],
    [
      'alpha',
      { tools: [fn('a'), fn('b')], tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [fn('a')] } } },
      { tools: [fn('b')] },
      drop('a'),
    ],
    [
      'alpha_response',
      {
        tools: [{ type: 'web_search' }, { type: 'function', name: 'a' }],
        tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'a' }] },
      },
      { tools: [{ type: 'web_search' }] },
      drop('a'),
    ],
    ['cloudhost_converse', { toolConfig: { tools: [{ toolSpec: { name: 'a' } }, { cachePoint: {} }] }, messages: [] }, { messages: [] }, drop('a')],
    [
      'cloudhost_converse',
      { toolConfig: { tools: [{ toolSpec: { name: 'a' } }, { toolSpec: { name: 'b' } }], toolChoice: { tool: { name: 'a' } } } },
      { toolConfig: { tools: [{ toolSpec: { name: 'b' } }] } },
      drop('a'),
    ],
    ['delta', { parameters: { tools: [fn('a')], tool_choice: fn('a'), seed: 1 } }, { parameters: { seed: 1 } }, drop('a')],
    ['beta', { messages: [] }, { messages: [] }, drop('a')],
    // By a path: what is there is filtered, and what goes with the protocol's own tools goes only with them.
    ['beta', { tools: [{ name: 'a' }], tool_choice: { type: 'tool', name: 'a' } }, {}, { ...drop('a'), path: 'tools' }],
    [
      'beta',
      { tools: [{ name: 'a' }], extra: { tools: [{ name: 'a' }, { name: 'b' }] }, tool_choice: { type: 'tool', name: 'a' } },
      { tools: [{ name: 'a' }], extra: { tools: [{ name: 'b' }] }, tool_choice: { type: 'tool', name: 'a' } },
      { ...drop('a'), path: 'extra.tools' },
    ],
  ])('%s %#', (...args) => check(args));
});

test('filter-tools without a layout: a path still works, and none means nothing', () => {
  const rule: BodyRuleInput = { mode: 'filter-tools', value: ['a', 'web_*'], path: 't' };
  expect(tryRules([rule], '{"t":[{"function":{"name":"a"}},{"name":"b","type":"web_search"},{"type":"web_search"},5]}').value).toEqual({
    t: [{ name: 'b', type: 'web_search' }, 5],
  });
  expect(tryRules([{ mode: 'filter-tools', value: 'a' }], '{"tools":[{"name":"a"}]}').applied).toBe(0);
});

describe('inject-system-prompt', () => {
  const say: BodyRuleInput = { mode: 'inject-system-prompt', value: 'New.' };
  test.each<Case>([
    [
      'alpha',
      { messages: [{ role: 'user', content: 'a' }] },
      {
        messages: [
          { role: 'system', content: 'New.' },
          { role: 'user', content: 'a' },
        ],
      },
      say,
    ],
    ['alpha', { messages: [{ role: 'developer', content: 'Old.' }] }, { messages: [{ role: 'developer', content: 'New.\n\nOld.' }] }, say],
    [
      'alpha',
      { messages: [{ role: 'system', content: [{ type: 'text', text: 'Old.' }] }] },
      {
        messages: [
          {
            role: 'system',
            content: [
              { type: 'text', text: 'New.' },
              { type: 'text', text: 'Old.' },
            ],
          },
        ],
      },
      say,
    ],
    ['alpha_response', { input: 'a' }, { input: 'a', instructions: 'New.' }, say],
    ['alpha_response', { instructions: 'Old.' }, { instructions: 'New.\n\nOld.' }, say],
    ['beta', { messages: [] }, { messages: [], system: 'New.' }, say],
    ['beta', { system: '' }, { system: 'New.' }, say],
    [
      'beta',
      { system: [{ type: 'text', text: 'Old.' }] },
      {
        system: [
          { type: 'text', text: 'New.' },
          { type: 'text', text: 'Old.' },
        ],
      },
      say,
    ],
    ['gamma', { contents: [] }, { contents: [], systemInstruction: { parts: [{ text: 'New.' }] } }, say],
    ['gamma', { system_instruction: { parts: [{ text: 'Old.' }] } }, { system_instruction: { parts: [{ text: 'New.' }, { text: 'Old.' }] } }, say],
    ['gamma', { systemInstruction: { parts: { text: 'Old.' } } }, { systemInstruction: { parts: [{ text: 'New.' }, { text: 'Old.' }] } }, say],
    ['gamma', { systemInstruction: {} }, { systemInstruction: { parts: [{ text: 'New.' }] } }, say],
    ['cloudhost_converse', { messages: [] }, { messages: [], system: [{ text: 'New.' }] }, say],
    ['cloudhost_converse', { system: [{ text: 'Old.' }] }, { system: [{ text: 'New.' }, { text: 'Old.' }] }, say],
    [
      'delta',
      { input: { messages: [{ role: 'user', content: [{ text: 'a' }] }] } },
      {
        input: {
          messages: [
            { role: 'system', content: [{ text: 'New.' }] },
            { role: 'user', content: [{ text: 'a' }] },
          ],
        },
      },
      say,
    ],
    [
      'cloudhost_ide_streaming',
      { conversationState: { history: [{ userInputMessage: { content: 'a' } }], currentMessage: { userInputMessage: { content: 'b' } } } },
      { conversationState: { history: [{ userInputMessage: { content: 'New.\n\na' } }], currentMessage: { userInputMessage: { content: 'b' } } } },
      say,
    ],
  ])('%s %#', (...args) => check(args));

  test.each([
    ['meta.llama3-8b', '<|begin_of_text|>', '<|start_header_id|>system<|end_header_id|>\n\nNew.<|eot_id|>', 'prompt'],
    ['meta.llama4-scout', '<|begin_of_text|>', '<|header_start|>system<|header_end|>\n\nNew.<|eot|>', 'prompt'],
    ['mistral.mistral-7b', '<s>', '[INST] New. [/INST]', 'prompt'],
    ['amazon.titan-text', '', 'New.\n\n', 'inputText'],
  ])('into the prompt of %s', (model, begin, system, key) => {
    const inject = (prompt: unknown) => tryRules([say], JSON.stringify({ [key]: prompt }), layoutOf('cloudhost_invoke', model)).value;
    expect(inject(`${begin}rest`)).toEqual({ [key]: `${begin}${system}rest` });
    expect(inject('rest')).toEqual({ [key]: `${system}rest` });
    expect(inject(5)).toEqual({ [key]: 5 });
  });
});

test('every upstream protocol describes its body layout', () => {
  const without = chatUpstreams.filter(({ upstream }: { upstream: UpstreamAdapter }) => upstream.bodyLayout === undefined);
  expect(without.map(({ id }) => id)).toEqual([]);
});
