/** What a gamma caller receives: each event in its chunk, both framings, signatures on their parts, and the ending after every prefix. */
import { describe, expect, test } from '@jest/globals';
import { noUsage } from '@model-gateway/contracts';
import fc from 'fast-check';
import { validateStream, validateWhole } from '../../../test/validate/gamma.ts';
import type { BlockStart, ChatEvent } from '../../chat/event.ts';
import { foldEvents } from '../../chat/fold.ts';
import { gamma } from '../index.ts';
import { standardBase64 } from '../shared/fields.ts';
import { replyContext } from '../test-support.ts';
import { GammaReplyReader } from '../upstream/read-response.ts';

type Form = 'sse' | 'json-array';
const forms: Form[] = ['sse', 'json-array'];
const client = gamma.client!;

const block = (index: number, start: BlockStart, ...deltas: ChatEvent[]): ChatEvent[] => [
  { type: 'block-start', index, block: start },
  ...deltas,
  { type: 'block-end', index },
];

const everything: ChatEvent[] = [
  { type: 'start', id: 'up-1', model: 'upstream-model' },
  ...block(
    0,
    { type: 'thinking' },
    { type: 'thinking-delta', index: 0, text: 'Hm' },
    { type: 'thinking-delta', index: 0, text: 'm.' },
    { type: 'signature', index: 0, signature: 'QUJD' },
  ),
  ...block(
    1,
    { type: 'text' },
    { type: 'text-delta', index: 1, text: 'He said "finishReason": "STOP"\n\n' },
    { type: 'text-delta', index: 1, text: '\u2028é😀' },
  ),
  ...block(
    2,
    { type: 'text' },
    { type: 'signature', index: 2, signature: 'REVG' },
    { type: 'text-delta', index: 2, text: 'signed' },
    { type: 'text-delta', index: 2, text: ' text' },
  ),
  ...block(3, { type: 'text' }, { type: 'signature', index: 3, signature: 'R0hJ' }),
  { type: 'usage', usage: { ...noUsage, input: 3 } },
  { type: 'block-start', index: 4, block: { type: 'tool-call', id: 'call_1', name: 'look' } },
  { type: 'block-start', index: 5, block: { type: 'tool-call', id: '', name: 'now' } },
  { type: 'arguments-delta', index: 4, text: '{"finishReason":' },
  { type: 'signature', index: 4, signature: 'SktM' },
  { type: 'arguments-delta', index: 4, text: '"STOP"}' },
  { type: 'block-end', index: 4 },
  { type: 'block-end', index: 5 },
  ...block(6, { type: 'raw', protocol: 'gamma', value: { part: { executableCode: { code: '1' } } } }, { type: 'signature', index: 6, signature: 'TU5P' }),
  ...block(7, { type: 'raw', protocol: 'gamma', value: { candidate: { groundingMetadata: { q: 1 } } } }),
  ...block(8, { type: 'refusal' }, { type: 'refusal-delta', index: 8, text: 'No.' }),
  { type: 'finish', reason: 'tool-calls', native: 'STOP' },
  { type: 'usage', usage: { ...noUsage, input: 10, cacheRead: 4, cacheWrite5m: 2, output: 7, reasoning: 5 } },
  { type: 'end' },
];

function write(events: readonly ChatEvent[], form: Form): { pieces: string[]; losses: unknown[] } {
  const writer = client.createWriter(replyContext(form));
  const pieces = events.map((event) => writer.write(event)).filter((text) => text !== '');
  return { pieces, losses: writer.losses };
}

const chunksOf = (text: string, form: Form): Record<string, unknown>[] =>
  form === 'json-array'
    ? (JSON.parse(text) as Record<string, unknown>[])
    : text
        .split('\r\n\r\n')
        .filter(Boolean)
        .map((event) => JSON.parse(event.slice(6)) as Record<string, unknown>);

const partsOf = (chunk: Record<string, unknown>): unknown[] => (chunk['candidates'] as { content: { parts: unknown[] } }[])[0]!.content.parts;

