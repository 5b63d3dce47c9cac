/** What goes to the assistant service: alternation, tools, images, and what is declared lost. */
import { expect, test } from '@jest/globals';
import type { Conversation, Part } from '../chat/conversation.ts';
import type { Target } from '../contract/index.ts';
import { credential, listModels, request } from './upstream/endpoint.ts';
import type { WireRequest } from './upstream/wire.ts';
import { writeRequest } from './upstream/write-request.ts';

const target = (more: Partial<Target> = {}): Target => ({
  baseUrl: 'https://h',
  directPath: false,
  upstreamModelId: 'claude-opus-4.7',
  neutralHeaders: false,
  extraConfig: null,
  ...more,
});
const say = (text: string): Part => ({ type: 'text', text });
const base: Conversation = { system: [], turns: [{ role: 'user', parts: [say('hi')] }], tools: [], sampling: {}, stream: true };

function write(conversation: Partial<Conversation>, to: Partial<Target> = {}) {
  let next = 0;
  const context = {
    target: target(to),
    operation: 'generate' as const,
    stream: true,
    openSignature: (sealed: string) => (sealed === 'ours' ? 'vendor' : null),
    mintId: (prefix: string) => `${prefix}${++next}`,
  };
  const { body, losses, emulation } = writeRequest({ ...base, ...conversation }, context);
  return { body: body as WireRequest, losses: losses.map(({ field, action }) => `${action} ${field}`), emulation };
}
const roles = ({ body }: ReturnType<typeof write>): string[] =>
  body.conversationState.history.map((entry) =>
    'userInputMessage' in entry ? `user: ${entry.userInputMessage.content}` : `assistant: ${entry.assistantResponseMessage.content}`,
  );

test('addresses, keys and profile', () => {
  const url = (more: Partial<Target>) => request({ target: target(more), operation: 'generate', stream: true }).url;
  expect([url({}), url({ baseUrl: 'https://h/generateAssistantResponse' }), url({ baseUrl: 'https://h/x', directPath: true })]).toEqual([
    'https://h/generateAssistantResponse',
    'https://h/generateAssistantResponse',
    'https://h/x',
  ]);
  expect([credential('abc'), credential('ksk_1')]).toEqual([{ authorization: 'Bearer abc' }, { authorization: 'Bearer ksk_1', tokentype: 'API_KEY' }]);
  const extraConfig = { profileArn: 'arn:a', origin: 'CLI' };
  expect(listModels(target({ extraConfig })).url).toBe('https://h/ListAvailableModels?origin=CLI&profileArn=arn%3Aa');
  expect(write({}, { extraConfig }).body).toMatchObject({
    profileArn: 'arn:a',
    conversationState: { currentMessage: { userInputMessage: { origin: 'CLI' } } },
  });
});

test('the history alternates, whatever came', () => {
  const turns: Conversation['turns'] = [
    { role: 'assistant', parts: [say('first')] },
    { role: 'assistant', parts: [say(' more')] },
    { role: 'user', parts: [say('a')] },
    { role: 'system', parts: [say('b')] },
    { role: 'assistant', parts: [say('prefill')] },
  ];
  const written = write({ system: [{ text: 'Be brief.' }], turns });
  expect(roles(written)).toEqual(['user: Be brief.', 'assistant: I will follow these instructions.first more', 'user: a\n\nb', 'assistant: prefill']);
  expect(written.body.conversationState.currentMessage.userInputMessage).toMatchObject({ content: 'Continue.', modelId: 'claude-opus-4.7' });
  expect(written.losses).toEqual(['emulated system', 'emulated messages.system', 'downgraded messages.prefill']);
  expect(roles(write({ turns: turns.slice(0, 1) }))).toEqual(['user: Continue.', 'assistant: first']);
  expect(written.body.conversationState.conversationId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/);
});

