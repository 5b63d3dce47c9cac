/** What an upstream is sent: the rules of the wire about order, pairing and conflicts, and the round trip. */
import { describe, expect, test } from '@jest/globals';
import { readContext, recorded, seal, writeContext } from '../../../test/support/beta.ts';
import type { Conversation, Part, Turn } from '../../chat/conversation.ts';
import type { WriteRequestContext } from '../../contract/index.ts';
import { readRequest } from '../shared/read-request.ts';
import { writeRequest } from './write-request.ts';

type Body = Record<string, unknown> & { messages: { role: string; content: Record<string, unknown>[] }[] };

const conversation = (fields: Partial<Conversation> = {}): Conversation => ({
  system: [],
  turns: [{ role: 'user', parts: [{ type: 'text', text: 'hi' }] }],
  tools: [],
  sampling: {},
  stream: false,
  ...fields,
});
const write = (fields: Partial<Conversation>, model?: string, changes: Partial<WriteRequestContext> = {}) => {
  const { body, losses } = writeRequest(conversation(fields), writeContext(model, changes));
  return { body: body as Body, losses: losses.map(({ action, field }) => `${action} ${field}`) };
};
const user = (...parts: Part[]): Turn => ({ role: 'user', parts });
const assistant = (...parts: Part[]): Turn => ({ role: 'assistant', parts });
const text = (value: string): Part => ({ type: 'text', text: value });
const call = (id: string, name = 'f'): Part => ({ type: 'tool-call', id, name, arguments: '{}' });
const result = (callId: string, value = 'ok', name?: string): Part => ({
  type: 'tool-result',
  callId,
  content: [{ type: 'text', text: value }],
  ...(name !== undefined && { name }),
});
const messagesOf = (turns: Turn[], model?: string) => write({ turns }, model).body.messages;