describe.each(forms)('streamed as %s', (form) => {
  test('is valid and holds each part once', () => {
    const text = write(everything, form).pieces.join('');
    expect(validateStream(text, form)).toEqual([]);
    const chunks = chunksOf(text, form);
    expect(chunks.flatMap(partsOf)).toEqual([
      { text: 'Hm', thought: true },
      { text: 'm.', thought: true },
      { text: '', thought: true, thoughtSignature: 'c2VhbGVkQUJD' },
      { text: 'He said "finishReason": "STOP"\n\n' },
      { text: '\u2028é😀' },
      { text: 'signed', thoughtSignature: 'c2VhbGVkREVG' },
      { text: ' text' },
      { text: '', thoughtSignature: 'c2VhbGVkR0hJ' },
      { functionCall: { id: 'call_1', name: 'look', args: { finishReason: 'STOP' } }, thoughtSignature: 'c2VhbGVkSktM' },
      { functionCall: { name: 'now', args: {} } },
      { executableCode: { code: '1' }, thoughtSignature: 'c2VhbGVkTU5P' },
      { text: 'No.' },
      { text: '' },
    ]);
    expect(chunks.at(-1)).toMatchObject({
      candidates: [{ finishReason: 'STOP', groundingMetadata: { q: 1 } }],
      usageMetadata: { promptTokenCount: 16, cachedContentTokenCount: 4, candidatesTokenCount: 7, thoughtsTokenCount: 5, totalTokenCount: 28 },
      modelVersion: 'caller/name',
      responseId: 'req-1',
    });
  });

  test('usage after finish is waited for, and nothing follows the end', () => {
    const writer = client.createWriter(replyContext(form));
    expect(writer.write({ type: 'finish', reason: 'stop' })).toBe('');
    expect(writer.write({ type: 'usage', usage: { ...noUsage, output: 1 } })).toBe('');
    const last = writer.write({ type: 'end' });
    expect(validateStream(last, form)).toEqual([]);
    expect(last).toContain('"totalTokenCount":1');
    expect(writer.write({ type: 'end' })).toBe('');
  });

  test('closed after every prefix it is valid, ends with MAX_TOKENS and one warning', () => {
    const { pieces } = write(everything, form);
    for (let count = 0; count <= pieces.length; count++) {
      const written = pieces.slice(0, count).join('');
      const terminator = client.createTerminator({ ...replyContext(form) });
      for (const piece of pieces.slice(0, count)) terminator.observe(Buffer.from(piece));
      expect(terminator.ended).toBe(count === pieces.length);
      const closing = terminator.close({ reason: 'upstream_broken', detail: 'd', timestamp: '2026-01-01T00:00:00.000Z' }, { ...noUsage, input: 1 });
      const faults = validateStream(written + closing, form);
      expect([count, faults]).toEqual([count, []]);
      if (count === pieces.length) expect(closing).toBe('');
      else {
        expect(chunksOf(written + closing, form).at(-1)).toMatchObject({
          candidates: [{ finishReason: 'MAX_TOKENS' }],
          usageMetadata: { promptTokenCount: 1 },
          _gateway_warning: { reason: 'upstream_broken', detail: 'd', last_finish_reason: null, timestamp: '2026-01-01T00:00:00.000Z' },
        });
      }
    }
  });

  test('the stream terminator sees the same however its bytes are cut', () => {
    const text = Buffer.from(write(everything, form).pieces.join(''));
    fc.assert(
      fc.property(fc.array(fc.nat(text.length), { maxLength: 8 }), (cuts) => {
        const points = [0, ...cuts.sort((one, other) => one - other), text.length];
        const terminator = client.createTerminator({ ...replyContext(form) });
        points.slice(1).forEach((end, at) => {
          terminator.observe(text.subarray(points[at], end));
        });
        return terminator.ended && terminator.close({ reason: 'r', detail: 'd', timestamp: 't' }) === '';
      }),
    );
  });

  test('a round trip through the reader keeps text, calls, finish and usage', () => {
    const reader = new GammaReplyReader();
    const events = chunksOf(write(everything, form).pieces.join(''), form).flatMap((json) => reader.read({ data: '', json }));
    const again = foldEvents([...events, ...reader.finish()]);
    const first = foldEvents(everything);
    const text = (message: typeof first, ...types: string[]): string =>
      message.blocks
        .filter((one) => types.includes(one.start.type))
        .map((one) => one.text)
        .join('');
    expect(text(again, 'text')).toBe(text(first, 'text', 'refusal'));
    expect(text(again, 'thinking')).toBe(text(first, 'thinking'));
    expect(again.blocks.filter((one) => one.start.type === 'tool-call').map((one) => JSON.parse(one.text) as unknown)).toEqual([{ finishReason: 'STOP' }, {}]);
    expect(again.finish.reason).toBe('tool-calls');
    expect(again.usage).toEqual({ ...noUsage, input: 12, cacheRead: 4, output: 7, reasoning: 5 });
  });
});

