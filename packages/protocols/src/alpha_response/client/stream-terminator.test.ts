/** Whatever a caller has seen, the stream terminator makes it a complete, valid, incomplete reply. */
import { describe, expect, test } from '@jest/globals';
import { noUsage } from '@model-gateway/contracts';
import { readStream, recorded, replyContext, terminatorContext } from '../../../test/support/alpha-response.ts';
import { validateStream } from '../../../test/validate/alpha-response.ts';
import type { ChatEvent } from '../../chat/event.ts';
import { asArray, own } from '../../kit/read.ts';
import { ResponseReader } from '../upstream/read-response.ts';
import { createTerminator } from './stream-terminator.ts';
import { createWriter } from './write-response.ts';

const warning = { reason: 'upstream_broken', detail: 'The upstream closed the reply before it was complete.', timestamp: '2026-01-01T00:00:00.000Z' };
const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

/** The caller's stream of an events list, and where its whole events end. */
function written(events: ChatEvent[]): { text: string; boundaries: number[] } {
  const writer = createWriter(replyContext());
  const text = events.map((event) => writer.write(event)).join('');
  return { text, boundaries: boundariesOf(text) };
}

const boundariesOf = (text: string): number[] => [0, ...[...text.matchAll(/\n\n/g)].map((match) => match.index + 2)];

function closeAfter(prefix: string): { closing: string; ended: boolean } {
  const terminator = createTerminator(terminatorContext());
  // Pieces as they may come, cut anywhere.
  for (let at = 0; at < prefix.length; at += 997) terminator.observe(encode(prefix.slice(at, at + 997)));
  return { ended: terminator.ended, closing: terminator.close(warning, { ...noUsage, input: 3, output: 2 }) };
}

const terminalOf = (text: string): unknown => JSON.parse(text.trimEnd().split('\n').at(-1)?.slice(6) ?? '');

const everything: ChatEvent[] = [
  { type: 'start' },
  { type: 'block-start', index: 0, block: { type: 'thinking' } },
  { type: 'thinking-delta', index: 0, text: 'hmm' },
  { type: 'signature', index: 0, signature: 'P' },
  { type: 'block-end', index: 0 },
  { type: 'block-start', index: 1, block: { type: 'text' } },
  { type: 'text-delta', index: 1, text: 'é😀 ' },
  { type: 'text-delta', index: 1, text: 'b' },
  { type: 'block-start', index: 2, block: { type: 'tool-call', id: 'a', name: 'f' } },
  { type: 'arguments-delta', index: 2, text: '{"x":' },
  { type: 'block-start', index: 3, block: { type: 'tool-call', id: 'b', name: 'g', custom: true } },
  { type: 'arguments-delta', index: 3, text: 'free' },
  { type: 'arguments-delta', index: 2, text: '1}' },
  { type: 'block-end', index: 1 },
  { type: 'block-end', index: 2 },
  { type: 'block-end', index: 3 },
  { type: 'block-start', index: 4, block: { type: 'refusal' } },
  { type: 'refusal-delta', index: 4, text: 'no' },
  { type: 'block-end', index: 4 },
  { type: 'finish', reason: 'tool-calls' },
  { type: 'usage', usage: noUsage },
  { type: 'end' },
];