describe('turns', () => {
  test('equal neighbours are merged, results come first, blank text goes', () => {
    const messages = messagesOf([
      user(text('a')),
      assistant(text(' '), call('1'), call('2')),
      user(text('before'), result('2')),
      user(result('1'), text('after')),
    ]);
    expect(messages.map(({ role, content }) => [role, content.map((block) => block['type'])])).toEqual([
      ['user', ['text']],
      ['assistant', ['tool_use', 'tool_use']],
      ['user', ['tool_result', 'tool_result', 'text', 'text']],
    ]);
  });

  test('ids: good ones stay; malformed, long, repeated and missing ones are replaced the same way each time, on both sides', () => {
    const long = 'x'.repeat(70);
    const turns = [
      user(text('a')),
      assistant(call('call_ok'), call('bad id!'), call(long), call('', 'now')),
      user(result('call_ok'), result(long), result('bad id!'), result('', 'noon', 'now')),
      assistant(call('call_ok')),
      user(result('call_ok', 'again')),
    ];
    const messages = messagesOf(turns);
    const ids = messages.flatMap(({ content }) => content.flatMap((block) => (block['type'] === 'tool_use' ? [block['id'] as string] : [])));
    const answered = messages.flatMap(({ content }) => content.flatMap((block) => (block['type'] === 'tool_result' ? [block['tool_use_id'] as string] : [])));
    expect(ids[0]).toBe('call_ok');
    expect(new Set(ids).size).toBe(5);
    for (const id of ids) expect(id).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(answered).toEqual([ids[0], ids[2], ids[1], ids[3], ids[4]]);
    expect(messagesOf(turns)).toEqual(messages);
  });

  test('arguments: none mean {}, what is no object is wrapped', () => {
    const parts = ['', '{"a":1}', '[1]', '{"cut'].map((value, place): Part => ({ type: 'tool-call', id: `c${place}`, name: 'f', arguments: value }));
    const { body, losses } = write({ turns: [user(text('a')), assistant(...parts)] });
    expect(body.messages[1]?.content.map((block) => block['input'])).toEqual([{}, { a: 1 }, { input: '[1]' }, { input: '{"cut' }]);
    expect(losses).toEqual(['downgraded tool_use.input', 'emulated tool_result']);
  });

  test('a call that nothing answers is answered; a result without its call becomes text', () => {
    const { body, losses } = write({
      turns: [user(text('a')), assistant(call('1'), call('2')), user(result('1')), assistant(text('b')), user(result('9', 'lost'))],
    });
    expect(body.messages[2]?.content).toEqual([
      { type: 'tool_result', tool_use_id: '1', content: [{ type: 'text', text: 'ok' }] },
      { type: 'tool_result', tool_use_id: '2', content: [{ type: 'text', text: 'No result was recorded.' }], is_error: true },
    ]);
    expect(body.messages[4]?.content).toEqual([
      { type: 'text', text: '[tool result]' },
      { type: 'text', text: 'lost' },
    ]);
    expect(losses).toEqual(['emulated tool_result', 'downgraded tool_result']);
  });

  test('the first message is the user’s; system text alone is the user’s too; a begun reply does not end in blanks', () => {
    expect(messagesOf([assistant(text('Hello')), user(text('hi'))])[0]?.role).toBe('user');
    const alone = write({ turns: [], system: [{ text: 'do it' }] });
    expect(alone.body).toMatchObject({ messages: [{ role: 'user', content: [{ type: 'text', text: 'do it' }] }] });
    expect(alone.body).not.toHaveProperty('system');
    expect(messagesOf([user(text('hi')), assistant(text('{ \n'))])[1]?.content[0]).toEqual({ type: 'text', text: '{' });
  });

  test('system text between turns: as it is where the model takes it, else inside the user turn, never between a call and its result', () => {
    const system: Turn = { role: 'system', parts: [text('new rule')] };
    expect(messagesOf([user(text('a')), system], 'claude-opus-4-8').map(({ role }) => role)).toEqual(['user', 'system']);
    expect(messagesOf([user(text('a')), system])[0]?.content[1]).toEqual({ type: 'text', text: '<system>\nnew rule\n</system>' });
    const loop = messagesOf([user(text('a')), assistant(call('1')), system, user(result('1'))], 'claude-opus-4-8');
    expect(loop.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    expect(loop[2]?.content[0]?.['type']).toBe('tool_result');
  });

  test('media: PDF and images as they are, text files as text, the rest as a note', () => {
    const parts: Part[] = [
      { type: 'media', kind: 'image', mimeType: 'image/png', data: 'AA==' },
      { type: 'media', kind: 'document', mimeType: 'application/pdf', data: 'AA==', filename: 'a.pdf' },
      { type: 'media', kind: 'document', mimeType: 'text/csv', data: Buffer.from('a,ü').toString('base64') },
      { type: 'media', kind: 'audio', mimeType: 'audio/wav', data: 'AA==' },
      { type: 'media', kind: 'document', fileId: 'file-foreign' },
    ];
    const { body, losses } = write({ turns: [user(...parts)] });
    expect(body.messages[0]?.content).toEqual([
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } },
      { type: 'document', title: 'a.pdf', source: { type: 'base64', media_type: 'application/pdf', data: 'AA==' } },
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'a,ü' } },
      { type: 'text', text: '[audio omitted: audio/wav]' },
      { type: 'text', text: '[document omitted]' },
    ]);
    expect(losses).toEqual(['renamed media.filename', 'downgraded media']);
  });
});

