/** What Moonshot's models take of a request, written anew and passed on. The matrix of requests holds both to the vendor's refusals. */
import { describe, expect, test } from '@jest/globals';
import type { Conversation } from '../chat/conversation.ts';
import type { VerbatimRequestContext, WriteRequestContext } from '../contract/index.ts';
import { own } from '../kit/read.ts';
import { normalize } from './shared/normalize.ts';
import { verbatim } from './shared/verbatim-rules.ts';
import { writeRequest } from './upstream/write-request.ts';

const tool = (name: string, parameters: object = { type: 'object', properties: {} }) => ({ type: 'function' as const, name, parameters });
const listed = (...names: string[]) => names.map((name) => ({ type: 'function', function: { name } }));
const plain: Conversation = { system: [], turns: [{ role: 'user', parts: [{ type: 'text', text: 'hi' }] }], tools: [], sampling: {}, stream: false };

function writer(model: string, baseUrl = 'https://api.moonshot.ai/v1'): WriteRequestContext {
  const target = { baseUrl, directPath: false, upstreamModelId: model, neutralHeaders: false, extraConfig: null };
  return { target, operation: 'generate', stream: false, openSignature: () => null, mintId: (prefix) => `${prefix}1` };
}

function write(model: string, conversation: Partial<Conversation>, baseUrl?: string) {
  const { body, losses } = writeRequest({ ...plain, ...conversation }, writer(model, baseUrl));
  const { model: _model, messages, ...fields } = body as Record<string, unknown>;
  return { messages, fields, losses: losses.map(({ field }) => field) };
}

/** The edits of fields, and of the whole body, that pass from a caller of the same protocol. */
function pass(model: string, body: Record<string, unknown>, baseUrl?: string) {
  const text = JSON.stringify(body);
  const context = {
    ...writer(model, baseUrl),
    model: 'm',
    contains: (word: string) => text.includes(word),
    value: (key: string) => (key in body ? Buffer.from(JSON.stringify(body[key])) : undefined),
    parse: () => body,
  } as unknown as VerbatimRequestContext & Parameters<typeof normalize>[1];
  const fields = normalize((key) => own(body, key), context);
  const rest = verbatim.requestEdits(context).edits.filter(({ path }) => path[0] !== 'model');
  return { edits: [...fields.edits, ...rest], losses: fields.losses.map(({ field }) => field), taken: verbatim.takes?.(context, 'generate', context.target) };
}

describe('sampling is fixed', () => {
  test.each(['kimi-k2.5', 'kimi-k2.6', 'kimi-k2.7-code', 'kimi-k3', 'kimi-for-coding'])('%s', (model) => {
    const { fields, losses } = write(model, { sampling: { temperature: 0.2, topP: 1, presencePenalty: 0, frequencyPenalty: 0.5, maxTokens: 9 } });
    expect([fields, losses]).toEqual([{ max_tokens: 9 }, ['temperature', 'frequency_penalty']]);
    expect(pass(model, { temperature: 1, top_p: 0.5 })).toMatchObject({
      edits: [{ path: ['temperature'] }, { path: ['top_p'] }],
      losses: ['top_p'],
    });
  });

  test('earlier models sample as they are told', () => {
    expect(write('kimi-k2-0905-preview', { sampling: { temperature: 0.2 } }).fields).toEqual({ temperature: 0.2 });
    expect(pass('kimi-k2-0905-preview', { temperature: 0.2 }).edits).toEqual([]);
  });
});

