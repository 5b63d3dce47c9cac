/** What is observed of frames, in any order of keys, under both vocabularies; and the one name that is exchanged. */
import { describe, expect, test } from '@jest/globals';
import { readEventType } from './event-type.ts';
import { alphaRealtime } from './index.ts';

const adapter = alphaRealtime.upstream!.realtime!.realtime!;
const frame = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));

describe('the type of an event', () => {
  test.each([
    ['{"type":"a.b"}', 'a.b'],
    ['{ "event_id" : "x", "type" : "a.b" , "rest": 1}', 'a.b'],
    ['{"event_id":"say \\"type\\":\\"no\\"","n":{"type":"inner","l":[{"type":"deep"}]},"k":-1.5e3,"type":"a.b"}', 'a.b'],
    ['{"event_id":"ends with \\\\","type":"a.b"}', 'a.b'],
    ['{"type":"session\\u002eupdate"}', 'session.update'],
    ['{"t\\u0079pe":"a.b"}', 'a.b'],
    ['{"n":{"type":"inner"}}', null],
    ['{"type":7}', null],
    ['{"type":"cut', null],
    ['[{"type":"a"}]', null],
    ['', null],
    ['{"a" "type":"b"}', null],
  ])('%s', (text, type) => expect(readEventType(Buffer.from(text))).toBe(type));

  test('whatever it is cut to, it is read or it is not', () => {
    const whole = Buffer.from('{"event_id":"e\\"1","l":[1,{"a":"}"}],"type":"response.done","x":{}}');
    for (let end = 0; end < whole.length; end++) expect([null, 'response.done']).toContain(readEventType(whole.subarray(0, end)));
  });
});

describe('notices', () => {
  test('a session, a response and its content', () => {
    expect(adapter.readNotice(frame({ event_id: 'e', type: 'session.created', session: {} }))).toEqual({ kind: 'session' });
    expect(adapter.readNotice(frame({ type: 'response.created', response: { id: 'r1' } }))).toEqual({ kind: 'response-started', id: 'r1' });
    const text = { kind: 'content', id: 'r1', written: { text: 2, sound: 0 } };
    for (const type of ['response.text.delta', 'response.output_audio_transcript.delta', 'response.function_call_arguments.delta'])
      expect(adapter.readNotice(frame({ type, response_id: 'r1', delta: '8 signs.' }))).toEqual(text);
    // A second of sound: twenty tokens.
    for (const type of ['response.output_audio.delta', 'response.audio.delta']) {
      const notice = adapter.readNotice(frame({ type, response_id: 'r1', delta: Buffer.alloc(48_000).toString('base64') }));
      expect(notice).toEqual({ kind: 'content', id: null, written: { text: 0, sound: expect.closeTo(20, 0) } });
    }
    expect(adapter.readNotice(frame({ type: 'session.updated' }))).toBeNull();
    expect(adapter.readNotice(frame('no json'))).toBeNull();
  });

  test('usage in disjoint buckets', () => {
    const usage = {
      total_tokens: 300,
      input_tokens: 200,
      output_tokens: 100,
      input_token_details: { text_tokens: 80, audio_tokens: 120, cached_tokens: 60, cached_tokens_details: { text_tokens: 20, audio_tokens: 40 } },
      output_token_details: { text_tokens: 30, audio_tokens: 70 },
    };
    expect(adapter.readNotice(frame({ type: 'response.done', response: { id: 'r1', status: 'cancelled', usage } }))).toEqual({
      kind: 'response-ended',
      id: 'r1',
      status: 'cancelled',
      code: null,
      usage: { input: 60, cacheRead: 60, cacheWrite5m: 0, cacheWrite1h: 0, output: 30, reasoning: 0, audioInput: 80, audioOutput: 70 },
    });
  });

  test('why a response failed, and what an error says', () => {
    const failed = { id: 'r1', status: 'failed', status_details: { type: 'failed', error: { type: 'server_error', code: 'rate_limit_exceeded' } } };
    expect(adapter.readNotice(frame({ type: 'response.done', response: failed }))).toMatchObject({
      status: 'failed',
      code: 'rate_limit_exceeded',
      usage: null,
    });
    const error = { type: 'error', error: { type: 'invalid_request_error', code: 'invalid_api_key', message: 'Incorrect API key', event_id: 'c1' } };
    expect(adapter.readNotice(frame(error))).toMatchObject({ kind: 'error', eventId: 'c1', fault: { class: 'credential' } });
  });

  test.each([
    [true, { code: 'conversation_already_has_active_response', param: null }],
    [true, { code: 'invalid_value', param: 'response.output_modalities' }],
    [true, { code: 'rate_limit_exceeded' }],
    [true, { code: null, param: null }],
    [false, { code: 'response_cancel_not_active', param: null }],
    [false, { code: 'input_audio_buffer_commit_empty' }],
    [false, { code: 'item_truncate_invalid_item_id' }],
    [false, { code: 'cannot_update_voice' }],
    [false, { code: 'session_expired' }],
    [false, { code: 'invalid_json' }],
    [false, { code: 'invalid_value', param: 'session.audio.output.voice' }],
    [false, { code: 'missing_required_parameter', param: 'item.content[0].text' }],
    [false, { code: 'invalid_value', param: 'type' }],
  ])('whether an error that names no event may answer a response.create: %s for %j', (mayBeOfAsk, error) => {
    for (const event_id of [null, ''])
      expect(adapter.readNotice(frame({ type: 'error', error: { type: 'invalid_request_error', message: 'No.', ...error, event_id } }))).toMatchObject({
        eventId: null,
        mayBeOfAsk,
      });
  });
});