describe('thinking', () => {
  const signed: Part = { type: 'thinking', text: 'hm', signature: seal('proof') };

  test('our signature is opened; a foreign one is left out, and its thinking never becomes assistant text', () => {
    const parts: Part[] = [
      signed,
      { type: 'thinking', text: 'foreign', signature: 'raw' },
      { type: 'thinking', text: '', redacted: true, signature: 'raw' },
      text('x'),
    ];
    const { body, losses } = write({ turns: [user(text('a')), assistant(...parts), user(text('b'))] });
    expect(body.messages[1]?.content).toEqual([
      { type: 'thinking', thinking: 'hm', signature: 'proof' },
      { type: 'text', text: 'x' },
    ]);
    expect(losses).toEqual(expect.arrayContaining(['dropped thinking.signature', 'dropped thinking']));
  });

  test('a budget needs the thinking of the calls being answered; effort in words does not', () => {
    const turns = [user(text('a')), assistant(call('1')), user(result('1'))];
    const reasoning = { enabled: true, budget: 2000 };
    const without = write({ turns, reasoning });
    expect(without.body).not.toHaveProperty('thinking');
    expect(without.losses).toContain('dropped reasoning');
    const replayed = [user(text('a')), assistant(signed, call('1')), user(result('1'))];
    expect(write({ turns: replayed, reasoning }).body['thinking']).toEqual({ type: 'enabled', budget_tokens: 2000 });
    // The loop is one turn: it must begin with thinking, and may go on without.
    const later = [...replayed, assistant(call('2')), user(result('2'))];
    expect(write({ turns: later, reasoning }).body['thinking']).toEqual({ type: 'enabled', budget_tokens: 2000 });
    const begunElsewhere = [...turns, assistant(signed, call('2')), user(result('2'))];
    expect(write({ turns: begunElsewhere, reasoning }).body).not.toHaveProperty('thinking');
    expect(write({ turns: [...begunElsewhere, assistant(text('done')), user(text('next'))], reasoning }).body).toHaveProperty('thinking');
    expect(write({ turns, reasoning: { effort: 'high' } }, 'claude-opus-4-6').body).toMatchObject({
      thinking: { type: 'adaptive' },
      output_config: { effort: 'high' },
    });
  });

  test('effort becomes a budget below max_tokens, or nothing where max_tokens is too small', () => {
    expect(write({ reasoning: { effort: 'medium' } }).body['thinking']).toEqual({ type: 'enabled', budget_tokens: 8192 });
    expect(write({ reasoning: { effort: 'high' }, sampling: { maxTokens: 4000 } }).body['thinking']).toEqual({ type: 'enabled', budget_tokens: 3200 });
    expect(write({ reasoning: { effort: 'high' }, sampling: { maxTokens: 1000 } }).body).not.toHaveProperty('thinking');
    expect(write({ reasoning: { effort: 'none' } }).body['thinking']).toEqual({ type: 'disabled' });
    expect(write({ reasoning: { effort: 'high' } }, 'claude-3-5-haiku-20241022').body).not.toHaveProperty('thinking');
  });

  test('effort is said in the words that the model knows', () => {
    expect(write({ reasoning: { effort: 'xhigh' } }, 'claude-opus-4-6').body['output_config']).toEqual({ effort: 'high' });
    expect(write({ reasoning: { effort: 'minimal' } }, 'claude-opus-4-7').body['output_config']).toEqual({ effort: 'low' });
    expect(write({ reasoning: { budget: 9000, enabled: true } }, 'claude-sonnet-5').body['output_config']).toEqual({ effort: 'high' });
  });

  test('conflicts: a forced tool wins over thinking, thinking over sampling', () => {
    const tools = [{ type: 'function' as const, name: 'f' }];
    const forced = write({ reasoning: { enabled: true, budget: 2000 }, tools, toolChoice: { type: 'any' } });
    expect(forced.body).not.toHaveProperty('thinking');
    expect(forced.body['tool_choice']).toEqual({ type: 'any' });
    const warm = write({ reasoning: { enabled: true, budget: 2000 }, sampling: { temperature: 0.3, topK: 5, topP: 0.5 } });
    expect(warm.body).not.toHaveProperty('temperature');
    expect(warm.losses).toEqual(['dropped temperature', 'dropped top_p', 'dropped top_k']);
  });
});

