/** The caller's stream is always one that the strict validator accepts, at every prefix and after the stream terminator too; and nothing is lost. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { open, ownFixture, readStream, recorded, replyContext, seal, terminatorContext } from '../../../test/support/beta.ts';
import { validateStream } from '../../../test/validate/beta.ts';
import type { ChatEvent } from '../../chat/event.ts';
import { foldEvents, type Message, unfoldMessage } from '../../chat/fold.ts';
import { readWhole } from '../upstream/read-response.ts';
import { createTerminator } from './stream-terminator.ts';
import { createWriter, writeWhole } from './write-response.ts';

const usage = { input: 10, cacheRead: 3, cacheWrite5m: 2, cacheWrite1h: 1, output: 20, reasoning: 5 };
const write = (events: readonly ChatEvent[]): string => {
  const writer = createWriter(replyContext());
  return events.map((event) => writer.write(event)).join('');
};
const warning = { reason: 'upstream_broken', detail: 'The upstream closed the reply.', timestamp: '2026-01-01T00:00:00.000Z' };

/** Every prefix of the events, written and closed, is a valid stream that carries the warning exactly once. */
function checkEveryPrefix(events: readonly ChatEvent[]): void {
  for (let length = 0; length <= events.length; length++) {
    const written = write(events.slice(0, length));
    expect(validateStream(written, { partial: true })).toEqual([]);
    const terminator = createTerminator(terminatorContext());
    terminator.observe(Buffer.from(written));
    const closed = written + terminator.close(warning);
    expect(validateStream(closed)).toEqual([]);
    expect(closed.split('_gateway_warning')).toHaveLength(length === events.length && events.at(-1)?.type === 'end' ? 1 : 2);
  }
}

/** Removes ids and signatures, so that what went in can be compared with what came out. */
const comparable = (message: Message) => ({
  blocks: message.blocks
    .filter((block) => !['text', 'thinking', 'refusal'].includes(block.start.type) || block.text !== '' || block.signature)
    .map((block) => ({
      ...block,
      start:
        block.start.type === 'tool-call'
          ? { ...block.start, id: '' }
          : block.start.type === 'redacted-thinking'
            ? { ...block.start, data: open(block.start.data) ?? block.start.data }
            : block.start.type === 'refusal'
              ? { type: 'text' }
              : block.start,
      ...(block.signature !== undefined && { signature: open(block.signature) ?? block.signature }),
    })),
  finish: message.finish.reason,
  usage: message.usage,
});