describe('parts', () => {
  test('arguments that are no JSON object become {} and a loss', () => {
    for (const text of ['{"a":', '[1]', 'plain']) {
      const { pieces, losses } = write(
        [
          ...block(0, { type: 'tool-call', id: 'a', name: 'f' }, { type: 'arguments-delta', index: 0, text }),
          { type: 'finish', reason: 'length' },
          { type: 'end' },
        ],
        'sse',
      );
      expect(pieces[0]).toContain('"args":{}');
      expect(losses).toHaveLength(1);
    }
  });

  test('free text of a custom tool is wrapped, foreign raw blocks and hidden thinking are declared', () => {
    const events = [
      ...block(0, { type: 'tool-call', id: 'a', name: 'patch', custom: true }, { type: 'arguments-delta', index: 0, text: '*** Begin' }),
      ...block(1, { type: 'raw', protocol: 'beta', value: {} }),
      ...block(2, { type: 'redacted-thinking', data: 'x' }),
    ];
    const { pieces, losses } = write(events, 'sse');
    expect(pieces).toHaveLength(1);
    expect(pieces[0]).toContain('"args":{"input":"*** Begin"}');
    expect(losses).toMatchObject([{ field: 'response.blocks' }, { field: 'response.redacted_thinking' }]);
  });

  test('finish words', () => {
    const word = (reason: string, native?: string): string =>
      /"finishReason":"(\w+)"/.exec(write([{ type: 'finish', reason, native } as ChatEvent, { type: 'end' }], 'sse').pieces[0]!)![1]!;
    expect(
      ['stop', 'stop-sequence', 'tool-calls', 'length', 'context-window', 'content-filter', 'refusal', 'pause', 'other'].map((reason) => word(reason)),
    ).toEqual([...['STOP', 'STOP', 'STOP', 'MAX_TOKENS', 'MAX_TOKENS', 'SAFETY', 'SAFETY', 'OTHER', 'OTHER']]);
    expect([word('content-filter', 'ESCALATION'), word('content-filter', 'PUP_LIMITED_DISABLED')]).toEqual(['SAFETY', 'SAFETY']);
    expect([word('content-filter', 'RECITATION'), word('content-filter', 'MODEL_ARMOR'), word('length', 'max_tokens'), word('stop', 'STOP')]).toEqual([
      'RECITATION',
      'SAFETY',
      'MAX_TOKENS',
      'STOP',
    ]);
  });

  test('an error event is never written', () => {
    expect(write([{ type: 'error', error: { class: 'server', message: 'm' } }], 'sse').pieces).toEqual([]);
  });

  test('a whole reply is one object, one part a block', () => {
    const { body, losses } = client.writeWhole(foldEvents(everything), replyContext('whole'));
    expect(validateWhole(body)).toEqual([]);
    expect(losses).toEqual([]);
    expect(partsOf(body as Record<string, unknown>)).toEqual([
      { text: 'Hmm.', thought: true, thoughtSignature: 'c2VhbGVkQUJD' },
      { text: 'He said "finishReason": "STOP"\n\n\u2028é😀' },
      { text: 'signed text', thoughtSignature: 'c2VhbGVkREVG' },
      { text: '', thoughtSignature: 'c2VhbGVkR0hJ' },
      { functionCall: { id: 'call_1', name: 'look', args: { finishReason: 'STOP' } }, thoughtSignature: 'c2VhbGVkSktM' },
      { functionCall: { name: 'now', args: {} } },
      { executableCode: { code: '1' }, thoughtSignature: 'c2VhbGVkTU5P' },
      { text: 'No.' },
    ]);
  });
});

