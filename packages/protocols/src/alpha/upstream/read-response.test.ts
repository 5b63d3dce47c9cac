import { describe, expect, test } from '@jest/globals';
import type { ChatEvent } from '../../chat/event.ts';
import { foldEvents } from '../../chat/fold.ts';
import { chatFamilyOfModel } from '../shared/families.ts';
import { AlphaReader, readWhole } from './read-response.ts';

const chunk = (delta: unknown, more: object = {}, top: object = {}) => ({
  id: 'chatcmpl-1',
  created: 5,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason: null, ...more }],
  ...top,
});
const call = (index: unknown, id: unknown, name: unknown, args: unknown) => ({
  tool_calls: [{ index, id, type: 'function', function: { name, arguments: args } }],
});

/** A string is sent as it is; anything else as the JSON of a data line. */
function read(...records: unknown[]): ChatEvent[] {
  const reader = new AlphaReader();
  const events = records.flatMap((record) =>
    reader.read(typeof record === 'string' ? { data: record, json: undefined } : { data: JSON.stringify(record), json: record }),
  );
  return [...events, ...reader.finish()];
}

const done = [chunk({}, { finish_reason: 'stop' }), '[DONE]'];
const blocks = (events: ChatEvent[]) => foldEvents(events.filter((event) => event.type !== 'error')).blocks.map((block) => [block.start.type, block.text]);
const calls = (events: ChatEvent[]) =>
  foldEvents(events).blocks.flatMap((block) => (block.start.type === 'tool-call' ? [[block.start.id, block.start.name, block.text]] : []));
const finishOf = (events: ChatEvent[]) => events.find((event) => event.type === 'finish')?.reason;

// https://docs.databricks.com/aws/en/machine-learning/model-serving/query-reason-models, https://github.com/tidyverse/ellmer/issues/822
describe('reasoning within the content, as Databricks sends it', () => {
  const reasoning = (text: string, signature = '') => ({ type: 'reasoning', summary: [{ type: 'summary_text', text, signature }] });

  test('streamed', () => {
    const events = read(
      chunk({ role: 'assistant', content: [reasoning('Let me')] }),
      chunk({ content: [reasoning(' think.')] }),
      chunk({ content: [reasoning('', 'sig')] }),
      chunk({ content: [{ type: 'text', text: 'Hel' }] }),
      chunk({ content: 'lo' }),
      ...done,
    );
    expectOrder(events);
    expect(blocks(events)).toEqual([
      ['thinking', 'Let me think.'],
      ['text', 'Hello'],
    ]);
    expect(events.find((event) => event.type === 'finish')).toMatchObject({ lost: [{ field: 'reply.signature', action: 'dropped' }] });
  });
});

/** Every block opens once, gets deltas only while open, and is closed before the finish. */
function expectOrder(events: ChatEvent[]): void {
  const open = new Set<number>();
  let next = 0;
  for (const event of events) {
    if (event.type === 'block-start') {
      expect(event.index).toBe(next++);
      open.add(event.index);
    } else if (event.type === 'block-end') expect(open.delete(event.index)).toBe(true);
    else if ('index' in event) expect(open.has(event.index)).toBe(true);
    else if (event.type === 'finish') expect(open.size).toBe(0);
  }
}