describe('streams', () => {
  test('text: the caller’s model, minted ids, our input count, the corrected usage at the end', () => {
    const text = write([
      { type: 'start', id: 'upstream', model: 'upstream-model' },
      { type: 'block-start', index: 0, block: { type: 'text' } },
      { type: 'text-delta', index: 0, text: '' },
      { type: 'text-delta', index: 0, text: 'Hello' },
      { type: 'block-end', index: 0 },
      { type: 'finish', reason: 'stop' },
      { type: 'usage', usage },
      { type: 'end' },
    ]);
    expect(validateStream(text)).toEqual([]);
    expect(text).toBe(
      [
        'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_0001","type":"message","role":"assistant","model":"callers-name","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":42,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0},"output_tokens":1,"service_tier":"standard"}}}\n\n',
        'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n',
        'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello"}}\n\n',
        'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}\n\n',
        'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"input_tokens":10,"cache_creation_input_tokens":3,"cache_read_input_tokens":3,"cache_creation":{"ephemeral_5m_input_tokens":2,"ephemeral_1h_input_tokens":1},"output_tokens":25,"output_tokens_details":{"thinking_tokens":5}}}\n\n',
        'event: message_stop\ndata: {"type":"message_stop"}\n\n',
      ].join(''),
    );
  });

  test('parallel calls that arrive interleaved come out one after the other, whole', () => {
    const text = write([
      { type: 'start' },
      { type: 'block-start', index: 0, block: { type: 'tool-call', id: 'call_a', name: 'first' } },
      { type: 'block-start', index: 1, block: { type: 'tool-call', id: 'call_a', name: 'second' } },
      { type: 'arguments-delta', index: 1, text: '{"b":' },
      { type: 'arguments-delta', index: 0, text: '{"a":' },
      { type: 'arguments-delta', index: 1, text: '2}' },
      { type: 'arguments-delta', index: 0, text: '1}' },
      { type: 'block-end', index: 1 },
      { type: 'block-end', index: 0 },
      { type: 'finish', reason: 'stop' },
      { type: 'end' },
    ]);
    expect(validateStream(text)).toEqual([]);
    expect(text).not.toContain('call_a');
    const message = foldEvents(readStream(text));
    expect(message.blocks.map((block) => [block.start.type === 'tool-call' && block.start.name, block.text])).toEqual([
      ['first', '{"a":1}'],
      ['second', '{"b":2}'],
    ]);
    expect(message.finish.reason).toBe('tool-calls');
  });

  test('text, tool, text, tool: each closes before the next opens and no delta is lost', () => {
    const kinds = ['text', 'tool-call', 'text', 'tool-call'] as const;
    const events: ChatEvent[] = [{ type: 'start' }];
    kinds.forEach((kind, index) => {
      events.push({ type: 'block-start', index, block: kind === 'text' ? { type: 'text' } : { type: 'tool-call', id: '', name: 'f' } });
      events.push(kind === 'text' ? { type: 'text-delta', index, text: `t${index}` } : { type: 'arguments-delta', index, text: `{"n":${index}}` });
      events.push({ type: 'block-end', index });
    });
    events.push({ type: 'finish', reason: 'tool-calls' }, { type: 'usage', usage }, { type: 'end' });
    checkEveryPrefix(events);
    expect(foldEvents(readStream(write(events))).blocks.map((block) => block.text)).toEqual(['t0', '{"n":1}', 't2', '{"n":3}']);
  });

  test('a text block that never says anything keeps nobody waiting and is not shown', () => {
    const writer = createWriter(replyContext());
    writer.write({ type: 'block-start', index: 0, block: { type: 'text' } });
    writer.write({ type: 'block-start', index: 1, block: { type: 'thinking' } });
    // A call's start waits for one event, which may be its signature.
    expect(writer.write({ type: 'block-start', index: 2, block: { type: 'tool-call', id: '', name: 'f' } })).toBe('');
    const begun = writer.write({ type: 'arguments-delta', index: 2, text: '{' });
    expect(begun).toContain('"index":0,"content_block":{"type":"tool_use"');
    expect(begun).toContain('"partial_json":"{"');
    expect(writer.write({ type: 'finish', reason: 'stop' })).toContain('content_block_stop');
  });

  test('usage that comes with the start is in message_start; one that comes after the finish is in message_delta', () => {
    const writer = createWriter(replyContext());
    expect(writer.write({ type: 'start' }) + writer.write({ type: 'usage', usage: { ...usage, output: 0, reasoning: 0 } })).toBe('');
    expect(writer.write({ type: 'block-start', index: 0, block: { type: 'text' } })).toContain('"input_tokens":10');
    expect(writer.write({ type: 'finish', reason: 'length' })).toBe('');
    expect(writer.write({ type: 'usage', usage: { ...usage, input: 99 } })).toBe('');
    expect(writer.write({ type: 'end' })).toMatch(/"stop_reason":"max_tokens".*"input_tokens":99/);
    expect(writer.write({ type: 'end' })).toBe('');
  });

  test('signatures are sealed, once, just before the stop; opaque blocks too', () => {
    const text = write(readStream(ownFixture('tools.sse')));
    expect(text).toContain(`{"type":"signature_delta","signature":"${seal('c2lnbmF0dXJl')}"}`);
    expect(text).toContain(`{"type":"redacted_thinking","data":"${seal('b3BhcXVl')}"}`);
    expect(text).not.toContain('"c2lnbmF0dXJl"');
    expect(text).not.toContain('toolu_01Upstream');
  });

  test('thinking without text shows its signature alone; without either it is not shown', () => {
    const thinking = (signature: boolean): ChatEvent[] => [
      { type: 'block-start', index: 0, block: { type: 'thinking' } },
      ...(signature ? [{ type: 'signature', index: 0, signature: 'p' } as const] : []),
      { type: 'block-end', index: 0 },
      { type: 'finish', reason: 'stop' },
      { type: 'end' },
    ];
    expect(write(thinking(true))).toContain('signature_delta');
    expect(write(thinking(false))).not.toContain('thinking');
  });

  test('a signature on text opens no block: an empty text is refused when the caller sends it back', () => {
    const writer = createWriter(replyContext());
    const events: ChatEvent[] = [
      { type: 'block-start', index: 0, block: { type: 'text' } },
      { type: 'text-delta', index: 0, text: 'Hi' },
      { type: 'signature', index: 0, signature: 'p' },
      { type: 'block-end', index: 0 },
      { type: 'block-start', index: 1, block: { type: 'text' } },
      { type: 'text-delta', index: 1, text: '' },
      { type: 'signature', index: 1, signature: 'p' },
      { type: 'block-end', index: 1 },
      { type: 'finish', reason: 'stop' },
      { type: 'end' },
    ];
    const text = events.map((event) => writer.write(event)).join('');
    expect(validateStream(text)).toEqual([]);
    expect(text.split('content_block_start')).toHaveLength(3);
    expect(text).not.toContain('signature');
    expect(writer.losses.map(({ field }) => field)).toEqual(['signature']);
  });

  test('a refusal is text with its own stop reason; another vendor’s raw blocks are declared, not shown', () => {
    const writer = createWriter(replyContext());
    const events: ChatEvent[] = [
      { type: 'block-start', index: 0, block: { type: 'raw', protocol: 'gamma', value: { executableCode: {} } } },
      { type: 'raw-delta', index: 0, value: { more: 1 } },
      { type: 'block-end', index: 0 },
      { type: 'block-start', index: 1, block: { type: 'refusal' } },
      { type: 'refusal-delta', index: 1, text: 'No.' },
      { type: 'block-end', index: 1 },
      { type: 'finish', reason: 'content-filter' },
      { type: 'end' },
    ];
    const text = events.map((event) => writer.write(event)).join('');
    expect(validateStream(text)).toEqual([]);
    expect(text).toContain('"text":"No."');
    expect(text).toContain('"stop_reason":"refusal"');
    expect(text).not.toContain('executableCode');
    expect(writer.losses.map(({ field }) => field)).toEqual(['content']);
  });

  test('the free text of a custom tool is valid JSON however it is cut', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' })), (pieces) => {
        const text = write([
          { type: 'block-start', index: 0, block: { type: 'tool-call', id: 'x', name: 'patch', custom: true } },
          ...pieces.map((piece): ChatEvent => ({ type: 'arguments-delta', index: 0, text: piece })),
          { type: 'block-end', index: 0 },
          { type: 'finish', reason: 'tool-calls' },
          { type: 'end' },
        ]);
        expect(JSON.parse(foldEvents(readStream(text)).blocks[0]?.text ?? '')).toEqual({ input: pieces.join('') });
      }),
      { numRuns: 50 },
    );
  });
});

