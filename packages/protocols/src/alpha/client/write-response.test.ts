import { describe, expect, test } from '@jest/globals';
import { noUsage } from '@model-gateway/contracts';
import { validateStream } from '../../../test/validate/alpha.ts';
import type { ChatEvent } from '../../chat/event.ts';
import { foldEvents } from '../../chat/fold.ts';
import type { ReplyContext } from '../../contract/index.ts';
import type { Echo, WireMessage } from '../shared/wire.ts';
import { AlphaReader } from '../upstream/read-response.ts';
import { AlphaWriter, writeWhole } from './write-response.ts';

interface Chunk {
  id: string;
  choices: [{ delta: WireMessage; finish_reason: string | null }];
  usage?: unknown;
}

function context(echo: Partial<Echo> = {}): ReplyContext {
  let next = 0;
  return {
    requestId: 'r',
    model: 'name-of-caller',
    createdAt: 1_700_000_000,
    now: () => 1_700_000_002,
    streamForm: 'sse',
    mintId: (prefix) => `${prefix}${++next}`,
    sealSignature: (signature) => `sealed:${signature}`,
    echo: { includeUsage: false, legacyFunctions: false, ...echo },
    inputEstimate: 0,
  };
}

function write(events: ChatEvent[], echo: Partial<Echo> = {}) {
  const writer = new AlphaWriter(context(echo));
  const text = events.map((event) => writer.write(event)).join('');
  const chunks = text
    .split('\n\n')
    .filter((event) => event.startsWith('data: {'))
    .map((event) => JSON.parse(event.slice(6)) as Chunk);
  return { text, chunks, losses: writer.losses };
}

const start: ChatEvent = { type: 'start', id: 'upstream', model: 'upstream-model' };
const end: ChatEvent = { type: 'end' };
const usage = { ...noUsage, input: 10, cacheRead: 5, cacheWrite5m: 2, output: 7, reasoning: 3 };
const callEvents = (index: number, id: string, name: string, ...fragments: string[]): ChatEvent[] => [
  { type: 'block-start', index, block: { type: 'tool-call', id, name } },
  ...fragments.map((text): ChatEvent => ({ type: 'arguments-delta', index, text })),
  { type: 'block-end', index },
];
const finish = (reason: 'stop' | 'tool-calls' | 'pause' | 'refusal'): ChatEvent => ({ type: 'finish', reason });

test('citations of all texts come in one delta before the end, as readers of the official SDKs keep one alone', () => {
  const cited = (index: number, text: string): ChatEvent[] => [
    { type: 'block-start', index, block: { type: 'text' } },
    { type: 'text-delta', index, text },
    { type: 'raw-delta', index, value: { citation: { url: `https://pages.example/${text}`, title: text } } },
    { type: 'block-end', index },
  ];
  const { text, chunks } = write([start, ...cited(0, 'one'), ...cited(1, 'two'), finish('stop'), end]);
  expect(validateStream(text)).toEqual([]);
  const url_citation = (title: string, start_index: number) => ({
    type: 'url_citation',
    url_citation: { url: `https://pages.example/${title}`, title, start_index, end_index: start_index + 3 },
  });
  expect(chunks.slice(-2).map(({ choices: [{ delta, finish_reason }] }) => [delta, finish_reason])).toEqual([
    [{ annotations: [url_citation('one', 0), url_citation('two', 3)] }, null],
    [{}, 'stop'],
  ]);
  expect(chunks.filter(({ choices: [{ delta }] }) => 'annotations' in delta)).toHaveLength(1);
});

