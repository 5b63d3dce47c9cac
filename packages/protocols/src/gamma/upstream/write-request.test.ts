/** Canonical requests as gamma bodies: order and pairing of results, signatures, schemas, thinking by family, and declared losses. */
import { describe, expect, test } from '@jest/globals';
import type { Conversation, Part, Reasoning, Tool, Turn } from '../../chat/conversation.ts';
import { writeContext } from '../test-support.ts';
import { writeRequest } from './write-request.ts';

const base: Conversation = { system: [], turns: [{ role: 'user', parts: [{ type: 'text', text: 'Hi' }] }], tools: [], sampling: {}, stream: false };
const turn = (role: Turn['role'], ...parts: Part[]): Turn => ({ role, parts });
const write = (change: Partial<Conversation>, model?: string): { body: Record<string, unknown>; losses: string[] } => {
  const { body, losses } = writeRequest({ ...base, ...change }, writeContext(model));
  return { body: body as Record<string, unknown>, losses: losses.map((loss) => `${loss.field} ${loss.action}`) };
};
/** A user turn before turns that begin with the model's, which is taken off again. */
const opening: Turn = { role: 'user', parts: [{ type: 'text', text: 'q' }] };
const contents = (turns: Turn[], model?: string): unknown =>
  turns[0]?.role === 'assistant'
    ? (write({ turns: [opening, ...turns] }, model).body['contents'] as unknown[]).slice(1)
    : write({ turns }, model).body['contents'];
const call = (id: string, name = 'f', args = '{}', signature?: string): Part => ({
  type: 'tool-call',
  id,
  name,
  arguments: args,
  ...(signature && { signature }),
});
const result = (callId: string, text: string, more: object = {}): Part => ({ type: 'tool-result', callId, content: [{ type: 'text', text }], ...more });
const old = 'gemini-2.5-flash';

