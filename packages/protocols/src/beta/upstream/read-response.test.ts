/** The upstream reader: what every recorded reply folds into, and each oddity of the wire. */
import { describe, expect, test } from '@jest/globals';
import { ownFixture, readStream, recorded, recordsOf } from '../../../test/support/beta.ts';
import type { ChatEvent } from '../../chat/event.ts';
import { foldEvents } from '../../chat/fold.ts';
import { createReader, readTokenCount, readWhole } from './read-response.ts';

const event = (data: { type: string; [key: string]: unknown }) => ({ event: data.type, data: JSON.stringify(data), json: data });
const start = event({ type: 'message_start', message: { id: 'msg_1', model: 'm', usage: { input_tokens: 5, output_tokens: 1 } } });
const stop = [event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 9 } }), event({ type: 'message_stop' })];
const readAll = (records: ReturnType<typeof event>[]): ChatEvent[] => {
  const reader = createReader();
  return [...records.flatMap((record) => reader.read(record)), ...reader.finish()];
};

describe('a stream of our own', () => {
  const events = readStream(ownFixture('tools.sse'));
  const message = foldEvents(events);

  test('blocks, signatures and arguments', () => {
    expect(message.blocks).toEqual([
      { start: { type: 'thinking' }, text: 'Which city? Zürich 🏔', signature: 'c2lnbmF0dXJl' },
      { start: { type: 'redacted-thinking', data: 'b3BhcXVl' }, text: '' },
      { start: { type: 'text' }, text: 'Let me look.' },
      { start: { type: 'tool-call', id: 'toolu_01Upstream', name: 'weather' }, text: '{"city": "Zürich"}' },
      { start: { type: 'tool-call', id: 'toolu_02Upstream', name: 'now' }, text: '{}' },
    ]);
    expect(message.finish).toEqual({ reason: 'tool-calls', native: 'tool_use' });
  });

  test('usage is replaced field by field and falls into disjoint buckets', () => {
    expect(message.usage).toEqual({ input: 30, cacheRead: 11, cacheWrite5m: 4, cacheWrite1h: 3, output: 41, reasoning: 20 });
  });

  test('order: start, blocks that close, finish, usage, end', () => {
    const kinds = events.map(({ type }) => type);
    expect(kinds[0]).toBe('start');
    expect(kinds.slice(-3)).toEqual(['finish', 'usage', 'end']);
    expect(kinds.filter((kind) => kind === 'block-start')).toHaveLength(5);
    expect(kinds.filter((kind) => kind === 'block-end')).toHaveLength(5);
    expect(kinds.indexOf('signature')).toBe(kinds.indexOf('block-end') - 1);
  });

  test('without its terminator the stream has no end', () => {
    const cut = ownFixture('tools.sse').split('event: message_stop')[0] ?? '';
    expect(readStream(cut).at(-1)?.type).toBe('usage');
  });
});