describe('the stream terminator on bytes of a verbatim reply', () => {
  const watch = (form: Form, ...texts: string[]): ReturnType<typeof client.createTerminator> => {
    const terminator = client.createTerminator({ ...replyContext(form) });
    for (const text of texts) terminator.observe(Buffer.from(text));
    return terminator;
  };

  test('spaced JSON, line feeds alone, keep-alives between events', () => {
    const event = 'data: {"candidates": [{"content": {"parts": [{"text": ""}],"role": "model"},"finishReason": "STOP","index": 0}]}';
    expect(watch('sse', ':keep-alive\n\n', `${event}\n\n`).ended).toBe(true);
    expect(watch('sse', '\n', event.slice(0, 40), event.slice(40), '\r\n\r\n', '\n').ended).toBe(true);
    expect(watch('sse', ':keep-alive\n\n').ended).toBe(false);
  });

  test('a finish word in arguments, in another candidate, or unspecified does not end a stream', () => {
    const event = (candidate: string): string => `data: {"candidates":[${candidate}]}\r\n\r\n`;
    const inside = '{"content":{"parts":[{"functionCall":{"name":"f","args":{"finishReason":"STOP"}}}]}}';
    expect(watch('sse', event(inside)).ended).toBe(false);
    expect(watch('sse', event('{"index":1,"finishReason":"STOP"}')).ended).toBe(false);
    expect(watch('sse', event('{"finishReason":"FINISH_REASON_UNSPECIFIED"}')).ended).toBe(false);
    expect(watch('sse', 'data: {"promptFeedback":{"blockReason":"SAFETY"}}\r\n\r\n').ended).toBe(true);
  });

  test('an array whose finish went out lacks only its bracket', () => {
    const terminator = watch('json-array', '[{"candidates":[{"content":{"parts":[{"text":"]"}]}}]}', '\n,\r\n{"candidates":[{"finishReason":"STOP"}]}');
    expect(terminator.ended).toBe(false);
    expect(terminator.close({ reason: 'r', detail: 'd', timestamp: 't' })).toBe('\n]');
  });

  test('a very large chunk is not kept, and its finish is still seen', () => {
    const image = 'A'.repeat(3_000_000);
    const event = `data: {"candidates":[{"content":{"parts":[{"inlineData":{"data":"${image}"}}]},"finishReason":"STOP"}]}\r\n\r\n`;
    const pieces = event.match(/[\s\S]{1,65536}/g)!;
    expect(watch('sse', ...pieces).ended).toBe(true);
    expect(watch('sse', ...event.replace('"finishReason":"STOP"', '"index":0').match(/[\s\S]{1,65536}/g)!).ended).toBe(false);
  });

  test('a whole reply needs no ending', () => {
    const terminator = client.createTerminator({ ...replyContext('whole') });
    terminator.observe(Buffer.from('{"candidates":'));
    expect([terminator.ended, terminator.close({ reason: 'r', detail: 'd', timestamp: 't' })]).toEqual([true, '']);
  });
});

test('a chunk with a long run of blanks, or a signature with a long run of padding, costs linear time', () => {
  const terminator = client.createTerminator({ ...replyContext('json-array') });
  const started = process.cpuUsage();
  terminator.observe(Buffer.from(`[{"candidates":[{"content":{"parts":[{"text":"${' '.repeat(300_000)}x"}]},"finishReason":"STOP"}]}`));
  expect(terminator.close({ reason: 'r', detail: 'd', timestamp: 't' })).toBe('\n]');
  expect(standardBase64(`${'='.repeat(300_000)}x-`)).toBe(`${'='.repeat(300_000)}x+==`);
  expect(standardBase64('ab-_=')).toBe('ab+/');
  expect(process.cpuUsage(started).user / 1000).toBeLessThan(10_000);
});

describe('one word of several', () => {
  const answered = (...deltas: string[]): ChatEvent[] => [
    { type: 'start' },
    ...block(0, { type: 'text' }, ...deltas.map((text): ChatEvent => ({ type: 'text-delta', index: 0, text }))),
    { type: 'finish', reason: 'stop' },
    { type: 'end' },
  ];
  const context = { ...replyContext('sse'), echo: { answersEnum: true } };
  const texts = (events: ChatEvent[]) => {
    const writer = client.createWriter(context);
    const streamed = [
      ...events
        .map((event) => writer.write(event))
        .join('')
        .matchAll(/"text":"((?:[^"\\\\]|\\\\.)+)"/g),
    ].map(([, text]) => text);
    const whole = client.writeWhole(foldEvents(events), context).body as { candidates: { content: { parts: { text: string }[] } }[] };
    return [streamed.join(''), whole.candidates[0]?.content.parts.map(({ text }) => text).join('')];
  };

  test.each([
    ['in its object', ['{"ans', 'wer": "Hot"}'], 'Hot'],
    ['as a JSON text', ['"Hot"'], 'Hot'],
    ['as it is', ['Hot\n'], 'Hot'],
  ])('%s is told alone, streamed and whole', (_name, deltas, word) => {
    expect(texts(answered(...deltas))).toEqual([word, word]);
  });
});
