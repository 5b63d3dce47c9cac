/** Upstream streams and whole replies: every recorded one, and each oddity of the wire. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { checkEvents, readStream, record, recorded, replyContext, unseal } from '../../../test/support/alpha-response.ts';
import { describeRecorded } from '../../../test/support/describe-recorded.ts';
import { validateStream } from '../../../test/validate/alpha-response.ts';
import type { ChatEvent, UpstreamFault } from '../../chat/event.ts';
import { foldEvents, type Message } from '../../chat/fold.ts';
import { asArray, asString, own } from '../../kit/read.ts';
import { createWriter, writeWhole } from '../client/write-response.ts';
import { writeError } from '../shared/errors.ts';
import { ResponseReader, readWhole } from './read-response.ts';

const read = (...events: object[]): ChatEvent[] => {
  const reader = new ResponseReader();
  return [...events.flatMap((event) => reader.read(record(event))), ...reader.finish()];
};
const textsOf = (message: Message, kind: string): string[] => message.blocks.filter((block) => block.start.type === kind).map((block) => block.text);

/** What the vendor's own final object says the reply was. */
function contentOf(response: unknown): { texts: string[]; calls: unknown[]; signatures: number } {
  const items = asArray(own(response, 'output')) ?? [];
  const parts = items.filter((item) => own(item, 'type') === 'message').flatMap((item) => asArray(own(item, 'content')) ?? []);
  return {
    texts: parts.filter((part) => own(part, 'type') === 'output_text').map((part) => asString(own(part, 'text')) ?? ''),
    calls: items
      .filter((item) => /^(function|custom_tool)_call$/.test(String(own(item, 'type'))))
      .map((item) => [own(item, 'call_id'), own(item, 'name'), own(item, 'arguments') ?? own(item, 'input')]),
    signatures: items.filter((item) => asString(own(item, 'encrypted_content'))).length,
  };
}

const contentOfMessage = (message: Message): ReturnType<typeof contentOf> => ({
  texts: textsOf(message, 'text'),
  calls: message.blocks.flatMap(({ start, text }) => (start.type === 'tool-call' ? [[start.id, start.name, text]] : [])),
  signatures: message.blocks.filter((block) => block.signature).length,
});

const streams = recorded('response.sse').filter(({ name }) => !name.startsWith('stream-failed'));
const wholes = recorded('response.json').filter(({ text }) => own(JSON.parse(text), 'status') === 'completed');

describeRecorded(streams.length > 0, 'alpha_response streams')('recorded streams', () => {
  test.each(streams)('$name', ({ text }) => {
    const events = readStream(text, new ResponseReader());
    expect(checkEvents(events)).toEqual([]);
    const terminal = text.split('\n').findLast((line) => /"type": ?"response\.(completed|incomplete)"/.test(line));
    if (!terminal) {
      // A background stream that was left: it has no end, so it reads as broken.
      expect(events.some((event) => event.type === 'end')).toBe(false);
      return;
    }
    const response = own(JSON.parse(terminal.slice(5)), 'response');
    const message = foldEvents(events);
    expect(events.at(-1)).toEqual({ type: 'end' });
    expect(contentOfMessage(message)).toEqual(contentOf(response));
    const { input, cacheRead, cacheWrite5m, output, reasoning } = message.usage;
    expect(input + cacheRead + cacheWrite5m).toBe(own(own(response, 'usage'), 'input_tokens'));
    expect(output + reasoning).toBe(own(own(response, 'usage'), 'output_tokens'));
    expect(message.finish.reason).toBe(own(response, 'status') === 'incomplete' ? 'length' : contentOf(response).calls.length > 0 ? 'tool-calls' : 'stop');
  });

  test.each(streams)('$name: written for a caller, valid and the same', ({ text }) => {
    const events = readStream(text, new ResponseReader());
    if (!events.some((event) => event.type === 'end')) return;
    const writer = createWriter(replyContext());
    const written = events.map((event) => writer.write(event)).join('');
    expect(validateStream(written)).toEqual([]);
    expect(writer.losses).toEqual([]);
    expect(comparable(foldEvents(readStream(written, new ResponseReader())), true)).toEqual(comparable(foldEvents(events), false));
  });
});