test('calls, results, images in them, and tools that only the history knows', () => {
  const turns: Conversation['turns'] = [
    { role: 'user', parts: [say('look')] },
    {
      role: 'assistant',
      parts: [
        { type: 'thinking', text: 'hm', signature: 'ours' },
        { type: 'tool-call', id: 'a', name: 'see', arguments: '{"x":1}' },
        { type: 'tool-call', id: 'b', name: 'see', arguments: '{"x":' },
      ],
    },
    {
      role: 'user',
      parts: [
        { type: 'tool-result', callId: 'a', content: [{ type: 'media', kind: 'image', mimeType: 'image/png', data: 'AA==' }] },
        { type: 'tool-result', callId: 'b', isError: true, content: [{ type: 'text', text: 'no' }] },
        { type: 'media', kind: 'image', url: 'https://i/x.png' },
      ],
    },
  ];
  const { body, losses } = write({ turns });
  expect(body.conversationState.history[1]).toEqual({
    assistantResponseMessage: {
      content: '',
      toolUses: [
        { toolUseId: 'a', name: 'see', input: { x: 1 } },
        { toolUseId: 'b', name: 'see', input: { input: '{"x":' } },
      ],
      reasoningContent: { reasoningText: { text: 'hm', signature: 'vendor' } },
    },
  });
  expect(body.conversationState.currentMessage.userInputMessage).toMatchObject({
    content: '[image: https://i/x.png]',
    images: [{ format: 'png', source: { bytes: 'AA==' } }],
    userInputMessageContext: {
      toolResults: [
        { toolUseId: 'a', status: 'success', content: [] },
        { toolUseId: 'b', status: 'error', content: [{ text: 'no' }] },
      ],
      tools: [{ toolSpecification: { name: 'see', description: 'see', inputSchema: { json: { type: 'object' } } } }],
    },
  });
  expect(losses).toEqual(expect.arrayContaining(['downgraded tool_use.input', 'downgraded messages.image', 'emulated tools']));
});

test('what the model takes beside the conversation', () => {
  const fields = (conversation: Partial<Conversation>, upstreamModelId = 'claude-opus-4.7') => {
    const { body, losses } = write(conversation, { upstreamModelId });
    return [body.additionalModelRequestFields, losses];
  };
  expect(fields({ reasoning: { effort: 'xhigh' } })).toEqual([{ thinking: { type: 'adaptive' }, output_config: { effort: 'xhigh' } }, []]);
  expect(fields({ reasoning: { effort: 'xhigh' } }, 'claude-opus-4.6')).toEqual([
    { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
    ['downgraded reasoning.effort'],
  ]);
  expect(fields({ reasoning: { enabled: false }, sampling: { maxTokens: 2000 } })).toEqual([{ thinking: { type: 'disabled' }, max_tokens: 2000 }, []]);
  expect(fields({ reasoning: { budget: 4000 }, sampling: { maxTokens: 10, temperature: 1, stop: ['x'] } }, 'auto')).toEqual([
    undefined,
    ['dropped reasoning', 'dropped max_tokens', 'dropped temperature', 'dropped stop'],
  ]);
});

test('choices of tools, and formats in words', () => {
  const tools = ['f', 'g'].map((name) => ({ type: 'function' as const, name, parameters: { type: 'object' } }));
  const offered = (toolChoice: Conversation['toolChoice'] & object) =>
    write({ tools, toolChoice }).body.conversationState.currentMessage.userInputMessage.userInputMessageContext?.tools?.map(
      (tool) => tool.toolSpecification.name,
    );
  expect([offered({ type: 'auto' }), offered({ type: 'tool', name: 'g' }), offered({ type: 'none' }), offered({ type: 'any' })]).toEqual([
    ['f', 'g'],
    ['g'],
    undefined,
    ['f', 'g'],
  ]);
  const schema = { type: 'object' };
  expect(write({ output: { type: 'schema', schema } })).toMatchObject({
    emulation: { schema },
    losses: expect.arrayContaining(['emulated response_format.json_schema']),
  });
});

test('an empty text leaves no line behind', () => {
  const { body } = write({ turns: [{ role: 'user', parts: [say(''), say('three')] }] });
  expect(body.conversationState.currentMessage.userInputMessage.content).toBe('three');
});

test('a penalty of zero is none, and no loss', () => {
  expect(write({ sampling: { presencePenalty: 0, frequencyPenalty: 0 } }).losses).toEqual([]);
  expect(write({ sampling: { presencePenalty: 0.5 } }).losses).toEqual(['dropped presence_penalty']);
});