describe('parameters', () => {
  test('max_tokens is always there, as much as the generation takes', () => {
    const of = (model: string) => write({}, model).body['max_tokens'];
    expect([
      of('claude-3-haiku-20240307'),
      of('claude-3-5-sonnet-20241022'),
      of('claude-sonnet-4-20250514'),
      of('us.anthropic.claude-opus-4-8-v1:0'),
      of('glm-5'),
    ]).toEqual([4096, 8192, 32_000, 64_000, 4096]);
    expect(write({ sampling: { maxTokens: 7 } }).body['max_tokens']).toBe(7);
  });

  test('tools: schemas are objects, foreign server tools are declared, own ones go raw, choice and parallelism', () => {
    const raw = { type: 'web_search_20250305', name: 'web_search' };
    const { body, losses } = write({
      tools: [
        { type: 'function', name: 'f', parameters: { properties: { a: { type: 'string' } } } },
        { type: 'function', name: 'g' },
        { type: 'server', name: 'web_search', raw, rawProtocol: 'beta' },
        { type: 'server', name: 'googleSearch', raw: {}, rawProtocol: 'gamma' },
      ],
      toolChoice: { type: 'auto' },
      parallelToolCalls: false,
    });
    expect(body['tools']).toEqual([
      { name: 'f', input_schema: { type: 'object', properties: { a: { type: 'string' } } } },
      { name: 'g', input_schema: { type: 'object', properties: {} } },
      raw,
    ]);
    expect(body['tool_choice']).toEqual({ type: 'auto', disable_parallel_tool_use: true });
    expect(losses).toEqual(['dropped tools.3']);
  });

  test('the note that zod writes into its schemas makes none of them another one', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false };
    const noted = { $schema: 'http://json-schema.org/draft-07/schema#', ...schema };
    const { body, losses } = write({ tools: [{ type: 'function', name: 'f', parameters: noted, strict: true }], output: { type: 'schema', schema: noted } });
    expect(body['tools']).toEqual([{ name: 'f', input_schema: schema, strict: true }]);
    expect(body['output_config']).toEqual({ format: { type: 'json_schema', schema } });
    expect(losses).toEqual([]);
    const open = { ...noted, properties: { a: { type: 'object', properties: {}, additionalProperties: true } } };
    expect(write({ output: { type: 'schema', schema: open } }).losses).toEqual(['downgraded response_format.schema']);
    expect(write({ output: { type: 'schema', schema: { ...noted, properties: { a: { oneOf: [{ type: 'null' }] } } } } }).losses).toHaveLength(1);
    expect(write({ tools: [{ type: 'function', name: 'f', parameters: { ...noted, minProperties: 1 }, strict: true }] }).losses).toEqual([
      'dropped tools.0.strict',
    ]);
  });

  test('without tools only a call that is demanded is lost', () => {
    expect(write({ toolChoice: { type: 'auto' } })).toMatchObject({ losses: [] });
    expect(write({ toolChoice: { type: 'none' } })).toMatchObject({ losses: [] });
    expect(write({ toolChoice: { type: 'any' } })).toMatchObject({ losses: ['dropped tool_choice'] });
  });

  test('output: a schema natively, closed; older models by a forced tool, or in words beside tools of the caller; JSON mode in words', () => {
    const schema = { type: 'object', properties: { n: { type: 'integer', minimum: 1, description: 'count' } } };
    const native = write({ output: { type: 'schema', schema, name: 'x' } });
    expect(native.body['output_config']).toEqual({
      format: {
        type: 'json_schema',
        schema: { type: 'object', properties: { n: { type: 'integer', description: 'count\n\n{minimum: 1}' } }, additionalProperties: false },
      },
    });
    expect(native.losses).toEqual(['renamed response_format.name', 'downgraded response_format.schema']);
    expect(schema.properties.n.minimum).toBe(1);
    const forced = write({ output: { type: 'schema', schema } }, 'claude-3-haiku-20240307');
    expect(forced.body).toMatchObject({
      tools: [{ name: 'structured_output', input_schema: schema }],
      tool_choice: { type: 'tool', name: 'structured_output' },
    });
    expect(forced.losses).toEqual(['emulated response_format']);
    const tools = [{ type: 'function', name: 'own' }] as const;
    const words = write({ output: { type: 'schema', schema }, tools: [...tools] }, 'claude-3-haiku-20240307');
    expect(JSON.stringify(words.body['system'])).toContain('JSON schema');
    expect(words.body['tools']).toMatchObject([{ name: 'own' }]);
    expect(words.losses).toEqual(['emulated response_format']);
    expect(write({ output: { type: 'json' } }).losses).toEqual(['emulated response_format']);
  });

  test('sampling is kept within what the model takes', () => {
    const sampling = { temperature: 1.7, topP: 0.9, seed: 1, stop: ['\n', 'END'] };
    const { body, losses } = write({ sampling });
    expect(body).toMatchObject({ temperature: 1, stop_sequences: ['END'] });
    expect(losses).toEqual(['downgraded temperature', 'dropped top_p', 'dropped stop', 'dropped seed']);
    expect(write({ sampling: { temperature: 0.5 } }, 'claude-opus-4-8').body).not.toHaveProperty('temperature');
  });

  test('a penalty of zero is none, and no loss', () => {
    expect(write({ sampling: { presencePenalty: 0, frequencyPenalty: 0 } }).losses).toEqual([]);
    expect(write({ sampling: { presencePenalty: 0.5, frequencyPenalty: -1 } }).losses).toEqual(['dropped presence_penalty', 'dropped frequency_penalty']);
  });

  test('a default that the model does not take is left out, and nothing is lost', () => {
    const both = write({ sampling: { temperature: 0.2, topP: 1 } });
    expect([both.body['temperature'], both.body['top_p'], both.losses]).toEqual([0.2, undefined, []]);
    const fixed = write({ sampling: { temperature: 1, topP: 1 } }, 'claude-opus-4-8');
    expect([fixed.body['temperature'], fixed.body['top_p'], fixed.losses]).toEqual([undefined, undefined, []]);
    expect(write({ sampling: { topP: 1 } })).toMatchObject({ body: { top_p: 1 }, losses: [] });
  });

  test('at most four cache marks, the last ones', () => {
    const system = ['a', 'b', 'c', 'd', 'e'].map((value) => ({ text: value, cache: {} }));
    const { body, losses } = write({ system });
    expect((body['system'] as Record<string, unknown>[]).map((block) => 'cache_control' in block)).toEqual([false, true, true, true, true]);
    expect(losses).toEqual(['dropped cache_control']);
  });

  test('a token counter is sent only the fields it counts', () => {
    const { body } = write({ sampling: { maxTokens: 5, temperature: 1 }, user: 'u', stream: true }, undefined, { operation: 'count-tokens' });
    expect(Object.keys(body)).toEqual(['model', 'messages']);
  });
});