describe('how much to think', () => {
  test('K3 takes a word', () => {
    expect(write('kimi-k3', { reasoning: { effort: 'medium' } }).fields).toEqual({ reasoning_effort: 'high' });
    expect(write('kimi-k3', { reasoning: { effort: 'xhigh' } }).fields).toEqual({ reasoning_effort: 'max' });
    expect(write('kimi-k3', { reasoning: { enabled: true } }).fields).toEqual({});
    expect(pass('kimi-k3', { reasoning_effort: 'medium' }).edits).toEqual([{ path: ['reasoning_effort'], value: 'high' }]);
  });

  test('where thinking cannot be turned off, as little as can be', () => {
    expect(write('kimi-k3', { reasoning: { enabled: false } })).toMatchObject({ fields: { reasoning_effort: 'low' }, losses: ['reasoning.enabled'] });
    expect(write('kimi-k2.7-code', { reasoning: { enabled: false } })).toMatchObject({
      fields: { thinking: { type: 'enabled' } },
      losses: ['reasoning.enabled'],
    });
    expect(pass('kimi-k3', { thinking: { type: 'disabled' } })).toMatchObject({
      edits: [{ path: ['thinking'] }, { path: ['reasoning_effort'], value: 'low', add: true }],
      losses: ['reasoning.enabled'],
    });
    expect(pass('kimi-k2.7-code', { thinking: { type: 'disabled' } }).edits).toEqual([{ path: ['thinking'] }]);
  });

  test('no effort is no thinking', () => {
    expect(write('kimi-k2.6', { reasoning: { effort: 'none' } }).fields).toEqual({ thinking: { type: 'disabled' } });
    expect(pass('kimi-k2.6', { reasoning_effort: 'none' }).edits).toEqual([
      { path: ['reasoning_effort'] },
      { path: ['thinking'], value: { type: 'disabled' }, add: true },
    ]);
  });

  test('a model that always thinks wants the reasoning of its calls back, whatever was asked', () => {
    const turns: Conversation['turns'] = [
      ...plain.turns,
      { role: 'assistant', parts: [{ type: 'tool-call', id: 'a', name: 'f', arguments: '{}' }] },
      { role: 'user', parts: [{ type: 'tool-result', callId: 'a', content: [{ type: 'text', text: '1' }] }] },
    ];
    const { messages } = write('kimi-k2.7-code', { turns, tools: [tool('f')], reasoning: { enabled: false } });
    expect(messages).toContainEqual(expect.objectContaining({ role: 'assistant', reasoning_content: ' ' }));
  });
});

describe('a forced call', () => {
  const tools = [tool('f'), tool('g')];
  test('outweighs thinking, where that can be turned off', () => {
    const { fields } = write('kimi-k2.6', { tools, toolChoice: { type: 'any' } });
    expect(fields).toMatchObject({ tool_choice: 'required', thinking: { type: 'disabled' } });
    expect(write('kimi-k2.7-code', { tools, toolChoice: { type: 'tool', name: 'g' } })).toMatchObject({
      fields: { tool_choice: 'auto' },
      losses: ['tool_choice'],
    });
  });

  test('of a certain tool is one of the only tool at K3', () => {
    const { fields, losses } = write('kimi-k3', { tools, toolChoice: { type: 'tool', name: 'g' } });
    expect(fields).toMatchObject({ tool_choice: 'required', tools: [{ function: { name: 'g' } }] });
    expect(losses).toEqual(['tool_choice.allowed']);
    const named = { type: 'function', function: { name: 'g' } };
    expect(pass('kimi-k3', { tools: listed('f', 'g'), tool_choice: named })).toMatchObject({
      edits: [
        { path: ['tool_choice'], value: 'required' },
        { path: ['tools'], value: listed('g') },
      ],
      losses: ['tool_choice.allowed'],
    });
    expect(pass('kimi-k3', { tools: listed('g'), tool_choice: named })).toMatchObject({ edits: [{ path: ['tool_choice'], value: 'required' }], losses: [] });
    expect(pass('kimi-k3', { tools: listed('f', 'g'), tool_choice: 'required' }).edits).toEqual([]);
  });
});