describe('text and blocks', () => {
  describe('thinking between tags in front of the text', () => {
    const described = (text: string, size: number) => {
      const pieces = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
      const events = read(chunk({ role: 'assistant', content: '' }), ...pieces.map((content) => chunk({ content })), ...done);
      expectOrder(events);
      return blocks(events);
    };
    const whole = (content: string, reason: string, model = '') =>
      readWhole(
        { choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: reason }] },
        { firstParty: chatFamilyOfModel(model).firstParty },
      );
    test.each([
      [
        '<think>one <b> two</think>\n\nThe <answer>.',
        [
          ['thinking', 'one <b> two'],
          ['text', 'The <answer>.'],
        ],
      ],
      ['\n<think>\n\n</think>\n\nAnswer', [['text', 'Answer']]],
      ['<think>cut before its end', [['thinking', 'cut before its end']]],
      ['Say <think>x</think>', [['text', 'Say <think>x</think>']]],
      ['<thin', [['text', '<thin']]],
      ['<table>', [['text', '<table>']]],
      ['  \n ', [['text', '  \n ']]],
    ])('%j, cut anywhere', (text, expected) => {
      for (let size = 1; size <= text.length; size++) expect(described(text, size)).toEqual(expected);
      expect(blocks(whole(text, text.includes('cut') ? 'length' : 'stop'))).toEqual(expected);
    });

    test('a whole reply that never closes its tag though it came to its end is an answer', () => {
      expect(blocks(whole('<think> is a tag.', 'stop'))).toEqual([['text', '<think> is a tag.']]);
      expect(blocks(whole('<think> is a tag.', 'length'))).toEqual([['thinking', 'is a tag.']]);
    });

    test('models whose vendor leaves none in the text are taken at their word', () => {
      const text = '<think>x</think>y';
      expect(blocks(whole(text, 'stop', 'gpt-4o'))).toEqual([['text', text]]);
      const reader = new AlphaReader({ firstParty: chatFamilyOfModel('gpt-5.1').firstParty });
      expect(reader.steady).toBe(true);
      expect(blocks(reader.read({ data: '', json: chunk({ content: text }) }))).toEqual([['text', text]]);
    });

    test('what is held keeps its place before reasoning, parts and raw fields', () => {
      const held = chunk({ content: '<th' });
      const described = (delta: object) => {
        const events = read(held, chunk(delta), ...done);
        return foldEvents(events).blocks.map(({ start, text }) => [start.type, text]);
      };
      expect(described({ reasoning_content: 'hm' })).toEqual([
        ['text', '<th'],
        ['thinking', 'hm'],
      ]);
      expect(described({ reasoning_details: [{ type: 'reasoning.text', text: 'hm', index: 0 }] })).toEqual([
        ['text', '<th'],
        ['thinking', 'hm'],
      ]);
      expect(described({ content: [{ type: 'text', text: 'b' }] })).toEqual([['text', '<thb']]);
      expect(described({ images: [{ image_url: { url: 'data:,' } }] }).map(([type]) => type)).toEqual(['text', 'raw']);
    });

    test('raw fields before the first text, and beside each piece, leave tags what they are', () => {
      const logprobs = { logprobs: { content: [] } };
      const events = read(
        chunk({ images: [{}] }),
        chunk({ content: '' }, logprobs),
        chunk({ content: '<thi' }, logprobs),
        chunk({ content: 'nk>hm</think>' }, logprobs),
        chunk({ content: 'so' }, logprobs),
        ...done,
      );
      expect(blocks(events).filter(([type]) => type !== 'raw')).toEqual([
        ['thinking', 'hm'],
        ['text', 'so'],
      ]);
    });

    test('reasoning of its own field leaves tags alone, and a call ends what had begun', () => {
      const beside = read(chunk({ reasoning_content: 'hm' }), chunk({ content: '<think>x</think>y' }), ...done);
      expect(blocks(beside)).toEqual([
        ['thinking', 'hm'],
        ['text', '<think>x</think>y'],
      ]);
      const called = read(chunk({ content: '<think>hm' }), chunk(call(0, 'c1', 'f', '{}')), chunk({ content: '</think>' }), ...done);
      expectOrder(called);
      expect(blocks(called)).toEqual([
        ['thinking', 'hm'],
        ['tool-call', '{}'],
        ['text', '</think>'],
      ]);
    });
  });

  test('a text after a call is a new block, and the whole call closes before it', () => {
    const events = read(
      chunk({ role: 'assistant', content: '' }),
      chunk({ content: 'A' }),
      chunk(call(0, 'c1', 'f', '{"a":1}')),
      chunk({ content: 'B' }),
      chunk(call(1, 'c2', 'g', '{}')),
      ...done,
    );
    expectOrder(events);
    expect(blocks(events)).toEqual([
      ['text', 'A'],
      ['tool-call', '{"a":1}'],
      ['text', 'B'],
      ['tool-call', '{}'],
    ]);
    const types = events.map((event) => event.type);
    expect(types.indexOf('block-end', types.indexOf('arguments-delta'))).toBeLessThan(types.lastIndexOf('text-delta'));
    expect(finishOf(events)).toBe('tool-calls');
  });

  test('nulls, empty lists and wrong types are absent', () => {
    const events = read(
      chunk({ role: null, content: null, tool_calls: [], reasoning_content: null, reasoning_details: [], function_call: null, refusal: null }),
      chunk({ content: 'x', tool_calls: null, reasoning: '' }),
      { choices: null, usage: null, id: 7 },
      { choices: [null, 3] },
      null,
      [],
      chunk({ content: 5, tool_calls: 'no' }),
      ...done,
    );
    expect(blocks(events)).toEqual([['text', 'x']]);
  });

  test('the first chunk of a filter has neither id nor choices', () => {
    const events = read({ id: '', model: '', choices: [], prompt_filter_results: [{}] }, chunk({ content: 'x' }), ...done);
    expect(events[0]).toEqual({ type: 'start', id: 'chatcmpl-1', model: 'm', createdAt: 5 });
  });

  test('other choices are not mixed in', () => {
    expect(blocks(read(chunk({ content: 'a' }), chunk({ content: 'Z' }, { index: 1 }), chunk({ content: 'b' }), ...done))).toEqual([['text', 'ab']]);
  });

  test('a refusal is its own kind of block and its own reason', () => {
    const events = read(chunk({ refusal: 'I ' }), chunk({ refusal: 'cannot' }), ...done);
    expect(blocks(events)).toEqual([['refusal', 'I cannot']]);
    expect(finishOf(events)).toBe('refusal');
  });
});