/** Any interleaving a reader may produce: blocks open in order, deltas and ends anywhere after, everything closed before the finish. */
const interleaved: fc.Arbitrary<ChatEvent[]> = fc
  .array(
    fc.record({
      kind: fc.constantFrom('text', 'thinking', 'tool-call', 'refusal', 'redacted-thinking'),
      pieces: fc.array(fc.string({ maxLength: 6 }), { maxLength: 4 }),
    }),
    { maxLength: 5 },
  )
  .chain((blocks) => {
    const queues = blocks.map(({ kind, pieces }, index): ChatEvent[] => {
      const delta = {
        text: 'text-delta',
        thinking: 'thinking-delta',
        'tool-call': 'arguments-delta',
        refusal: 'refusal-delta',
        'redacted-thinking': undefined,
      }[kind];
      const start =
        kind === 'tool-call' ? { type: kind, id: 'same', name: 'f' } : kind === 'redacted-thinking' ? { type: kind, data: `d${index}` } : { type: kind };
      return [
        { type: 'block-start', index, block: start } as ChatEvent,
        ...(delta === undefined ? [] : pieces.map((text) => ({ type: delta, index, text }) as ChatEvent)),
        { type: 'block-end', index },
      ];
    });
    return fc.infiniteStream(fc.nat()).map((choices) => {
      const events: ChatEvent[] = [{ type: 'start' }];
      let opened = 0;
      while (queues.some((queue) => queue.length > 0)) {
        const choice = choices.next().value as number;
        const ready = queues.flatMap((queue, index) => (queue.length > 0 && index <= opened ? [index] : []));
        const index = ready[choice % ready.length] as number;
        const event = queues[index]?.shift() as ChatEvent;
        if (event.type === 'block-start') opened = Math.max(opened, index + 1);
        events.push(event);
      }
      return [...events, { type: 'finish', reason: 'stop' }, { type: 'usage', usage }, { type: 'end' }] as ChatEvent[];
    });
  });