describe('unions in schemas have their types inside', () => {
  const union = { description: 'where', type: 'string', anyOf: [{ enum: ['a'] }, { type: 'null' }, { $ref: '#/$defs/x' }] };
  const typed = { description: 'where', anyOf: [{ type: 'string', enum: ['a'] }, { type: 'null' }, { $ref: '#/$defs/x' }] };
  const parameters = { type: 'object', properties: { list: { type: 'array', items: union } } };
  const expected = { type: 'object', properties: { list: { type: 'array', items: typed } } };

  test('of tools and of the reply', () => {
    expect(write('kimi-k2.6', { tools: [tool('f', parameters)] }).fields).toMatchObject({ tools: [{ function: { parameters: expected } }] });
    expect(write('kimi-k2.6', { output: { type: 'schema', schema: parameters } }).fields).toMatchObject({
      response_format: { json_schema: { schema: expected } },
    });
    const body = { tools: [...listed('a'), { type: 'function', function: { name: 'f', parameters } }] };
    expect(pass('kimi-k2.6', body).edits).toEqual([{ path: ['tools', 1, 'function', 'parameters'], value: expected }]);
  });

  test('at the root too, and nowhere else', () => {
    const root = { type: 'object', properties: { a: {} }, anyOf: [{ required: ['a'] }] };
    const body = (schema: object) => ({ tools: [{ type: 'function', function: { name: 'f', parameters: schema } }] });
    expect(pass('kimi-k3', body(root)).edits).toMatchObject([{ value: { properties: { a: {} }, anyOf: [{ type: 'object', required: ['a'] }] } }]);
    expect(pass('kimi-k3', body({ type: 'object', properties: { anyOf: { type: 'string' } } })).edits).toEqual([]);
    expect(pass('deepseek-v4-pro', body(parameters)).edits).toEqual([]);
  });
});

describe('images by address', () => {
  const asked = (url: string) => ({ messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }] });
  test('are told as an address where nobody may fetch them', () => {
    const turns: Conversation['turns'] = [{ role: 'user', parts: [{ type: 'media', kind: 'image', url: 'https://x.test/a.png' }] }];
    expect(write('kimi-k2.6', { turns })).toMatchObject({
      messages: [{ content: [{ type: 'text', text: '[image: https://x.test/a.png]' }] }],
      losses: ['image.url'],
    });
    expect(write('qwen3.6-plus', { turns }).losses).toEqual([]);
  });
  test('make a body be written anew', () => {
    expect(pass('kimi-k2.6', asked('https://x.test/a.png')).taken).toBe(false);
    expect(pass('kimi-k2.6', asked('data:image/png;base64,AAAA')).taken).toBe(true);
    expect(pass('qwen3.6-plus', asked('https://x.test/a.png')).taken).toBe(true);
  });
});

describe('relays and self-hosted servers take sampling and images by address', () => {
  const url = 'https://x.test/a.png';
  test.each(['https://openrouter.ai/api/v1', 'http://127.0.0.1:8000/v1', 'https://notkimi.com', 'https://relay.test/api.moonshot.ai'])('%s', (baseUrl) => {
    const turns: Conversation['turns'] = [{ role: 'user', parts: [{ type: 'media', kind: 'image', url }] }];
    const { fields, messages, losses } = write('moonshotai/kimi-k2.6', { turns, sampling: { temperature: 0.2 } }, baseUrl);
    expect({ fields, messages, losses }).toMatchObject({ fields: { temperature: 0.2 }, messages: [{ content: [{ image_url: { url } }] }], losses: [] });
    const body = { temperature: 0.2, messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }] };
    expect(pass('moonshotai/kimi-k2.6', body, baseUrl)).toMatchObject({ edits: [], taken: true });
  });

  test.each(['https://api.moonshot.cn/v1', 'https://API.kimi.com:443/coding/v1'])('the vendor does not: %s', (baseUrl) => {
    expect(write('kimi-k2.6', { sampling: { temperature: 0.2 } }, baseUrl)).toMatchObject({ fields: {}, losses: ['temperature'] });
  });
});