describe('contents', () => {
  test('roles merge, results of several turns follow the order of their calls, names come from the calls', () => {
    expect(
      contents(
        [
          turn('user', { type: 'text', text: 'a' }),
          turn('user', { type: 'text', text: 'b' }),
          turn('assistant', { type: 'text', text: 'c' }),
          turn('assistant', call('1', 'one', '{"x":1}'), call('2', 'two', '')),
          turn('user', result('2', 'second'), { type: 'text', text: 'and?' }),
          turn('user', result('1', 'first', { isError: true })),
        ],
        old,
      ),
    ).toEqual([
      { role: 'user', parts: [{ text: 'a' }, { text: 'b' }] },
      {
        role: 'model',
        parts: [{ text: 'c' }, { functionCall: { id: '1', name: 'one', args: { x: 1 } } }, { functionCall: { id: '2', name: 'two', args: {} } }],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { id: '1', name: 'one', response: { error: 'first' } } },
          { functionResponse: { id: '2', name: 'two', response: { result: 'second' } } },
          { text: 'and?' },
        ],
      },
    ]);
  });

  test('without ids, pairs are found by name and order, and no id is minted', () => {
    const turns = [
      turn('assistant', call('', 'f'), call('', 'g'), call('', 'f')),
      turn('user', result('', 'f1', { name: 'f' }), result('', 'f2', { name: 'f' }), result('', 'g1', { name: 'g' })),
    ];
    expect(contents(turns, old)).toMatchObject([
      {},
      {
        parts: [
          { functionResponse: { name: 'f', response: { result: 'f1' } } },
          { functionResponse: { name: 'g' } },
          { functionResponse: { name: 'f', response: { result: 'f2' } } },
        ],
      },
    ]);
    expect(JSON.stringify(contents(turns, old))).not.toContain('"id"');
  });

  test('an object result stays the object', () => {
    expect(contents([turn('assistant', call('1')), turn('user', result('1', '{"a":1}', { json: { a: 1 } }))], old)).toMatchObject([
      {},
      { parts: [{ functionResponse: { response: { a: 1 } } }] },
    ]);
  });

  test('images in results stay inside on models that take them, and follow the result on others', () => {
    const turns = [
      turn('assistant', call('1')),
      turn('user', {
        type: 'tool-result',
        callId: '1',
        content: [
          { type: 'text', text: 't' },
          { type: 'media', kind: 'image', data: 'iVBORw==' },
        ],
      }),
    ];
    const image = { inlineData: { mimeType: 'image/png', data: 'iVBORw==' } };
    expect(contents(turns, 'gemini-3-pro-preview')).toMatchObject([{}, { parts: [{ functionResponse: { response: { result: 't' }, parts: [image] } }] }]);
    expect(contents(turns, old)).toMatchObject([{}, { parts: [{ functionResponse: { response: { result: 't' } } }, image] }]);
    expect(write({ turns: [opening, ...turns] }, old).losses).toEqual(['messages.tool_result.content renamed']);
  });

  test('system turns in between speak as the user, a lone system text too', () => {
    expect(write({ turns: [turn('user', { type: 'text', text: 'a' }), turn('system', { type: 'text', text: 's' })] }).body['contents']).toEqual([
      { role: 'user', parts: [{ text: 'a' }, { text: 's' }] },
    ]);
    const alone = write({ turns: [], system: [{ text: 's' }] });
    expect([alone.body, alone.losses]).toEqual([{ contents: [{ role: 'user', parts: [{ text: 's' }] }] }, ['system renamed']]);
  });

  test('a conversation that begins with the model gets a user turn in front', () => {
    const { body, losses } = write({ turns: [turn('assistant', { type: 'text', text: 'Hello' }), turn('user', { type: 'text', text: 'Hi' })] });
    expect(body['contents']).toEqual([
      { role: 'user', parts: [{ text: '…' }] },
      { role: 'model', parts: [{ text: 'Hello' }] },
      { role: 'user', parts: [{ text: 'Hi' }] },
    ]);
    expect(losses).toEqual(['messages.0 emulated']);
  });

  test('media', () => {
    const media = (part: object): unknown =>
      (contents([turn('user', { type: 'media', kind: 'image', ...part } as Part)]) as { parts: unknown[] }[])[0]!.parts[0];
    expect(media({ data: '/9j/AA==' })).toEqual({ inlineData: { mimeType: 'image/jpeg', data: '/9j/AA==' } });
    expect(media({ url: 'data:image/webp;base64,AA==' })).toEqual({ inlineData: { mimeType: 'image/webp', data: 'AA==' } });
    expect(media({ url: 'https://example.com/a.png' })).toEqual({ fileData: { fileUri: 'https://example.com/a.png', mimeType: 'image/png' } });
    expect(media({ fileId: 'gs://b/o', mimeType: 'image/png' })).toEqual({ fileData: { fileUri: 'gs://b/o', mimeType: 'image/png' } });
    expect(media({ fileId: 'file-abc' })).toEqual({ text: '[image not available]' });
    expect(media({ kind: 'document', text: 'plain' })).toEqual({ text: 'plain' });
    // Which the vendor refuses with the whole request.
    for (const drawing of [{ data: 'PHN2Zz4=', mimeType: 'image/svg+xml' }, { url: 'data:image/svg+xml;charset=utf-8;base64,PHN2Zz4=' }])
      expect(media(drawing)).toEqual({ text: '[image omitted: image/svg+xml]' });
  });

  test('broken arguments are wrapped, not lost', () => {
    const { body, losses } = write({ turns: [opening, turn('assistant', call('1', 'f', '{"a":'))] }, old);
    expect(body['contents']).toMatchObject([{}, { parts: [{ functionCall: { args: { input: '{"a":' } } }] }]);
    expect(losses).toEqual(['messages.tool_calls.arguments downgraded']);
  });
});

describe('signatures', () => {
  const thought: Part = { type: 'thinking', text: 'hm', signature: 'c2VhbGVkQUJD' };

  test('ours are opened on the very same part', () => {
    const turns = [turn('assistant', thought, { type: 'text', text: '', signature: 'c2VhbGVkREVG' }, call('1', 'f', '{}', 'c2VhbGVkR0hJ'))];
    expect(contents(turns)).toEqual([
      {
        role: 'model',
        parts: [
          { text: 'hm', thought: true, thoughtSignature: 'QUJD' },
          { text: '', thoughtSignature: 'REVG' },
          { functionCall: { id: '1', name: 'f', args: {} }, thoughtSignature: 'R0hJ' },
        ],
      },
    ]);
  });

  test('others go, with readable text and calls kept; families that check get the escape value on the first call alone', () => {
    const turns = [
      turn('assistant', { ...thought, signature: 'foreign' }, { type: 'text', text: 'a', signature: 'foreign' }, call('1', 'f', '{}', 'foreign'), call('2')),
    ];
    expect(contents(turns, 'gemini-3-pro-preview')).toEqual([
      {
        role: 'model',
        parts: [
          { text: 'hm', thought: true },
          { text: 'a' },
          { functionCall: { id: '1', name: 'f', args: {} }, thoughtSignature: 'skip_thought_signature_validator' },
          { functionCall: { id: '2', name: 'f', args: {} } },
        ],
      },
    ]);
    expect(write({ turns: [opening, ...turns] }, 'gemini-3-pro-preview').losses).toEqual([
      'messages.signature dropped',
      'messages.tool_calls.signature emulated',
    ]);
    const opaque: Part = { type: 'thinking', text: '', signature: 'foreign', redacted: true };
    expect(write({ turns: [opening, turn('assistant', opaque, call('1'))] }, old)).toMatchObject({
      body: { contents: [{}, { parts: [{ functionCall: { id: '1' } }] }] },
      losses: ['messages.thinking dropped'],
    });
    expect(JSON.stringify(contents(turns, old))).not.toContain('thoughtSignature');
  });

  test('the escape value of a caller passes as it is', () => {
    expect(JSON.stringify(contents([turn('assistant', call('1', 'f', '{}', 'skip_thought_signature_validator'))], old))).toContain(
      'skip_thought_signature_validator',
    );
  });
});