describe('oddities', () => {
  test('a call without fragments means {}; whole input in the start is taken once', () => {
    const call = (input: unknown, fragments: string[]) =>
      readAll([
        start,
        event({ type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 'a', name: 'f', input } }),
        ...fragments.map((partial_json) => event({ type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json } })),
        event({ type: 'content_block_stop', index: 0 }),
        ...stop,
      ]);
    expect(foldEvents(call({}, [''])).blocks[0]?.text).toBe('{}');
    expect(foldEvents(call({ a: 1 }, [])).blocks[0]?.text).toBe('{"a":1}');
    expect(foldEvents(call({}, ['{"a"', ':1}'])).blocks[0]?.text).toBe('{"a":1}');
  });

  test('a call decides the reason, whatever the server says', () => {
    const events = readAll([
      start,
      event({ type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 'a', name: 'f', input: {} } }),
      event({ type: 'content_block_stop', index: 0 }),
      ...stop,
    ]);
    expect(foldEvents(events).finish).toEqual({ reason: 'tool-calls', native: 'end_turn' });
  });

  test('missing starts, stops and message_start are made up for; unknown events and nulls are nothing', () => {
    const events = readAll([
      event({ type: 'content_block_delta', index: 3, delta: { type: 'text_delta', text: 'hi' } }),
      event({ type: 'surprise', index: 3 }),
      event({ type: 'content_block_delta', index: 3, delta: null }),
      event({ type: 'message_delta', delta: { stop_reason: null }, usage: null }),
      ...stop,
    ]);
    expect(events.map(({ type }) => type)).toEqual(['start', 'block-start', 'text-delta', 'block-end', 'finish', 'usage', 'end']);
  });

  test('an error event ends everything; a second message_start and anything after the end are ignored', () => {
    const error = event({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } });
    expect(readAll([start, error, ...stop]).slice(2)).toEqual([
      { type: 'error', error: { class: 'overloaded', code: 'overloaded_error', message: 'Overloaded' } },
    ]);
    expect(readAll([start, start, ...stop, ...stop]).map(({ type }) => type)).toEqual(['start', 'usage', 'finish', 'usage', 'end']);
  });

  test.each([
    [{ code: 503, message: 'Service unavailable' }, 'overloaded', 503],
    [{ code: '429', message: 'slow' }, 'rate', 429],
    [{ message: 'Service unavailable' }, 'server', undefined],
    [{ code: [503], message: 'm' }, 'server', undefined],
  ])('an error event that names a status: %j', (error, expected, status) => {
    const only = readAll([start, event({ type: 'error', error })]).at(-1);
    expect(only).toEqual({ type: 'error', error: expect.objectContaining({ class: expected, ...(status && { status }) }) });
  });

  test('a refusal without blocks shows its explanation', () => {
    const delta = { stop_reason: 'refusal', stop_sequence: null, stop_details: { type: 'refusal', explanation: 'Not this.' } };
    const message = foldEvents(readAll([start, event({ type: 'message_delta', delta, usage: { output_tokens: 5 } }), event({ type: 'message_stop' })]));
    expect(message.blocks).toEqual([{ start: { type: 'refusal' }, text: 'Not this.' }]);
    expect(message.finish.reason).toBe('refusal');
  });

  test('a name from the prototype is no event', () => {
    expect(readAll([event({ type: 'constructor' }), event({ type: '__proto__' })])).toEqual([]);
  });
});

describe('recorded replies', () => {
  const streams = recorded('.sse');
  for (const { name, text } of streams) {
    test(`stream ${name}`, () => {
      const events = readStream(text);
      const message = foldEvents(events);
      expect(events.at(-1)).toEqual({ type: 'end' });
      expect(message.finish.reason).not.toBe('other');
      expect(message.usage.output + message.usage.reasoning).toBeGreaterThan(0);
      const wire = recordsOf(text).map(({ json }) => json as { type: string; delta?: Record<string, string> });
      const said = (type: string, field: string) => wire.flatMap((record) => (record.delta?.['type'] === type ? [record.delta[field]] : [])).join('');
      const folded = (type: string) => message.blocks.flatMap((block) => (block.start.type === type ? [block.text] : [])).join('');
      expect(folded('text')).toBe(said('text_delta', 'text'));
      expect(folded('thinking')).toBe(said('thinking_delta', 'thinking'));
      expect(message.blocks.map((block) => block.signature ?? '').join('')).toBe(said('signature_delta', 'signature'));
      const starts = wire.filter((record) => record.type === 'content_block_start').length;
      if (starts > 0) expect(message.blocks).toHaveLength(starts);
    });
  }

  for (const { name, text } of recorded('response.json')) {
    test(`whole ${name}`, () => {
      const body = JSON.parse(text) as Record<string, unknown>;
      if (name.startsWith('count-tokens')) {
        expect(readTokenCount(body)).toBe(body['input_tokens']);
        return;
      }
      const events = readWhole(body);
      if (body['type'] === 'error') {
        expect(events).toHaveLength(1);
        expect(events[0]?.type).toBe('error');
        return;
      }
      const message = foldEvents(events);
      const content = body['content'] as Record<string, unknown>[];
      const usage = body['usage'] as Record<string, number>;
      expect(message.blocks).toHaveLength(content.length);
      content.forEach((block, place) => {
        const read = message.blocks[place];
        if (block['type'] === 'text') expect(read?.text).toBe(block['text']);
        if (block['type'] === 'tool_use') expect(JSON.parse(read?.text ?? '')).toEqual(block['input']);
        if (block['type'] === 'thinking') expect([read?.text, read?.signature]).toEqual([block['thinking'], block['signature']]);
      });
      const { input, cacheRead, cacheWrite5m, cacheWrite1h, output, reasoning } = message.usage;
      expect([input, cacheRead, cacheWrite5m + cacheWrite1h, output + reasoning]).toEqual([
        usage['input_tokens'],
        usage['cache_read_input_tokens'] ?? 0,
        usage['cache_creation_input_tokens'] ?? 0,
        usage['output_tokens'],
      ]);
    });
  }
});