test('text: role first, one identity, finish with an empty delta, terminator', () => {
  const { text, chunks } = write([
    start,
    { type: 'block-start', index: 0, block: { type: 'text' } },
    { type: 'text-delta', index: 0, text: 'Hi' },
    { type: 'block-end', index: 0 },
    finish('stop'),
    end,
  ]);
  expect(validateStream(text)).toEqual([]);
  expect(chunks.map((chunk) => chunk.choices[0].delta)).toEqual([{ role: 'assistant', content: '', refusal: null }, { content: 'Hi' }, {}]);
  expect(new Set(chunks.map((chunk) => chunk.id)).size).toBe(1);
  expect(chunks[0]).toMatchObject({ id: 'chatcmpl-1', model: 'name-of-caller', created: 1_700_000_000 });
  expect(chunks.every((chunk) => !('usage' in chunk))).toBe(true);
});

test('usage comes last, on a chunk of its own, when it was asked for', () => {
  const { text, chunks } = write([start, finish('stop'), { type: 'usage', usage }, end], { includeUsage: true });
  expect(validateStream(text)).toEqual([]);
  expect(chunks.slice(0, -1).every((chunk) => chunk.usage === null)).toBe(true);
  expect(chunks.at(-1)).toMatchObject({
    choices: [],
    usage: {
      prompt_tokens: 17,
      completion_tokens: 10,
      total_tokens: 27,
      prompt_tokens_details: { cached_tokens: 5, cache_write_tokens: 2 },
      completion_tokens_details: { reasoning_tokens: 3 },
    },
  });
});

describe('calls', () => {
  test('are numbered, keep the id of the upstream, and get their fragments as they come', () => {
    const { text, chunks } = write([
      start,
      ...callEvents(0, 'their-id', 'f', '{"a"', ':1}'),
      ...callEvents(1, '', 'g'),
      ...callEvents(2, 'their-id', 'h', '{}'),
      finish('tool-calls'),
      end,
    ]);
    expect(validateStream(text)).toEqual([]);
    const fragments = chunks.flatMap((chunk) => chunk.choices[0].delta.tool_calls ?? []);
    expect(fragments[0]).toEqual({ index: 0, id: 'their-id', type: 'function', function: { name: 'f', arguments: '' } });
    expect(fragments.filter((one) => one.index === 0).map((one) => one.function?.arguments)).toEqual(['', '{"a"', ':1}']);
    expect(fragments.filter((one) => one.index === 1).map((one) => one.function?.arguments)).toEqual(['', '{}']);
    expect(fragments.filter((one) => one.id !== undefined).map((one) => one.id)).toEqual(['their-id', 'call_2', 'call_3']);
  });

  test('concatenated fragments out are the fragments in, and the signature is on the call', () => {
    const events: ChatEvent[] = [
      start,
      ...callEvents(0, 'c', 'f', '{"x":"', 'é\\n"', '}').slice(0, -1),
      { type: 'signature', index: 0, signature: 'S' },
      { type: 'block-end', index: 0 },
      finish('tool-calls'),
      end,
    ];
    const { text } = write(events);
    expect(validateStream(text)).toEqual([]);
    const block = foldEvents(readBack(text)).blocks[0];
    expect(block).toEqual({ start: { type: 'tool-call', id: 'c', name: 'f' }, text: '{"x":"é\\n"}', signature: 'sealed:S' });
  });

  test('a caller of `functions` reads `function_call`', () => {
    const { chunks, losses } = write([start, ...callEvents(0, 'c', 'f', '{}'), ...callEvents(1, 'd', 'g', '{}'), finish('tool-calls'), end], {
      legacyFunctions: true,
    });
    expect(chunks.flatMap((chunk) => chunk.choices[0].delta.function_call ?? [])).toEqual([{ name: 'f', arguments: '' }, { arguments: '{}' }]);
    expect(chunks.at(-1)?.choices[0].finish_reason).toBe('function_call');
    expect(losses.map((loss) => loss.field)).toContain('tool_calls');
  });
});