describe('tools', () => {
  const tools = (list: Tool[]): unknown => write({ tools: list }).body['tools'];
  const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };

  test('functions in one entry, built-in ones as they came, others declared', () => {
    const list: Tool[] = [
      { type: 'function', name: 'f', description: 'd', parameters: schema, strict: true },
      { type: 'function', name: 'none', parameters: { type: 'object', properties: {}, additionalProperties: false, $schema: 'x' } },
      { type: 'server', name: 'googleSearch', raw: { googleSearch: {} }, rawProtocol: 'gamma' },
      { type: 'server', name: 'web_search', raw: {}, rawProtocol: 'beta' },
    ];
    expect(tools(list)).toEqual([
      {
        functionDeclarations: [{ name: 'f', description: 'd', parameters: schema }, { name: 'none' }],
      },
      { googleSearch: {} },
    ]);
    expect(write({ tools: list }).losses).toEqual(['tools.strict dropped', 'tools dropped']);
  });

  test('a schema beyond the subset goes into parametersJsonSchema', () => {
    const parameters = { ...schema, additionalProperties: false, $schema: 'http://json-schema.org/draft-07/schema#' };
    expect(tools([{ type: 'function', name: 'f', parameters }])).toEqual([
      { functionDeclarations: [{ name: 'f', parametersJsonSchema: { ...schema, additionalProperties: false } }] },
    ]);
  });

  test('choice', () => {
    const choice = (toolChoice: Conversation['toolChoice']): unknown =>
      write({ tools: [{ type: 'function', name: 'f' }], ...(toolChoice && { toolChoice }) }).body['toolConfig'];
    expect([
      choice(undefined),
      choice({ type: 'auto' }),
      choice({ type: 'none' }),
      choice({ type: 'any' }),
      choice({ type: 'tool', name: 'f' }),
      choice({ type: 'auto', allowed: ['f'] }),
    ]).toEqual([
      undefined,
      undefined,
      { functionCallingConfig: { mode: 'NONE' } },
      { functionCallingConfig: { mode: 'ANY' } },
      { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['f'] } },
      { functionCallingConfig: { mode: 'VALIDATED', allowedFunctionNames: ['f'] } },
    ]);
    const without = write({ toolChoice: { type: 'any' } });
    expect(without.body['toolConfig']).toBeUndefined();
    expect(without.losses).toEqual(['tool_choice dropped']);
    expect(write({ toolChoice: { type: 'none' } }).losses).toEqual([]);
  });
});

