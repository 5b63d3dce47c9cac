/** Gamma requests as canonical ones: both spellings, every part, pairing without ids, and what is refused by name. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { isGatewayError } from '@model-gateway/contracts/errors';
import type { Conversation } from '../../chat/conversation.ts';
import { readerContext } from '../test-support.ts';
import { readRequest } from './read-request.ts';

const read = (body: unknown): { conversation: Conversation; losses: string[] } => {
  const { conversation, losses } = readRequest(body, readerContext());
  return { conversation, losses: losses.map((loss) => loss.field) };
};
const one = (parts: unknown[], role = 'user'): unknown => ({ contents: [{ role, parts }] });
const parts = (body: unknown): unknown[] => read(body).conversation.turns[0]!.parts;
const config = (generationConfig: unknown): Conversation => read({ contents: 'x', generationConfig }).conversation;

function fault(body: unknown): string | undefined {
  try {
    readRequest(body, readerContext());
  } catch (error) {
    if (isGatewayError(error) && error.status === 400) return error.param;
    throw error;
  }
  return undefined;
}

test('our own fixture: snake and camel case mixed, results without ids, a base64url signature', () => {
  const body = JSON.parse(readFileSync(join(import.meta.dirname, '../fixtures/tool-loop.request.json'), 'utf8')) as unknown;
  const { conversation, losses } = read(body);
  expect(conversation).toEqual({
    system: [{ text: 'Be brief.' }],
    turns: [
      {
        role: 'user',
        parts: [
          { type: 'text', text: 'Weather in Oslo and Rome?' },
          { type: 'media', kind: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo/+w==' },
        ],
      },
      {
        role: 'assistant',
        parts: [
          { type: 'thinking', text: 'Thinking of two calls.' },
          { type: 'tool-call', id: '', name: 'weather', arguments: '{"city":"Oslo"}', signature: 'c2VhbGVkQUJDRA==' },
          { type: 'tool-call', id: '', name: 'weather', arguments: '{"city":"Rome"}' },
        ],
      },
      {
        role: 'user',
        parts: [
          { type: 'tool-result', callId: '', name: 'weather', content: [{ type: 'text', text: 'rain' }], json: { result: 'rain' } },
          {
            type: 'tool-result',
            callId: '',
            name: 'weather',
            content: [{ type: 'text', text: 'no such city' }],
            json: { error: 'no such city' },
            isError: true,
          },
        ],
      },
    ],
    tools: [
      {
        type: 'function',
        name: 'weather',
        description: 'Current weather',
        parameters: { type: 'object', properties: { city: { type: ['string', 'null'] }, days: { type: 'integer' } }, required: ['city'] },
      },
      { type: 'server', name: 'googleSearch', raw: { googleSearch: {} }, rawProtocol: 'gamma' },
    ],
    toolChoice: { type: 'tool', name: 'weather' },
    sampling: { maxTokens: 64, topK: 5, stop: ['END'] },
    reasoning: { enabled: false, budget: 0 },
    stream: false,
  });
  expect(losses).toEqual(['safetySettings', 'cachedContent']);
  // LangChain sends the list with every request, filled or not.
  expect(read({ contents: 'x', safetySettings: [] }).losses).toEqual([]);
});

describe('contents', () => {
  test('a string, a lone content, a lone part', () => {
    expect(read({ contents: 'Hi' }).conversation.turns).toEqual([{ role: 'user', parts: [{ type: 'text', text: 'Hi' }] }]);
    expect(read({ contents: { parts: { text: 'Hi' } } }).conversation.turns).toEqual([{ role: 'user', parts: [{ type: 'text', text: 'Hi' }] }]);
  });

  test("chunks of the model's streamed turn are joined, proofs stay where they are", () => {
    const model = (...list: unknown[]): unknown => ({ role: 'model', parts: list });
    const { conversation } = read({
      contents: [
        model({ text: 'Hm', thought: true }),
        model({ text: 'm', thought: true }, { text: '', thought: true, thoughtSignature: 'QUJD' }),
        model({ text: 'a' }),
        model({ text: 'b' }, { text: '' }),
        model({ text: 'signed', thought_signature: 'QUJD' }),
        model({ text: '', thoughtSignature: 'skip_thought_signature_validator' }),
        model({ thoughtSignature: 'QUJD' }),
      ],
    });
    expect(conversation.turns).toEqual([
      {
        role: 'assistant',
        parts: [
          { type: 'thinking', text: 'Hmm', signature: 'QUJD' },
          { type: 'text', text: 'ab' },
          { type: 'text', text: 'signed', signature: 'QUJD' },
          { type: 'text', text: '', signature: 'skip_thought_signature_validator' },
          { type: 'text', text: '', signature: 'QUJD' },
        ],
      },
    ]);
  });

  test("a user's parts stay apart", () => {
    expect(parts(one([{ text: 'a' }, { text: 'b' }]))).toHaveLength(2);
  });

  test('media: kinds by type, files by address', () => {
    const file = (fileUri: string, mimeType?: string): unknown => ({ fileData: { fileUri, ...(mimeType && { mimeType }) } });
    expect(
      parts(
        one([
          { inlineData: { mimeType: 'application/pdf', data: 'AA==', displayName: 'a.pdf' } },
          { inlineData: { mimeType: 'audio/wav', data: 'AA==' } },
          file('https://example.com/cat.JPG?x=1'),
          file('gs://bucket/film', 'video/mp4'),
          file('https://www.youtube.com/watch?v=1'),
          file('https://generativelanguage.googleapis.com/v1beta/files/abc', 'image/png'),
        ]),
      ),
    ).toEqual([
      { type: 'media', kind: 'document', mimeType: 'application/pdf', data: 'AA==', filename: 'a.pdf' },
      { type: 'media', kind: 'audio', mimeType: 'audio/wav', data: 'AA==' },
      { type: 'media', kind: 'image', url: 'https://example.com/cat.JPG?x=1' },
      { type: 'media', kind: 'video', mimeType: 'video/mp4', fileId: 'gs://bucket/film' },
      { type: 'media', kind: 'video', url: 'https://www.youtube.com/watch?v=1' },
      { type: 'media', kind: 'image', mimeType: 'image/png', fileId: 'https://generativelanguage.googleapis.com/v1beta/files/abc' },
    ]);
  });

  test('results: objects as JSON, media inside, an id on one side only', () => {
    const call = (id?: string): unknown => ({ functionCall: { name: 'f', ...(id && { id }) } });
    const result = (response: unknown, more: Record<string, unknown> = {}): unknown => ({ functionResponse: { name: 'f', response, ...more } });
    const { conversation } = read({
      contents: [
        { role: 'model', parts: [call('a'), call('b'), call()] },
        {
          role: 'user',
          parts: [
            result({ x: 1 }, { id: 'b' }),
            result({ output: { y: 2 } }),
            result({}, { id: 'c', parts: [{ inline_data: { mime_type: 'image/png', data: 'AA==' } }] }),
          ],
        },
      ],
    });
    expect(conversation.turns[0]!.parts).toMatchObject([{ id: 'a', arguments: '' }, { id: 'b' }, { id: 'c' }]);
    expect(conversation.turns[1]!.parts).toMatchObject([
      { callId: 'b', content: [{ text: '{"x":1}' }] },
      { callId: 'a', content: [{ text: '{"y":2}' }] },
      { callId: 'c', content: [{ type: 'media', kind: 'image', data: 'AA==' }] },
    ]);
  });

  test('pairing stays fast however many calls there are', () => {
    const measure = (count: number): number => {
      const calls = Array.from({ length: count }, (_, at) => ({ functionCall: { name: 'f', id: `c${at}` } }));
      const results = Array.from({ length: count }, (_, at) => ({ functionResponse: { name: 'f', id: `c${count - 1 - at}`, response: {} } }));
      const started = process.threadCpuUsage();
      read({
        contents: [
          { role: 'model', parts: calls },
          { role: 'user', parts: results },
        ],
      });
      return process.threadCpuUsage(started).user;
    };
    measure(2_500);
    // Eight times as many: about eight times as long, where pairing each with each takes 64 times.
    const times = (count: number, runs: number): number[] => Array.from({ length: runs }, () => measure(count));
    // The clock may have steps of some milliseconds, so that a single short run can read 0.
    const few = times(2_500, 16).reduce((sum, one) => sum + one) / 16;
    expect(Math.min(...times(20_000, 4)) / Math.max(few, 500)).toBeLessThan(40);
  });

  test('code that was run becomes readable text, unknown parts are declared', () => {
    const body = one(
      [{ executableCode: { language: 'PYTHON', code: 'print(1)' } }, { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } }, { holograms: 1 }, {}],
      'model',
    );
    expect(parts(body)).toEqual([{ type: 'text', text: '\n```python\nprint(1)\n```\n```\n1\n```\n' }]);
    expect(read(body).losses).toEqual(['contents.parts.executableCode', 'contents.parts.holograms']);
  });

  test('what is refused, by name', () => {
    expect(
      [null, [], 'x', {}, { contents: [] }, { contents: [1] }, { contents: [{ role: 'judge', parts: [] }] }, { contents: [{ parts: 'x' }] }].map(fault),
    ).toEqual([...['body', 'body', 'body', 'contents', 'contents', 'contents.0', 'contents.0.role', 'contents.0.parts']]);
    expect([fault(one([1])), fault(one([null]))]).toEqual(['contents.0.parts.0', 'contents.0.parts.0']);
    expect(fault(one([{ functionCall: { args: {} } }]))).toBe('contents.0.parts.0.functionCall.name');
    expect(fault(one([{ functionResponse: { response: {} } }]))).toBe('contents.0.parts.0.functionResponse.name');
    expect(fault({ contents: 'x', generationConfig: { temperature: 'hot' } })).toBe('generationConfig.temperature');
    expect(fault({ contents: 'x', generationConfig: { stopSequences: [1] } })).toBe('generationConfig.stopSequences');
    expect(fault({ contents: 'x', tools: [{ functionDeclarations: [{}] }] })).toBe('tools.0.functionDeclarations.0.name');
    expect(fault({ contents: 'x', toolConfig: { functionCallingConfig: { mode: 'SOME' } } })).toBe('toolConfig.functionCallingConfig.mode');
  });

  test.each<[unknown, string]>([
    [one([{ text: 5 }]), 'contents.0.parts.0.text'],
    [one([{ text: 'a' }, { inline_data: 'QUJD' }]), 'contents.0.parts.1.inlineData'],
    [one([{ inlineData: { mimeType: 'image/png', data: 5 } }]), 'contents.0.parts.0.inlineData.data'],
    [one([{ fileData: { fileUri: ['gs://a'] } }]), 'contents.0.parts.0.fileData.fileUri'],
    [one([{ functionCall: 'f' }]), 'contents.0.parts.0.functionCall'],
    [{ contents: 'x', systemInstruction: 5 }, 'systemInstruction'],
    [{ contents: 'x', systemInstruction: { parts: [{ text: 'a' }, { text: { b: 1 } }] } }, 'systemInstruction.parts.1.text'],
    [{ contents: 'x', system_instruction: { text: 5 } }, 'systemInstruction.parts.0.text'],
    [{ contents: 'x', generationConfig: 'hot' }, 'generationConfig'],
    [{ contents: 'x', generationConfig: { maxOutputTokens: -1 } }, 'generationConfig.maxOutputTokens'],
    [{ contents: 'x', generationConfig: { thinkingConfig: true } }, 'generationConfig.thinkingConfig'],
    [{ contents: 'x', generationConfig: { responseMimeType: 1 } }, 'generationConfig.responseMimeType'],
    [{ contents: 'x', tools: 'googleSearch' }, 'tools'],
    [{ contents: 'x', tools: ['googleSearch'] }, 'tools.0'],
    [{ contents: 'x', toolConfig: 'ANY' }, 'toolConfig'],
    [{ contents: 'x', toolConfig: { functionCallingConfig: 'ANY' } }, 'toolConfig.functionCallingConfig'],
  ])('what would be read as nothing, or as something else, is refused by name: %j', (body, name) => {
    expect(fault(body)).toBe(name);
  });

  test('nesting that would exhaust the stack is a 400', () => {
    const deep = (levels: number, inner: string): unknown => JSON.parse(`${'{"items":'.repeat(levels)}${inner}${'}'.repeat(levels)}`) as unknown;
    expect(fault({ contents: 'x', tools: [{ functionDeclarations: [{ name: 'f', parameters: deep(5000, '{}') }] }] })).toBe(
      'tools.0.functionDeclarations.0.parameters',
    );
    expect(fault(one([{ functionCall: { name: 'f', args: deep(200_000, '1') } }]))).toBe('contents.0.parts.0.functionCall.args');
  });
});

describe('system', () => {
  test('every form', () => {
    const system = (value: unknown): unknown => read({ contents: 'x', systemInstruction: value }).conversation.system;
    expect(system('a')).toEqual([{ text: 'a' }]);
    expect(system({ parts: [{ text: 'a' }, { text: 'b' }] })).toEqual([{ text: 'a' }, { text: 'b' }]);
    expect(system({ role: 'user', parts: { text: 'a' } })).toEqual([{ text: 'a' }]);
    expect(system([{ text: 'a' }, 'b'])).toEqual([{ text: 'a' }, { text: 'b' }]);
    expect(system({ text: 'a' })).toEqual([{ text: 'a' }]);
    expect(read({ contents: 'x', systemInstruction: { parts: [{ inlineData: {} }] } }).losses).toEqual(['systemInstruction.parts']);
  });
});

describe('settings', () => {
  test('numbers also as text, nulls as absent', () => {
    expect(
      config({
        maxOutputTokens: '100',
        temperature: 0,
        topP: null,
        seed: 7,
        presencePenalty: 1,
        frequencyPenalty: -1,
        candidateCount: 2,
        responseLogprobs: true,
        logprobs: 3,
      }).sampling,
    ).toEqual({
      ...{ maxTokens: 100, temperature: 0, seed: 7, presencePenalty: 1, frequencyPenalty: -1, choices: 2, logprobs: true, topLogprobs: 3 },
    });
  });

  test('answers', () => {
    expect(config({ responseMimeType: 'application/json' }).output).toEqual({ type: 'json' });
    expect(config({ responseMimeType: 'text/plain' }).output).toBeUndefined();
    expect(config({ response_json_schema: { type: 'object' } }).output).toEqual({ type: 'schema', schema: { type: 'object' } });
    expect(
      config({
        responseSchema: {
          type: 'OBJECT',
          properties: { b: { type: 'STRING' }, a: { type: 'ARRAY', items: { type: 'NUMBER' }, min_items: '2' } },
          property_ordering: ['a', 'b'],
        },
      }).output,
    ).toEqual({
      type: 'schema',
      schema: { type: 'object', properties: { a: { type: 'array', items: { type: 'number' }, minItems: 2 }, b: { type: 'string' } } },
    });
    expect(read({ contents: 'x', generationConfig: { responseMimeType: 'text/x.enum', responseModalities: ['AUDIO'], speechConfig: {} } }).losses).toEqual([
      ...['generationConfig.speechConfig', 'generationConfig.responseMimeType', 'generationConfig.responseModalities'],
    ]);
  });

  test('one word of several is asked for as JSON', () => {
    const asked = { contents: 'x', generationConfig: { responseMimeType: 'text/x.enum', responseSchema: { type: 'STRING', enum: ['Hot', 'Cold'] } } };
    const { conversation, echo, losses } = readRequest(asked, readerContext());
    const answer = { type: 'string', enum: ['Hot', 'Cold'] };
    expect(conversation.output).toEqual({
      type: 'schema',
      schema: { type: 'object', properties: { answer }, required: ['answer'], additionalProperties: false },
    });
    expect(echo).toEqual({ answersEnum: true });
    expect(losses).toEqual([expect.objectContaining({ field: 'generationConfig.responseMimeType', action: 'emulated' })]);
  });

  test('thinking', () => {
    const thinking = (thinkingConfig: unknown): unknown => config({ thinkingConfig }).reasoning;
    expect(thinking({ thinkingBudget: -1 })).toEqual({ enabled: true, budget: -1 });
    expect(thinking({ thinkingBudget: 0, includeThoughts: false })).toEqual({ enabled: false, budget: 0, summary: 'none' });
    expect(thinking({ thinkingLevel: 'HIGH', include_thoughts: true })).toEqual({ enabled: true, effort: 'high', summary: 'auto' });
    expect(thinking({ thinkingLevel: 'XHIGH' })).toEqual({ enabled: true, effort: 'xhigh' });
    expect(thinking({ includeThoughts: true })).toEqual({ enabled: true, summary: 'auto' });
    expect(config({}).reasoning).toBeUndefined();
  });

  test('tool choice', () => {
    const choice = (mode: string, ...allowedFunctionNames: string[]): unknown =>
      read({ contents: 'x', toolConfig: { functionCallingConfig: { mode, allowedFunctionNames } } }).conversation.toolChoice;
    expect([choice('AUTO'), choice('any'), choice('NONE'), choice('ANY', 'f'), choice('ANY', 'f', 'g'), choice('VALIDATED', 'f')]).toEqual([
      { type: 'auto' },
      { type: 'any' },
      { type: 'none' },
      { type: 'tool', name: 'f' },
      { type: 'any', allowed: ['f', 'g'] },
      { type: 'auto', allowed: ['f'] },
    ]);
  });

  test('names of unknown fields are repeated only when they look like names', () => {
    expect(read({ contents: 'x', future_field: 1, 'secret text of a caller': 1, nothing: null }).losses).toEqual(['futureField', '(unnamed)']);
  });

  test('a nested request is read for counting', () => {
    const body = { generateContentRequest: { model: 'models/x', contents: [{ parts: [{ text: 'a' }] }], systemInstruction: { parts: [{ text: 's' }] } } };
    const { conversation, losses } = readRequest(body, { ...readerContext(), operation: 'count-tokens' });
    expect([conversation.system, conversation.turns.length, losses]).toEqual([[{ text: 's' }], 1, []]);
  });
});