describe('reasoning', () => {
  test.each(['reasoning_content', 'reasoning', 'reasoning_text'])('in %s', (field) => {
    expect(blocks(read(chunk({ [field]: 'think' }), chunk({ content: 'say' }), ...done))).toEqual([
      ['thinking', 'think'],
      ['text', 'say'],
    ]);
  });

  test('the same text under two names counts once', () => {
    expect(
      blocks(
        read(
          chunk({ reasoning_content: 'a', reasoning: 'a' }),
          chunk({ reasoning: 'b', reasoning_details: [{ type: 'reasoning.text', text: 'b', index: 0 }] }),
          ...done,
        ),
      ),
    ).toEqual([['thinking', 'ab']]);
  });

  test('parts of a content list', () => {
    const list = [
      { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] },
      { type: 'text', text: 'yes' },
    ];
    expect(blocks(read(chunk({ content: list }), ...done))).toEqual([
      ['thinking', 'hm'],
      ['text', 'yes'],
    ]);
  });

  test('a signature belongs to the open block, another index opens another one, sealed entries are blocks of their own', () => {
    const events = read(
      chunk({ reasoning_details: [{ type: 'reasoning.text', text: 'one', index: 0 }] }),
      chunk({ reasoning_details: [{ type: 'reasoning.text', signature: 'SIG', format: 'vendor-v1', index: 0 }] }),
      chunk({ reasoning_details: [{ type: 'reasoning.text', text: 'two', index: 1 }] }),
      chunk({ reasoning_details: [{ type: 'reasoning.encrypted', data: 'DATA', index: 2 }] }),
      ...done,
    );
    expectOrder(events);
    const message = foldEvents(events);
    expect(message.blocks.map((block) => block.text)).toEqual(['one', 'two', '']);
    expect(JSON.parse(message.blocks[0]?.signature ?? '')).toEqual({ type: 'reasoning.text', signature: 'SIG', format: 'vendor-v1' });
    expect(message.blocks[2]?.start).toEqual({ type: 'redacted-thinking', data: 'DATA' });
  });
});

