/** What newer models of several vendors take of a request, written anew and passed on. The matrix of requests holds both to the vendors' refusals. */
import { expect, test } from '@jest/globals';
import { findFamily } from '@model-gateway/model-catalog';
import type { Conversation } from '../chat/conversation.ts';
import type { VerbatimRequestContext, WriteRequestContext } from '../contract/index.ts';
import { own } from '../kit/read.ts';
import { normalize } from './shared/normalize.ts';
import { verbatim } from './shared/verbatim-rules.ts';
import { writeRequest } from './upstream/write-request.ts';

const plain: Conversation = { system: [], turns: [{ role: 'user', parts: [{ type: 'text', text: 'hi' }] }], tools: [], sampling: {}, stream: false };

function writer(model: string): WriteRequestContext {
  const target = { baseUrl: 'https://h', directPath: false, upstreamModelId: model, neutralHeaders: false, extraConfig: null };
  return { target, operation: 'generate', stream: false, openSignature: () => null, mintId: (prefix) => `${prefix}1` };
}

function write(model: string, conversation: Partial<Conversation>): Record<string, unknown> {
  const { model: _model, messages: _messages, ...fields } = writeRequest({ ...plain, ...conversation }, writer(model)).body as Record<string, unknown>;
  return fields;
}

function pass(model: string, body: Record<string, unknown>) {
  const text = JSON.stringify(body);
  const context = { ...writer(model), model: 'm', contains: (word: string) => text.includes(word), parse: () => body } as unknown as VerbatimRequestContext &
    Parameters<typeof normalize>[1];
  const rest = verbatim.requestEdits(context);
  return { edits: [...normalize((key) => own(body, key), context).edits, ...rest.edits.filter(({ path }) => path[0] !== 'model')], losses: rest.losses };
}

test.each([
  ['deepseek-v4-pro', 'medium', { thinking: { type: 'enabled' }, reasoning_effort: 'high' }],
  ['deepseek-flash', 'xhigh', { thinking: { type: 'enabled' }, reasoning_effort: 'max' }],
  ['deepseek-v4-pro', 'none', { thinking: { type: 'disabled' } }],
  ['deepseek-v3.2', 'high', { thinking: { type: 'enabled' } }],
  ['glm-5.2', 'low', { thinking: { type: 'enabled' }, reasoning_effort: 'high' }],
  ['glm-5.3', 'medium', { thinking: { type: 'enabled' }, reasoning_effort: 'high' }],
  ['glm-5.3-flash', 'none', { thinking: { type: 'enabled' }, reasoning_effort: 'low' }],
  ['glm-4.7', 'none', { thinking: { type: 'disabled' } }],
  ['grok-4.7', 'max', { reasoning_effort: 'xhigh' }],
  ['mistral-large-4', 'none', { reasoning_effort: 'low' }],
  ['mistral-large-4-0', 'xhigh', { reasoning_effort: 'high' }],
  ['mistral-large-latest', 'high', {}],
] as const)('%s asked to think %s', (model, effort, expected) => expect(write(model, { reasoning: { effort } })).toEqual(expected));

test('a budget leaves the effort to a model that is on or off', () =>
  expect(write('glm-5.2', { reasoning: { enabled: true, budget: 31_999 } })).toEqual({ thinking: { type: 'enabled' } }));

test('the same of a body that passes', () => {
  expect(pass('deepseek-v4-pro', { reasoning_effort: 'medium' }).edits).toEqual([{ path: ['reasoning_effort'], value: 'high' }]);
  expect(pass('glm-5.3', { thinking: { type: 'disabled' } }).edits).toEqual([{ path: ['thinking'] }, { path: ['reasoning_effort'], value: 'low', add: true }]);
  expect(pass('mistral-large-4', { messages: [], reasoning_effort: 'none' }).edits).toEqual([{ path: ['reasoning_effort'], value: 'low' }]);
});

test('pictures are shown to the models that see them', () => {
  for (const model of ['deepseek-flash', 'deepseek-v4-flash-vision-exp', 'deepseek-v4.1-flash', 'glm-5.3-flash', 'MiniMax-M3'])
    expect(findFamily(model).vision).toBe(true);
  for (const model of ['deepseek-v4-pro', 'glm-5.3', 'MiniMax-M2.7']) expect(findFamily(model).vision).toBe(false);
});

test('Mistral keeps the key of its cache', () => {
  expect(write('mistral-large-latest', { promptCacheKey: 'a' })).toEqual({ prompt_cache_key: 'a' });
  expect(pass('mistral-large-latest', { messages: [], prompt_cache_key: 'a' }).edits).toEqual([]);
});

test('MiniMax gets one system message, at the beginning', () => {
  const system = (content: unknown, role = 'system') => ({ role, content });
  const hello = { role: 'user', content: 'hello' };
  const messages = [system('a'), system([{ type: 'text', text: 'b' }], 'developer'), hello, system('c'), system('d', 'developer')];
  const { edits, losses } = pass('MiniMax-M2.7', { messages });
  expect(edits).toEqual([
    { path: ['messages', 0, 'content'], value: 'a\nb' },
    { path: ['messages', 1] },
    { path: ['messages', 3, 'role'], value: 'user' },
    { path: ['messages', 4, 'role'], value: 'user' },
  ]);
  expect(losses.map(({ field }) => field)).toContain('messages.system');
  expect(pass('MiniMax-M2.7', { messages: [system('a'), hello] }).edits).toEqual([]);
});