describe('settings', () => {
  test('sampling, answers and what has no counterpart', () => {
    const { body, losses } = write({
      sampling: {
        maxTokens: 10,
        temperature: 1,
        topP: 0.5,
        topK: 3,
        stop: ['1', '2', '3', '4', '5', '6'],
        seed: 1,
        logprobs: true,
        topLogprobs: 2,
        choices: 2,
        logitBias: { a: 1 },
      },
      output: { type: 'schema', schema: { type: 'object', properties: { a: { type: 'integer' } } } },
      ...{ user: 'u', metadata: {}, verbosity: 'low', serviceTier: 'flex', promptCacheKey: 'k', parallelToolCalls: false },
      system: [{ text: 's', cache: {} }],
    });
    expect(body['generationConfig']).toEqual({
      ...{ maxOutputTokens: 10, temperature: 1, topP: 0.5, topK: 3, stopSequences: ['1', '2', '3', '4', '5'], seed: 1, responseLogprobs: true, logprobs: 2 },
      ...{ responseMimeType: 'application/json', responseSchema: { type: 'object', properties: { a: { type: 'integer' } } } },
    });
    expect(body['systemInstruction']).toEqual({ parts: [{ text: 's' }] });
    expect(body['serviceTier']).toBe('flex');
    expect(losses).toEqual([
      ...['stop downgraded', 'parallel_tool_calls dropped', 'user dropped', 'metadata dropped', 'verbosity dropped', 'prompt_cache_key dropped'],
      ...['n dropped', 'logit_bias dropped', 'system.cache_control dropped'],
    ]);
    const context = writeContext();
    const vertex = { ...context, target: { ...context.target, baseUrl: 'https://europe-west4-aiplatform.googleapis.com/v1' } };
    const there = writeRequest({ ...base, serviceTier: 'flex' }, vertex);
    expect([there.body, there.losses.map(({ field }) => field)]).toEqual([expect.not.objectContaining({ serviceTier: 'flex' }), ['service_tier']]);
    expect(write({ output: { type: 'json' } }).body['generationConfig']).toEqual({ responseMimeType: 'application/json' });
    // The vendor's earlier generations answer 400 to a format beside functions.
    const tools: Tool[] = [{ type: 'function', name: 'f' }];
    const output = { type: 'schema', schema: { type: 'object', properties: { a: { type: 'integer' } } } } as const;
    const beside = write({ tools, output }, old);
    expect(beside.body).not.toHaveProperty('generationConfig');
    expect(JSON.stringify(beside.body['systemInstruction'])).toContain('fits this JSON schema');
    expect(beside.losses).toEqual(['response_format emulated']);
    expect(writeRequest({ ...base, tools, output }, writeContext(old)).emulation).toEqual({ schema: output.schema });
    expect(writeRequest({ ...base, tools, output: { type: 'json' } }, writeContext(old)).emulation).toEqual({});
    expect(write({ tools, output }, 'gemini-3-pro-preview').body['generationConfig']).toHaveProperty('responseMimeType');
  });

  test.each<[string, Reasoning, unknown, boolean]>([
    ['gemini-2.5-flash', { effort: 'medium' }, { thinkingBudget: 8192, includeThoughts: true }, false],
    ['gemini-2.5-flash', { effort: 'max' }, { thinkingBudget: 24_576, includeThoughts: true }, false],
    ['gemini-2.5-flash', { budget: 90_000, summary: 'none' }, { thinkingBudget: 24_576 }, true],
    ['gemini-2.5-flash', { enabled: false }, { thinkingBudget: 0 }, false],
    ['gemini-2.5-pro', { effort: 'none' }, { thinkingBudget: 128 }, true],
    ['gemini-2.5-pro', { enabled: true, adaptive: true }, { thinkingBudget: -1, includeThoughts: true }, false],
    ['gemini-2.5-pro', { budget: -1 }, { thinkingBudget: -1, includeThoughts: true }, false],
    ['gemini-2.0-flash', { effort: 'high' }, undefined, true],
    ['gemini-3-pro-preview', { effort: 'medium' }, { thinkingLevel: 'HIGH', includeThoughts: true }, false],
    ['gemini-3.1-pro-preview', { effort: 'medium' }, { thinkingLevel: 'MEDIUM', includeThoughts: true }, false],
    ['gemini-3-pro-preview', { enabled: false }, { thinkingLevel: 'LOW' }, true],
    ['gemini-3-flash-preview', { effort: 'minimal' }, { thinkingLevel: 'MINIMAL', includeThoughts: true }, false],
    ['models/gemini-3-flash-preview', { budget: 5000 }, { thinkingLevel: 'MEDIUM', includeThoughts: true }, true],
    ['gemini-3-flash-preview', { enabled: true }, { includeThoughts: true }, false],
    ['gemini-3.8-flash', { effort: 'minimal' }, { thinkingLevel: 'LOW', includeThoughts: true }, false],
    ['gemini-4-argon', { enabled: false }, { thinkingLevel: 'LOW' }, true],
    ['gemini-4-argon', { effort: 'xhigh' }, { thinkingLevel: 'HIGH', includeThoughts: true }, false],
    ['gemini-4-hydrogen', { effort: 'high' }, { thinkingLevel: 'HIGH', includeThoughts: true }, false],
    ['gemini-4-hydrogen', { effort: 'xhigh' }, { thinkingLevel: 'XHIGH', includeThoughts: true }, false],
    ['gemini-4-neon', { effort: 'xhigh' }, { thinkingLevel: 'XHIGH', includeThoughts: true }, false],
    ['gemini-4-hydrogen', { effort: 'max' }, { thinkingLevel: 'XHIGH', includeThoughts: true }, false],
    ['my-tuned-model', { effort: 'low' }, { thinkingBudget: 1024, includeThoughts: true }, false],
  ])('%s thinks %j as %j', (model, reasoning, expected, lossy) => {
    const { body, losses } = write({ reasoning }, model);
    expect((body['generationConfig'] as Record<string, unknown> | undefined)?.['thinkingConfig']).toEqual(expected);
    expect(losses.length > 0).toBe(lossy);
  });

  test('counting nests the request and names the model', () => {
    const { body } = writeRequest({ ...base, system: [{ text: 's' }] }, { ...writeContext('tunedModels/a b'), operation: 'count-tokens' });
    expect(body).toEqual({
      generateContentRequest: {
        model: 'tunedModels/a b',
        contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
        systemInstruction: { parts: [{ text: 's' }] },
      },
    });
  });
});