describe('recorded requests', () => {
  for (const { name, text: body } of recorded('request.json')) {
    test(`read, written, read again: ${name}`, () => {
      const parsed = JSON.parse(body) as { model: string; max_tokens?: number };
      const operation = parsed.max_tokens === undefined ? 'count-tokens' : 'generate';
      const first = readRequest(parsed, { ...readContext, operation }).conversation;
      const context = writeContext(parsed.model, { operation, stream: first.stream, openSignature: (signature) => signature });
      const written = writeRequest(first, context);
      const again = readRequest(JSON.parse(JSON.stringify(written.body)), { ...readContext, operation }).conversation;
      expect(again.turns).toEqual(first.turns.filter((turn) => turn.parts.length > 0));
      expect(again.system).toEqual(first.system);
      expect(again.toolChoice).toEqual(first.toolChoice);
      expect(again.tools.map(({ name: tool, raw }) => [tool, raw])).toEqual(first.tools.map(({ name: tool, raw }) => [tool, raw]));
      if (operation === 'generate') expect(again.sampling.maxTokens).toBe(first.sampling.maxTokens);
      const lost = written.losses.map(({ field }) => field);
      if (!lost.some((field) => field.startsWith('reasoning'))) expect(again.reasoning).toEqual(first.reasoning);
      if (!lost.some((field) => field.startsWith('response_format'))) expect(again.output).toEqual(first.output);
    });
  }
});