test('every interleaving comes out valid, with each block whole', () => {
  fc.assert(
    fc.property(interleaved, (events) => {
      const text = write(events);
      expect(validateStream(text)).toEqual([]);
      const texts = (message: Message) =>
        comparable(message)
          .blocks.map((block) => (block.start.type === 'tool-call' && block.text === '' ? 'tool-call {}' : `${block.start.type} ${block.text}`))
          .sort();
      expect(texts(foldEvents(readStream(text)))).toEqual(texts(foldEvents(events)));
    }),
    { numRuns: 200 },
  );
});

describe('whole replies', () => {
  const message: Message = {
    blocks: [
      { start: { type: 'thinking' }, text: '', signature: 'proof' },
      { start: { type: 'thinking' }, text: '' },
      { start: { type: 'text' }, text: '' },
      { start: { type: 'text' }, text: 'Hi' },
      { start: { type: 'tool-call', id: 'call_1', name: 'f' }, text: '' },
      { start: { type: 'tool-call', id: 'call_2', name: 'g' }, text: '{"__proto__":{"a":1},"b":' },
      { start: { type: 'tool-call', id: 'call_3', name: 'h', custom: true }, text: 'free' },
    ],
    finish: { reason: 'stop-sequence', stopSequence: 'END' },
    usage,
  };

  test('content, ids, stop and usage', () => {
    const { body, losses } = writeWhole(message, replyContext());
    expect(body).toEqual({
      id: 'msg_0001',
      type: 'message',
      role: 'assistant',
      model: 'callers-name',
      content: [
        { type: 'thinking', thinking: '', signature: seal('proof') },
        { type: 'text', text: 'Hi' },
        { type: 'tool_use', id: 'toolu_0002', name: 'f', input: {} },
        { type: 'tool_use', id: 'toolu_0003', name: 'g', input: {} },
        { type: 'tool_use', id: 'toolu_0004', name: 'h', input: { input: 'free' } },
      ],
      stop_reason: 'stop_sequence',
      stop_sequence: 'END',
      usage: {
        input_tokens: 10,
        cache_creation_input_tokens: 3,
        cache_read_input_tokens: 3,
        cache_creation: { ephemeral_5m_input_tokens: 2, ephemeral_1h_input_tokens: 1 },
        output_tokens: 25,
        output_tokens_details: { thinking_tokens: 5 },
        service_tier: 'standard',
      },
    });
    expect(losses.map(({ field, action }) => `${action} ${field}`)).toEqual(['emulated tool_use.input', 'dropped tool_use.input']);
  });

  test('the same message streamed and whole reads the same', () => {
    const shown = { ...message, blocks: message.blocks.filter((block) => block.text !== '{"__proto__":{"a":1},"b":') };
    const streamed = foldEvents(readStream(write(unfoldMessage(shown))));
    const whole = foldEvents(readWhole(writeWhole(shown, replyContext()).body));
    expect(comparable(streamed)).toEqual(comparable(whole));
  });
});

describe('recorded replies', () => {
  for (const { name, text } of recorded('.sse')) {
    test(`read and written again: ${name}`, () => {
      const events = readStream(text);
      const written = write(events);
      expect(validateStream(written)).toEqual([]);
      expect(comparable(foldEvents(readStream(written)))).toEqual(comparable(foldEvents(events)));
    });
  }

  for (const { name, text } of recorded('.sse').filter(({ text }) => text.length < 40_000)) {
    test(`cut anywhere and closed: ${name}`, () => checkEveryPrefix(readStream(text)));
  }

  for (const { name, text } of recorded('response.json').filter((file) => file.text.includes('"content"'))) {
    test(`whole, read and written again: ${name}`, () => {
      const message = foldEvents(readWhole(JSON.parse(text)));
      const again = foldEvents(readWhole(writeWhole(message, replyContext()).body));
      expect(comparable(again)).toEqual(comparable(message));
    });
  }
});