test('what has no place is declared, and an error is never written', () => {
  const writer = new AlphaWriter(context());
  expect(writer.write({ type: 'error', error: { class: 'server', message: 'x' } })).toBe('');
  const { losses } = write([
    start,
    { type: 'block-start', index: 0, block: { type: 'raw', protocol: 'other', value: {} } },
    { type: 'raw-delta', index: 0, value: 1 },
    { type: 'block-end', index: 0 },
    finish('pause'),
    end,
  ]);
  expect(losses.map((loss) => loss.field)).toEqual(['reply.raw', 'finish.pause']);
});

test('two blocks of reasoning keep their own signatures in a stream and in a whole reply', () => {
  const events: ChatEvent[] = [
    start,
    { type: 'block-start', index: 0, block: { type: 'thinking' } },
    { type: 'thinking-delta', index: 0, text: 'one' },
    { type: 'signature', index: 0, signature: 'A' },
    { type: 'block-end', index: 0 },
    { type: 'block-start', index: 1, block: { type: 'redacted-thinking', data: 'D' } },
    { type: 'block-end', index: 1 },
    { type: 'block-start', index: 2, block: { type: 'thinking' } },
    { type: 'thinking-delta', index: 2, text: 'two' },
    { type: 'signature', index: 2, signature: 'B' },
    { type: 'block-end', index: 2 },
    finish('stop'),
    end,
  ];
  const expected = [
    ['one', 'sealed:A'],
    ['', undefined],
    ['two', 'sealed:B'],
  ];
  const { text } = write(events);
  expect(validateStream(text)).toEqual([]);
  expect(foldEvents(readBack(text)).blocks.map((block) => [block.text, block.signature])).toEqual(expected);
  const { body } = writeWhole(foldEvents(events), context());
  expect(JSON.parse(JSON.stringify(body)).choices[0].message).toMatchObject({ content: null, reasoning_content: 'onetwo' });
});

test('a whole reply', () => {
  const events: ChatEvent[] = [
    start,
    { type: 'block-start', index: 0, block: { type: 'text' } },
    { type: 'text-delta', index: 0, text: 'Hi' },
    { type: 'block-end', index: 0 },
    ...callEvents(1, 'c', 'f', '{"a":', '1}'),
    ...callEvents(2, '', 'g'),
    finish('tool-calls'),
    { type: 'usage', usage },
    end,
  ];
  const { body } = writeWhole(foldEvents(events), context());
  expect(JSON.parse(JSON.stringify(body))).toEqual({
    id: expect.stringMatching(/^chatcmpl-/),
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'name-of-caller',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: 'Hi',
          refusal: null,
          tool_calls: [
            { id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
            { id: expect.stringMatching(/^call_/), type: 'function', function: { name: 'g', arguments: '{}' } },
          ],
        },
        logprobs: null,
        finish_reason: 'tool_calls',
      },
    ],
    usage: expect.objectContaining({ total_tokens: 27 }),
  });
});

function readBack(text: string): ChatEvent[] {
  const reader = new AlphaReader();
  return text
    .split('\n\n')
    .filter(Boolean)
    .flatMap((event) => {
      const data = event.slice(6);
      return reader.read({ data, json: data === '[DONE]' ? undefined : (JSON.parse(data) as unknown) });
    });
}

test('the signature of a call stands in its first chunk, where clients look for it', () => {
  const [begin, first, ...rest] = callEvents(0, 'c', 'f', '{}');
  const calls = (events: ChatEvent[]) => write([start, ...events, end]).chunks.flatMap(({ choices }) => choices[0].delta.tool_calls ?? []);
  const signed = calls([begin!, { type: 'signature', index: 0, signature: 's' }, first!, ...rest]);
  expect(signed[0]).toMatchObject({ id: 'c', function: { name: 'f', arguments: '' }, extra_content: { google: { thought_signature: 'sealed:s' } } });
  expect(signed.map((call) => call.function?.arguments)).toEqual(['', '{}']);
  expect(calls([begin!, first!, ...rest]).map((call) => call.function?.arguments)).toEqual(['', '{}']);
});