describe('calls', () => {
  test('later fragments with an empty or repeated id and name change nothing', () => {
    const events = read(chunk(call(0, 'c1', 'f', '')), chunk(call(0, '', '', '{"a"')), chunk(call(0, 'c1', 'f', ':1}')), chunk(call(0, '', null, '')), ...done);
    expect(calls(events)).toEqual([['c1', 'f', '{"a":1}']]);
  });

  test('indexes may begin at 1', () => expect(calls(read(chunk(call(1, 'c1', 'f', '{}')), ...done))).toEqual([['c1', 'f', '{}']]));

  test('ids may be empty everywhere', () => {
    expect(calls(read(chunk(call(0, '', 'f', '{}')), chunk(call(1, '', 'g', '{}')), ...done))).toEqual([
      ['', 'f', '{}'],
      ['', 'g', '{}'],
    ]);
  });

  test('whole calls that all claim index 0, or none at all, are told apart', () => {
    const expected = [
      ['a', 'f', '{"x":1}'],
      ['b', 'f', '{"x":2}'],
    ];
    expect(calls(read(chunk(call(0, 'a', 'f', '{"x":1}')), chunk(call(0, 'b', 'f', '{"x":2}')), ...done))).toEqual(expected);
    expect(
      calls(
        read(
          chunk(call(undefined, 'a', 'f', '{"x":')),
          chunk(call(undefined, undefined, undefined, '1}')),
          chunk(call(undefined, 'b', 'f', '{"x":2}')),
          ...done,
        ),
      ),
    ).toEqual(expected);
  });

  test('interleaved fragments go to their own calls', () => {
    const events = read(
      chunk(call(0, 'a', 'f', '{"x"')),
      chunk(call(1, 'b', 'g', '{"y"')),
      chunk(call(0, undefined, undefined, ':1}')),
      chunk(call(1, undefined, undefined, ':2}')),
      ...done,
    );
    expectOrder(events);
    expect(calls(events)).toEqual([
      ['a', 'f', '{"x":1}'],
      ['b', 'g', '{"y":2}'],
    ]);
  });

  test('brackets and quotes inside strings do not end a call', () => {
    const text = '{"code":"if (a) { \\"}\\" }"}';
    expect(calls(read(chunk(call(0, 'a', 'f', text.slice(0, 14))), chunk(call(0, '', '', text.slice(14))), chunk({ content: 't' }), ...done))).toEqual([
      ['a', 'f', text],
    ]);
  });

  test('a name that comes late holds the block back, not the arguments', () => {
    expect(calls(read(chunk(call(0, 'a', undefined, '{"x"')), chunk(call(0, undefined, 'f', ':1}')), ...done))).toEqual([['a', 'f', '{"x":1}']]);
  });

  test('a call in the finish chunk, and arguments as an object', () => {
    const events = read(chunk(call(0, 'a', 'f', { x: 1 }), { finish_reason: 'tool_calls' }), '[DONE]');
    expect(calls(events)).toEqual([['a', 'f', '{"x":1}']]);
    expect(finishOf(events)).toBe('tool-calls');
  });

  // https://github.com/huggingface/text-generation-inference/issues/2864
  test('a call that is not in a list', () => {
    const { tool_calls: list } = call(0, 'c1', 'f', '{"a"');
    const rest = call(0, '', null, ':1}').tool_calls[0];
    expect(calls(read(chunk({ tool_calls: list[0] }), chunk({ tool_calls: rest }), ...done))).toEqual([['c1', 'f', '{"a":1}']]);
    // What gateways in Lua print for an empty list is not a call.
    const none = read(chunk({ content: 'x', tool_calls: {} }, { finish_reason: 'stop' }), '[DONE]');
    expect([calls(none), finishOf(none)]).toEqual([[], 'stop']);
  });

  test('custom tools and the older function_call', () => {
    const custom = foldEvents(read(chunk({ tool_calls: [{ index: 0, id: 'k', type: 'custom', custom: { name: 'shell', input: 'ls' } }] }), ...done)).blocks[0];
    expect(custom).toEqual({ start: { type: 'tool-call', id: 'k', name: 'shell', custom: true }, text: 'ls' });
    expect(
      calls(
        read(
          chunk({ function_call: { name: 'f', arguments: '' } }),
          chunk({ function_call: { arguments: '{}' } }),
          chunk({}, { finish_reason: 'function_call' }),
          '[DONE]',
        ),
      ),
    ).toEqual([['', 'f', '{}']]);
  });

  test('a thought signature belongs to the call, also when it is on the message', () => {
    const signature = { extra_content: { google: { thought_signature: 'S' } } };
    const onCall = chunk({ tool_calls: [{ index: 0, id: '', function: { name: 'f', arguments: '{}' }, ...signature }] });
    const onMessage = chunk({ ...call(0, '', 'f', '{}'), ...signature });
    for (const first of [onCall, onMessage]) expect(foldEvents(read(first, ...done)).blocks[0]?.signature).toBe('S');
  });
});