test("the upstream's id of the model replaces whatever a session.update names, and nothing else changes", () => {
  const target = { upstreamModelId: 'gpt-realtime-2' };
  expect(adapter.rewrite(frame('{ "type":"session.update", "session":{"model" : "mine", "voice":"é"} }'), target).toString()).toBe(
    '{ "type":"session.update", "session":{"model" : "gpt-realtime-2", "voice":"é"} }',
  );
  for (const text of ['{"type":"session.update","session":{"voice":"a"}}', '{"type":"response.create","session":{"model":"mine"}}', 'no json']) {
    const same = frame(text);
    expect(adapter.rewrite(same, target)).toBe(same);
  }
});

test.each([
  ['https://api.openai.com', false, 'wss://api.openai.com/v1/realtime?model=gpt%2Fr'],
  ['http://127.0.0.1:9/v1', false, 'ws://127.0.0.1:9/v1/realtime?model=gpt%2Fr'],
  ['https://x.openai.azure.com/openai/v1/realtime?api-version=1', true, 'wss://x.openai.azure.com/openai/v1/realtime?api-version=1&model=gpt%2Fr'],
])('the address of %s', (baseUrl, directPath, url) => {
  const target = { baseUrl, directPath, upstreamModelId: 'gpt/r', neutralHeaders: false, extraConfig: null };
  const clientHeaders = { 'openai-beta': 'realtime=v1', cookie: 'a' };
  expect(adapter.connect({ target, clientHeaders })).toEqual({ url, headers: { 'openai-beta': 'realtime=v1' } });
});

test.each([
  '{"t\\u0079pe":"session.update","session":{"model":"other"}}',
  '{"type":"input_audio_buffer.clear","type":"session.update","session":{"model":"other"}}',
  '{"type":"session.update","type":"input_audio_buffer.clear","session":{"model":"other","model":"another"}}',
  '{"session":{"m\\u006fdel":"other"},"type":"session.update"}',
])('no spelling of an update names a model that was not granted: %s', (text) => {
  const sent = adapter.rewrite(Buffer.from(text), { upstreamModelId: 'granted' }).toString();
  expect(sent).not.toMatch(/other/);
  expect(sent).toContain('"granted"');
});