describeRecorded(wholes.length > 0, 'alpha_response replies')('recorded whole replies', () => {
  test.each(wholes)('$name', ({ text }) => {
    const body = JSON.parse(text) as unknown;
    const events = readWhole(body);
    expect(checkEvents(events)).toEqual([]);
    const message = foldEvents(events);
    expect(contentOfMessage(message)).toEqual(contentOf(body));
    const written = writeWhole(message, replyContext());
    expect(written.losses).toEqual([]);
    expect(own(written.body, 'object')).toBe('response');
    expect(comparable(foldEvents(readWhole(written.body)), true)).toEqual(comparable(message, false));
  });
});

/** Blocks with signatures opened, without the ids that our replies assign. */
function comparable(message: Message, sealed: boolean): unknown {
  return {
    blocks: message.blocks.map((block) => ({
      ...block,
      signature: block.signature === undefined ? undefined : sealed ? unseal(block.signature) : block.signature,
    })),
    reason: message.finish.reason,
    usage: message.usage,
  };
}

const item = (type: string, more: object = {}, output_index = 0): object => ({
  type: 'response.output_item.added',
  output_index,
  item: { id: 'x', type, ...more },
});
const completed = { type: 'response.completed', response: { id: 'resp_1', status: 'completed', output: [] } };

test('our own recording: reasoning with its signature, a hosted search, a call', () => {
  const events = readStream(readFileSync(join(import.meta.dirname, '../fixtures/reason-search-call.sse'), 'utf8'), new ResponseReader());
  expect(checkEvents(events)).toEqual([]);
  expect(events.at(-1)).toEqual({ type: 'end' });
  expect(foldEvents(events)).toMatchObject({
    id: 'resp_own',
    model: 'sample-model',
    blocks: [
      { start: { type: 'thinking' }, text: 'Look it up.', signature: 'proof' },
      { start: { type: 'raw', protocol: 'alpha_response' } },
      { start: { type: 'tool-call', id: 'call_own', name: 'save' }, text: '{"key":1}' },
    ],
    finish: { reason: 'tool-calls' },
    usage: { input: 12, cacheRead: 8, output: 5, reasoning: 4 },
  });
});