describe('stream terminator', () => {
  test('after every event of a stream with everything in it', () => {
    const { text, boundaries } = written(everything);
    for (const boundary of boundaries) {
      const prefix = text.slice(0, boundary);
      const { closing, ended } = closeAfter(prefix);
      expect({ boundary, problems: validateStream(prefix + closing) }).toEqual({ boundary, problems: [] });
      expect(ended).toBe(boundary === text.length);
      expect(closing === '').toBe(ended);
    }
  });

  test('nothing was written yet', () => {
    const { closing } = closeAfter('');
    expect(validateStream(closing)).toEqual([]);
    expect(terminalOf(closing)).toMatchObject({
      type: 'response.incomplete',
      sequence_number: 2,
      response: {
        model: 'caller-model',
        status: 'incomplete',
        incomplete_details: { reason: 'max_output_tokens' },
        output: [],
        usage: { input_tokens: 3, output_tokens: 2, total_tokens: 5 },
      },
      _gateway_warning: { ...warning, last_finish_reason: null },
    });
  });

  test('a cut call closes incomplete, its arguments never done', () => {
    const { text } = written(everything.slice(0, 10));
    const { closing } = closeAfter(text);
    expect(closing).not.toContain('function_call_arguments.done');
    const output = asArray(own(own(terminalOf(closing), 'response'), 'output'));
    expect(output?.[2]).toMatchObject({ type: 'function_call', status: 'incomplete', arguments: '{"x":' });
    expect(output?.[1]).toMatchObject({ status: 'incomplete', content: [{ text: 'é😀 b' }] });
  });

  test('read again, a closed stream is cut and never calls for a tool', () => {
    const { text } = written(everything.slice(0, 13));
    const events = readStream(text + closeAfter(text).closing, new ResponseReader());
    expect(events.find((event) => event.type === 'finish')).toMatchObject({ reason: 'length' });
    expect(events.at(-1)).toEqual({ type: 'end' });
  });

  test('CRLF, comments, keep-alives, [DONE] and a missing last blank line', () => {
    const { text } = written(everything.slice(0, 8));
    const wire = `: hello\n\n${text.replaceAll('\n', '\r\n')}:keep-alive\n\n`;
    expect(terminalOf(closeAfter(wire).closing)).toMatchObject({ sequence_number: 15 });
    const { closing } = closeAfter(text.slice(0, -2));
    expect(closing.startsWith('\n\n')).toBe(true);
    expect(validateStream(text.slice(0, -2) + closing)).toEqual([]);
    const complete = written(everything).text;
    expect(closeAfter(`${complete}data: [DONE]\n\n`)).toEqual({ ended: true, closing: '' });
  });

  test('a second close adds nothing', () => {
    const terminator = createTerminator(terminatorContext());
    expect(terminator.close(warning)).not.toBe('');
    expect(terminator.ended).toBe(true);
    expect(terminator.close(warning)).toBe('');
  });

  const streams = recorded('response.sse').filter(({ text }) => text.includes('"sequence_number":0') && text.includes('response.output_item.added'));
  (streams.length > 0 ? test.each(streams) : test.skip.each([{ name: 'none', text: '' }]))('recorded, passed verbatim: $name', ({ name, text }) => {
    const boundaries = boundariesOf(text);
    const step = Math.max(1, Math.floor(boundaries.length / 60));
    for (let at = 2; at < boundaries.length - 1; at += at < 40 ? 1 : step) {
      const prefix = text.slice(0, boundaries[at]);
      if (prefix.includes('event: error')) break;
      const { closing, ended } = closeAfter(prefix);
      if (ended) break;
      const closed = terminalOf(closing);
      expect(own(closed, 'type')).toBe('response.incomplete');
      const items = asArray(own(own(closed, 'response'), 'output'));
      expect(items).toHaveLength(prefix.match(/"type": ?"response.output_item.added"/g)?.length ?? 0);
      expect(items?.some((item) => own(item, 'status') === 'in_progress')).toBe(false);
      if (strict.has(name)) expect({ at, problems: validateStream(prefix + closing) }).toEqual({ at, problems: [] });
    }
  });
});

/** Recordings without oddities that our own validator refuses (renamed ids, parts that count from 1, a queue first). */
const strict = new Set([
  'text-stream/response.sse',
  'tools-stream/1.response.sse',
  'tools-stream/2.response.sse',
  'paired-simple/2.response.sse',
  'paired-tool-call/2.response.sse',
  'stream-incomplete/response.sse',
  'custom-tool-stream/2.response.sse',
  'web-search-stream/response.sse',
  'mcp-approval-stream/response.sse',
  'deepseek-reasoning-text-stream/1.response.sse',
]);

test.each([
  ['its response object', (nested: string) => [`{"type":"response.created","sequence_number":0,"response":{"id":"resp_1","metadata":${nested}}}`]],
  [
    'an item',
    (nested: string) => [
      '{"type":"response.created","sequence_number":0,"response":{"id":"resp_1"}}',
      `{"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"id":"msg_1","type":"message","role":"assistant","content":${nested}}}`,
    ],
  ],
])('a stream ends though %s nests too deep to be printed again', (_what, events) => {
  const seen = events(`${'['.repeat(50_000)}${']'.repeat(50_000)}`);
  const { closing } = closeAfter(seen.map((data) => `event: ${JSON.parse(data).type}\ndata: ${data}\n\n`).join(''));
  const first = JSON.parse(closing.slice(closing.indexOf('{'), closing.indexOf('\n\n')));
  expect(first.sequence_number).toBe(seen.length);
  expect(terminalOf(closing)).toMatchObject({ type: 'response.incomplete', response: { id: 'resp_1', status: 'incomplete' }, _gateway_warning: warning });
});