describe('ends and errors', () => {
  test('a finish without [DONE] is complete, none at all is a break', () => {
    expect(read(chunk({ content: 'x' }), chunk({}, { finish_reason: 'stop' })).at(-1)).toEqual({ type: 'end' });
    expect(read(chunk({ content: 'x' })).some((event) => event.type === 'end' || event.type === 'finish')).toBe(false);
    expect(read('[DONE]')).toEqual([]);
  });

  test('an empty reason is no end by itself, and [DONE] makes it one', () => {
    expect(read(chunk({ content: 'x' }, { finish_reason: '' })).some((event) => event.type === 'end')).toBe(false);
    expect(finishOf(read(chunk({ content: 'x' }, { finish_reason: '' }), '[DONE]'))).toBe('stop');
  });

  test.each([
    ['length', 'length'],
    ['content_filter', 'content-filter'],
    ['eos', 'stop'],
    ['tool_calls', 'stop'],
    ['brand_new', 'other'],
    ['__proto__', 'other'],
  ])('reason %s', (native, reason) => expect(finishOf(read(chunk({ content: 'x' }, { finish_reason: native }), '[DONE]'))).toBe(reason));

  test('a repeated finish and content after it do no harm', () => {
    const events = read(
      chunk({ content: 'a' }, { finish_reason: 'stop' }),
      chunk({ content: 'b' }, { finish_reason: 'stop' }),
      '[DONE]',
      chunk({ content: 'never' }),
    );
    expect(events.filter((event) => event.type === 'finish')).toHaveLength(1);
    expect(blocks(events)).toEqual([['text', 'ab']]);
  });

  test('usage may be on any chunk and the last wins', () => {
    const events = read(
      chunk({ content: 'a' }, {}, { usage: { prompt_tokens: 1, completion_tokens: 1 } }),
      chunk({}, { finish_reason: 'stop' }, { x_groq: { usage: { prompt_tokens: 10, completion_tokens: 4 } } }),
      '[DONE]',
    );
    expect(foldEvents(events).usage).toMatchObject({ input: 10, output: 4 });
  });

  test('usage inside the choice counts', () => {
    const events = read(
      chunk({ content: 'a' }),
      chunk({}, { finish_reason: 'stop', usage: { prompt_tokens: 10, completion_tokens: 4, cached_tokens: 3 } }),
      '[DONE]',
    );
    expect(foldEvents(events).usage).toMatchObject({ input: 7, cacheRead: 3, output: 4 });
  });

  test('an error in a chunk, as an event, or as a reason ends the reply', () => {
    const inChunk = read(chunk({ content: 'a' }), { error: { code: 502, message: 'gone' }, choices: [{ delta: {}, finish_reason: 'error' }] }, '[DONE]');
    expect(inChunk.at(-1)).toEqual({ type: 'error', error: { class: 'server', status: 502, code: '502', message: 'gone' } });
    const reader = new AlphaReader();
    const json = { error: { message: 'no tool called', type: 'invalid_request_error', code: 'tool_use_failed', status_code: 400 } };
    expect(reader.read({ event: 'error', data: JSON.stringify(json), json })).toMatchObject([
      { type: 'error', error: { class: 'model', status: 400, code: 'tool_use_failed' } },
    ]);
    expect(reader.finish()).toEqual([]);
    // https://openrouter.ai/docs/api/reference/overview (`error` of a choice)
    const inChoice = { finish_reason: 'error', error: { code: 429, message: 'slow down' } };
    expect(read(chunk({ content: 'a' }), chunk({}, inChoice)).at(-1)).toEqual({
      type: 'error',
      error: { class: 'rate', status: 429, code: '429', message: 'slow down' },
    });
    expect(readWhole({ id: 'x', choices: [{ message: { content: '' }, ...inChoice }] }).at(-1)).toMatchObject({ error: { class: 'rate' } });
    // https://github.com/vllm-project/vllm/issues/57082
    expect(read(chunk({ content: 'a' }), chunk({}, { finish_reason: 'abort' }), '[DONE]').at(-1)).toMatchObject({
      type: 'error',
      error: { class: 'server', code: 'abort' },
    });
    expect(read(chunk({}, { finish_reason: 'insufficient_system_resource' }), '[DONE]').at(-1)).toMatchObject({
      type: 'error',
      error: { class: 'overloaded' },
    });
  });
});