describe('oddities', () => {
  test('item ids that change between events of one item', () => {
    const events = read(
      { type: 'response.created', response: { id: 'a' } },
      item('message'),
      { type: 'response.output_text.delta', output_index: 0, content_index: 0, item_id: 'y', delta: 'he' },
      { type: 'response.output_text.delta', output_index: 0, content_index: 0, item_id: 'z', delta: 'y' },
      { type: 'response.output_text.done', output_index: 0, content_index: 0, item_id: 'w', text: 'hey' },
      { type: 'response.output_item.done', output_index: 0, item: { id: 'v', type: 'message', content: [{ type: 'output_text', text: 'hey' }] } },
      completed,
    );
    expect(checkEvents(events)).toEqual([]);
    expect(textsOf(foldEvents(events), 'text')).toEqual(['hey']);
  });

  test('deltas of two items in turns', () => {
    const call = (output_index: number, delta: string): object => ({ type: 'response.function_call_arguments.delta', output_index, delta });
    const events = read(
      item('function_call', { call_id: 'a', name: 'f' }),
      item('function_call', { call_id: 'b', name: 'g' }, 1),
      call(0, '{"x":'),
      call(1, '{}'),
      call(0, '1}'),
      completed,
    );
    expect(foldEvents(events).blocks.map((block) => block.text)).toEqual(['{"x":1}', '{}']);
    expect(foldEvents(events).finish.reason).toBe('tool-calls');
  });

  test('complete texts count once, and alone when no delta came', () => {
    const done = { type: 'response.function_call_arguments.done', output_index: 0, arguments: '{"a":1}' };
    const finished = { type: 'response.output_item.done', output_index: 0, item: { type: 'function_call', call_id: 'a', name: 'f', arguments: '{"a":1}' } };
    expect(foldEvents(read(item('function_call', { call_id: 'a', name: 'f' }), done, finished, completed)).blocks[0]?.text).toBe('{"a":1}');
    expect(foldEvents(read(finished, completed)).blocks[0]).toEqual({ start: { type: 'tool-call', id: 'a', name: 'f' }, text: '{"a":1}' });
  });

  test('arguments that come as an object are its text, streamed and whole', () => {
    const finished = { type: 'function_call', call_id: 'a', name: 'f', arguments: { a: 1 } };
    const named = item('function_call', { call_id: 'a', name: 'f', arguments: {} });
    const done = { type: 'response.function_call_arguments.done', output_index: 0, arguments: { a: 1 } };
    const ended = { type: 'response.output_item.done', output_index: 0, item: finished };
    for (const events of [read(named, done, ended, completed), read(ended, completed), readWhole({ status: 'completed', output: [finished] })])
      expect(foldEvents(events).blocks).toEqual([{ start: { type: 'tool-call', id: 'a', name: 'f' }, text: '{"a":1}' }]);
  });

  test('a terminal event alone carries the whole reply', () => {
    const output = [{ type: 'message', content: [{ type: 'output_text', text: 'all' }], phase: 'final_answer' }];
    expect(foldEvents(read({ type: 'response.completed', response: { output } })).blocks).toEqual([
      { start: { type: 'text', phase: 'final_answer' }, text: 'all' },
    ]);
  });

  test('several summary parts are one text with blank lines between', () => {
    const part = (summary_index: number, delta: string): object => ({ type: 'response.reasoning_summary_text.delta', output_index: 0, summary_index, delta });
    const done = { type: 'response.reasoning_summary_text.done', output_index: 0, summary_index: 1, text: 'two' };
    const events = read(item('reasoning', { encrypted_content: 'early' }), part(0, 'one'), part(1, 'two'), done, {
      type: 'response.output_item.done',
      output_index: 0,
      item: { type: 'reasoning', summary: [], encrypted_content: 'late' },
    });
    expect(foldEvents(events).blocks).toEqual([{ start: { type: 'thinking' }, text: 'one\n\ntwo', signature: 'late' }]);
  });

  test('hidden reasoning without a signature is no block', () => {
    expect(
      read(item('reasoning', { summary: [] }), { type: 'response.output_item.done', output_index: 0, item: { type: 'reasoning', summary: [] } }).map(
        (event) => event.type,
      ),
    ).toEqual([]);
  });

  test.each([
    ['nested', { type: 'error', error: { type: 'insufficient_quota', code: 'insufficient_quota', message: 'm' } }, 'account'],
    ['flat', { type: 'error', code: 'server_error', message: 'm', param: null }, 'server'],
    ['failed', { type: 'response.failed', response: { error: { code: 'rate_limit_exceeded', message: 'Please try again in 1.5s.' } } }, 'rate'],
    ['without a type', { error: { message: 'overloaded', code: 'server_is_overloaded' } }, 'overloaded'],
  ])('error event, %s', (_, event, expected) => {
    const events = read({ type: 'response.created', response: {} }, event, completed);
    expect(events.map(({ type }) => type)).toEqual(['start', 'error']);
    expect(events[1]).toMatchObject({ error: { class: expected } });
  });

  test.each(['bio_policy', 'misalignment_policy_violation', 'image_too_large', 'unsupported_image_media_type', 'failed_to_download_image', 'invalid_image'])(
    'a failure by what the request holds (%s) is the caller’s, and keeps its code',
    (code) => {
      const failed = { type: 'response.failed', response: { status: 'failed', output: [], error: { code, message: 'm' } } };
      expect(read({ type: 'response.created', response: {} }, failed).at(-1)).toMatchObject({ error: { class: 'caller', code, details: { code } } });
    },
  );

  test('what a client may do about a request that was held for review goes to it', () => {
    const misalignment = { error_type: 'other', review_target: 'rev_1', steer: { message: 'Go on.' } };
    const error = { code: 'misalignment_policy_violation', message: 'm', misalignment };
    const [event] = readWhole({ status: 'failed', output: [], error });
    const { details } = (event as { error: UpstreamFault }).error;
    const drawn = { code: 'upstream_rejected', status: 400, message: 'm', requestId: 'r', ...(details && { details }) };
    expect(JSON.parse(writeError(drawn).body).error).toMatchObject({ code: error.code, misalignment });
  });

  test('the wait an error asks for', () => {
    expect(read({ type: 'error', error: { code: 'rate_limit_exceeded', message: 'Please try again in 1.5s.' } })[0]).toMatchObject({
      error: { retryAfterMs: 1500 },
    });
    // https://github.com/earendil-works/pi/issues/4172
    const spent = {
      type: 'usage_limit_reached',
      message: 'The usage limit has been reached',
      plan_type: 'plus',
      resets_at: 1777936568,
      resets_in_seconds: 13872,
    };
    expect(read({ type: 'error', error: spent, status_code: 429 })[0]).toMatchObject({ error: { class: 'rate', retryAfterMs: 13_872_000 } });
  });

  test('[DONE], comments, unknown events, nulls and empty lists change nothing', () => {
    const reader = new ResponseReader();
    const junk = [
      null,
      [],
      'x',
      3,
      { type: 'response.new_thing', output_index: 4 },
      { type: 'response.output_item.added' },
      { type: 'response.output_text.delta', delta: null },
    ];
    expect(junk.flatMap((json) => reader.read({ data: '', json }))).toEqual([]);
    expect(reader.read({ data: '[DONE]', json: undefined })).toEqual([]);
  });

  test('an end of the body without a terminal event is a break', () => {
    const types = read({ type: 'response.created', response: {} }, item('message'), { type: 'response.output_text.delta', output_index: 0, delta: 'a' }).map(
      (event) => event.type,
    );
    expect(types).toEqual(['start', 'block-start', 'text-delta']);
  });

  test.each([
    ['max_output_tokens', 'length'],
    ['content_filter', 'content-filter'],
    ['something new', 'length'],
  ])('incomplete by %s', (reason, expected) => {
    const events = read({ type: 'response.incomplete', response: { status: 'incomplete', incomplete_details: { reason }, output: [] } });
    expect(events.find((event) => event.type === 'finish')).toMatchObject({ reason: expected });
  });

  test('a refusal', () => {
    const events = read(
      item('message'),
      { type: 'response.content_part.added', output_index: 0, content_index: 0, part: { type: 'refusal' } },
      { type: 'response.refusal.delta', output_index: 0, content_index: 0, delta: 'no' },
      completed,
    );
    expect(foldEvents(events)).toMatchObject({ blocks: [{ start: { type: 'refusal' }, text: 'no' }], finish: { reason: 'refusal' } });
  });

  test('whole replies that failed, are pending, or are none', () => {
    expect(readWhole({ status: 'failed', error: { code: 'server_error', message: 'm' }, output: [] })).toEqual([
      { type: 'error', error: { class: 'server', code: 'server_error', message: 'm' } },
    ]);
    expect(readWhole({ status: 'queued', output: [] })).toEqual([]);
    expect(readWhole('hello')).toMatchObject([{ type: 'error' }]);
    expect(readWhole({ id: 'x' })).toMatchObject([{ type: 'error', error: { class: 'broken' } }]);
  });

  test('hosted tools stay raw and pass through our own writer', () => {
    const search = { id: 'ws_1', type: 'web_search_call', status: 'completed', action: { type: 'search' } };
    const events = read(item('web_search_call', { id: 'ws_1' }), { type: 'response.output_item.done', output_index: 0, item: search }, completed);
    expect(foldEvents(events).blocks[0]).toMatchObject({ start: { type: 'raw', protocol: 'alpha_response' }, deltas: [search] });
    const writer = createWriter(replyContext());
    const written = events.map((event) => writer.write(event)).join('');
    expect(validateStream(written)).toEqual([]);
    expect(written).toContain('"action":{"type":"search"}');
  });
});
