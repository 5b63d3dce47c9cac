/** Each oddity of gamma replies, one chunk list at a time. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { ChatEvent } from '../../chat/event.ts';
import { foldEvents } from '../../chat/fold.ts';
import { GammaReplyReader, readModelList, readTokenCount, readWhole } from './read-response.ts';

const readChunks = (chunks: readonly unknown[], end = true): ChatEvent[] => {
  const reader = new GammaReplyReader();
  const events = chunks.flatMap((json) => reader.read({ data: JSON.stringify(json), json }));
  return end ? [...events, ...reader.finish()] : events;
};

const chunk = (parts: unknown[], more: Record<string, unknown> = {}, candidate: Record<string, unknown> = {}): unknown => ({
  candidates: [{ content: { parts, role: 'model' }, index: 0, ...candidate }],
  modelVersion: 'm',
  responseId: 'r',
  ...more,
});
const stop = { finishReason: 'STOP' };
const ofType = (events: readonly ChatEvent[], type: ChatEvent['type']): ChatEvent[] => events.filter((event) => event.type === type);
const blocks = (events: readonly ChatEvent[]): unknown[] => foldEvents(events).blocks.map((block) => [block.start.type, block.text, block.signature]);

describe('streams', () => {
  test('our own recording: thought, text, calls with and without signature, empty text with a signature, usage in disjoint buckets', () => {
    const text = readFileSync(join(import.meta.dirname, '../fixtures/calls-with-proofs.sse'), 'utf8');
    const events = readChunks(
      text
        .split('\r\n\r\n')
        .filter(Boolean)
        .map((event) => JSON.parse(event.slice(6)) as unknown),
    );
    expect(events[0]).toEqual({ type: 'start', id: 'abc', model: 'gemini-3-flash' });
    const message = foldEvents(events);
    expect(message.blocks).toEqual([
      { start: { type: 'thinking' }, text: 'Let me look.\n\n' },
      { start: { type: 'text' }, text: 'I will check.' },
      { start: { type: 'tool-call', id: 'x1', name: 'weather' }, text: '{"city":"Oslo"}', signature: 'QUJDRA==' },
      { start: { type: 'tool-call', id: '', name: 'now' }, text: '{}' },
      { start: { type: 'text' }, text: '', signature: 'RUZHSA==' },
    ]);
    expect(message.finish).toEqual({ reason: 'tool-calls', native: 'STOP' });
    expect(message.usage).toEqual({ input: 19, cacheRead: 8, cacheWrite5m: 0, cacheWrite1h: 0, output: 12, reasoning: 6 });
    expect(events.slice(-3).map((event) => event.type)).toEqual(['finish', 'usage', 'end']);
  });

  test('a text part with a signature is a block of its own, the signature before the text', () => {
    const events = readChunks([chunk([{ text: 'plain ' }]), chunk([{ text: 'signed', thoughtSignature: 'QQ==' }]), chunk([{ text: ' more' }], {}, stop)]);
    expect(blocks(events)).toEqual([
      ['text', 'plain ', undefined],
      ['text', 'signed', 'QQ=='],
      ['text', ' more', undefined],
    ]);
    const of1 = events.filter((event) => 'index' in event && event.index === 1).map((event) => event.type);
    expect(of1).toEqual(['block-start', 'signature', 'text-delta', 'block-end']);
  });

  test('a thought with a signature ends its block', () => {
    const events = readChunks([
      chunk([{ text: 'a', thought: true }]),
      chunk([{ text: 'b', thought: true, thoughtSignature: 'QQ==' }]),
      chunk([{ text: 'c', thought: true }], {}, stop),
    ]);
    expect(blocks(events)).toEqual([
      ['thinking', 'ab', 'QQ=='],
      ['thinking', 'c', undefined],
    ]);
  });

  test('a part that holds nothing but a signature', () => {
    expect(blocks(readChunks([chunk([{ thoughtSignature: 'QQ==' }], {}, stop)]))).toEqual([['text', '', 'QQ==']]);
  });

  test('empty texts without a signature give no events', () => {
    expect(ofType(readChunks([chunk([{ text: '' }], {}, stop)]), 'block-start')).toEqual([]);
  });

  test('text after a call opens a new block, and every block is closed before finish', () => {
    const events = readChunks([chunk([{ text: 'a' }, { functionCall: { name: 'f', args: { x: 1 } } }, { text: 'b' }], {}, stop)]);
    // Without a count that the upstream never gave.
    expect(events.map((event) => event.type)).toEqual([
      ...['start', 'block-start', 'text-delta', 'block-end', 'block-start', 'arguments-delta', 'block-end', 'block-start', 'text-delta'],
      ...['block-end', 'finish', 'end'],
    ]);
  });

  test('partial arguments of the other cloud', () => {
    const events = readChunks([
      chunk([{ functionCall: { name: 'f', id: 'i', willContinue: true }, thoughtSignature: 'QQ==' }]),
      chunk([{ functionCall: { partialArgs: [{ jsonPath: '$.city', stringValue: 'Bos', willContinue: true }], willContinue: true } }]),
      chunk([{ functionCall: { partialArgs: [{ jsonPath: '$.city', stringValue: 'ton' }], willContinue: true } }]),
      chunk([
        {
          functionCall: {
            partialArgs: [
              { jsonPath: '$.list[0].n', numberValue: 1 },
              { jsonPath: '$.list[1]', boolValue: true },
              { jsonPath: "$['odd key']", nullValue: 'NULL_VALUE' },
              { jsonPath: '$.__proto__.x', stringValue: 'p' },
              { jsonPath: '$.big[999999999]', stringValue: 'one' },
              { jsonPath: 'nonsense[', stringValue: 'left out' },
            ],
            willContinue: true,
          },
        },
      ]),
      chunk([{ functionCall: {} }, { functionCall: { name: 'g', willContinue: true } }, { functionCall: {} }], {}, stop),
    ]);
    const [first, second] = foldEvents(events).blocks;
    expect(first).toMatchObject({ start: { type: 'tool-call', id: 'i', name: 'f' }, signature: 'QQ==' });
    expect(first!.text).toBe('{"city":"Boston","list":[{"n":1},true],"odd key":null,"__proto__":{"x":"p"},"big":["one"]}');
    expect(second!.text).toBe('{}');
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });

  test('a call cut by the token limit stays open text that no agent can run', () => {
    const events = readChunks([
      chunk([{ functionCall: { name: 'f', willContinue: true } }]),
      chunk(
        [{ functionCall: { partialArgs: [{ jsonPath: '$.a', stringValue: 'x', willContinue: true }], willContinue: true } }],
        {},
        { finishReason: 'MAX_TOKENS' },
      ),
    ]);
    const message = foldEvents(events);
    expect(message.finish.reason).toBe('length');
    expect(() => JSON.parse(message.blocks[0]!.text) as unknown).toThrow();
  });

  test('a body that ends without a finish is a break', () => {
    const events = readChunks([chunk([{ text: 'half' }])]);
    expect(ofType(events, 'end')).toEqual([]);
    expect(ofType(events, 'finish')).toEqual([]);
    expect(ofType(readChunks([]), 'end')).toEqual([]);
  });

  test('usage comes on each chunk, fields that later chunks lack stay, and chunks without counts say nothing', () => {
    const events = readChunks([
      chunk([{ text: 'a' }], { usageMetadata: { promptTokenCount: 46, candidatesTokenCount: 51, thoughtsTokenCount: 101 } }),
      chunk([{ text: 'b' }], { usageMetadata: { promptTokenCount: 46, totalTokenCount: 46 } }),
      chunk([{ text: 'c' }], { usageMetadata: { trafficType: 'ON_DEMAND' } }),
    ]);
    expect(ofType(events, 'usage')).toHaveLength(2);
    expect(ofType(events, 'usage')[1]).toMatchObject({ usage: { input: 46, output: 51, reasoning: 101 } });
  });

  test('a blocked prompt finishes without a block', () => {
    const message = foldEvents(readChunks([{ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' }, usageMetadata: { promptTokenCount: 4 } }]));
    expect(message).toMatchObject({ blocks: [], finish: { reason: 'content-filter', native: 'PROHIBITED_CONTENT' }, usage: { input: 4 } });
  });

  test('candidates without content, and finish words', () => {
    const finish = (word: string, parts: unknown[] = []): unknown =>
      foldEvents(readChunks([{ candidates: [{ finishReason: word, content: { parts } }] }])).finish.reason;
    expect(['STOP', 'MAX_TOKENS', 'SAFETY', 'RECITATION', 'IMAGE_SAFETY', 'MALFORMED_FUNCTION_CALL', 'NEW_WORD'].map((word) => finish(word))).toEqual([
      ...['stop', 'length', 'content-filter', 'content-filter', 'content-filter', 'other', 'other'],
    ]);
    expect(['ESCALATION', 'PUP_LIMITED_DISABLED', 'MODEL_ARMOR'].map((word) => finish(word))).toEqual(Array(3).fill('content-filter'));
    expect(finish('MAX_TOKENS', [{ functionCall: { name: 'f' } }])).toBe('length');
    const continued = readChunks([{ candidates: [{ finishReason: 'CONTINUATION', content: { parts: [{ text: 'a' }] } }] }]);
    expect(continued.find(({ type }) => type === 'finish')).toMatchObject({ reason: 'length', lost: [{ field: 'reply.continuation', action: 'dropped' }] });
    expect(foldEvents(readChunks([{ candidates: [{ finishReason: 'SAFETY', index: 0 }] }])).finish.reason).toBe('content-filter');
  });

  test('an error in mid-stream is the last event, also in an array', () => {
    const error = { error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' } };
    for (const body of [error, [error]]) {
      const events = readChunks([chunk([{ text: 'a' }]), body, chunk([{ text: 'late' }], {}, stop)]);
      expect(events.at(-1)).toEqual({ type: 'error', error: { class: 'overloaded', status: 503, code: 'UNAVAILABLE', message: 'The model is overloaded.' } });
    }
  });

  test('code, media and grounding stay raw, with their signatures', () => {
    const events = readChunks([
      chunk([{ executableCode: { language: 'PYTHON', code: '1' }, thoughtSignature: 'QQ==' }, { inlineData: { mimeType: 'image/png', data: 'AA==' } }]),
      chunk([{ text: 'x' }], {}, { ...stop, groundingMetadata: { webSearchQueries: ['q'] }, urlContextMetadata: {} }),
    ]);
    expect(foldEvents(events).blocks.map((block) => [block.start, block.signature])).toEqual([
      [{ type: 'raw', protocol: 'gamma', value: { part: { executableCode: { language: 'PYTHON', code: '1' } } } }, 'QQ=='],
      [{ type: 'raw', protocol: 'gamma', value: { part: { inlineData: { mimeType: 'image/png', data: 'AA==' } } } }, undefined],
      [{ type: 'text' }, undefined],
      [{ type: 'raw', protocol: 'gamma', value: { candidate: { groundingMetadata: { webSearchQueries: ['q'] } } } }, undefined],
    ]);
  });

  test('only the first candidate is read', () => {
    const events = readChunks([
      {
        candidates: [
          { index: 1, content: { parts: [{ text: 'other' }] } },
          { index: 0, content: { parts: [{ text: 'one' }] }, finishReason: 'STOP' },
        ],
      },
    ]);
    expect(blocks(events)).toEqual([['text', 'one', undefined]]);
  });

  test('nulls, empty lists and nonsense never throw', () => {
    const odd = [
      null,
      'text',
      7,
      [],
      {},
      { candidates: null },
      { candidates: [] },
      { candidates: [null] },
      { candidates: [{ content: null, finishReason: null }] },
    ];
    const parts = [
      null,
      1,
      {},
      { text: null },
      { functionCall: null },
      { functionCall: {} },
      { functionCall: { name: '' } },
      { functionCall: { name: 'f', args: null } },
      { text: 'ok', thoughtSignature: '' },
    ];
    const events = readChunks([...odd, chunk(parts, { usageMetadata: null }, stop)]);
    expect(blocks(events)).toEqual([
      ['tool-call', '{}', undefined],
      ['text', 'ok', undefined],
    ]);
    expect(new GammaReplyReader().read({ data: '[DONE]', json: undefined })).toEqual([]);
  });
});

describe('whole bodies', () => {
  test('a missing finish word is not a break, an empty body is', () => {
    expect(foldEvents(readWhole(chunk([{ text: 'a' }]))).finish.reason).toBe('stop');
    for (const body of [{}, 'text', null, []]) expect(readWhole(body)).toMatchObject([{ type: 'error', error: { class: 'broken' } }]);
  });

  test('a streamed array in one piece', () => {
    expect(blocks(readWhole([chunk([{ text: 'a' }]), chunk([{ text: 'b' }], {}, stop)]))).toEqual([['text', 'ab', undefined]]);
  });

  test('counts and model lists', () => {
    expect(readTokenCount({ totalTokens: 8 })).toBe(8);
    expect(readTokenCount({})).toBeNull();
    const models = [
      { name: 'models/a', supportedGenerationMethods: ['generateContent'] },
      { name: 'models/e', supportedGenerationMethods: ['embedContent'] },
      { name: 'b' },
      {},
    ];
    expect(readModelList({ models })).toEqual(['a', 'b']);
    expect(readModelList(null)).toEqual([]);
  });
});