test.each(['', 'over capacity'])('an error beside the choices, as Groq names why a stream stopped early, is no end (%j)', (error) => {
  // https://github.com/groq/groq-python, types/chat/chat_completion_chunk.py: XGroq.error
  const events = read(chunk({ content: 'half' }), chunk({}, {}, { x_groq: { id: 'r', error } }), '[DONE]');
  expect(finishOf(events)).toBe(error === '' ? 'stop' : undefined);
  if (error !== '') expect(events.at(-1)).toMatchObject({ type: 'error', error: { class: 'server', message: error } });
});

describe('whole replies', () => {
  test.each([
    ['empty', { role: 'assistant', content: '' }],
    ['the same', { role: 'assistant', content: 'yes' }],
  ])('the message counts, also beside a delta that is %s', (_what, delta) => {
    const events = readWhole({
      id: 'x',
      model: 'sonar',
      choices: [{ index: 0, message: { role: 'assistant', content: 'yes' }, delta, finish_reason: 'stop' }],
    });
    expect(blocks(events)).toEqual([['text', 'yes']]);
    // In a stream it is the delta, and the message repeats all before it.
    const piece = (content: string, soFar: string) => chunk({ role: 'assistant', content }, { message: { role: 'assistant', content: soFar } });
    expect(blocks(read(piece('a', 'a'), piece('b', 'ab'), ...done))).toEqual([['text', 'ab']]);
  });

  test('read as one chunk', () => {
    const body = {
      id: 'x',
      created: 1,
      model: 'm',
      choices: [{ index: 0, message: { role: 'assistant', content: 'hi', reasoning_content: 'hm' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
    };
    const message = foldEvents(readWhole(body));
    expect(message).toMatchObject({ id: 'x', finish: { reason: 'stop' }, usage: { input: 3, output: 2 } });
    expect(message.blocks.map((block) => block.text)).toEqual(['hm', 'hi']);
  });

  test('a filtered reply may lack its message; an error in a 200 is an error; nothing is no end', () => {
    expect(finishOf(readWhole({ id: 'x', choices: [{ index: 0, finish_reason: 'content_filter' }] }))).toBe('content-filter');
    expect(readWhole({ error: { message: 'x', code: 'rate_limit_exceeded' } })).toMatchObject([{ type: 'error', error: { class: 'rate' } }]);
    for (const body of [null, {}, [], 'text', { choices: [] }]) expect(readWhole(body)).toMatchObject([{ type: 'error', error: { class: 'broken' } }]);
  });
});
