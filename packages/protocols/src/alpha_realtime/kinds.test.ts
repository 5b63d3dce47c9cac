/** Sessions that are no conversations: their addresses, where their model stands, and what their events say. */
import { describe, expect, test } from '@jest/globals';
import { alphaRealtime } from './index.ts';

const { transcription, translation, live, realtime } = alphaRealtime.upstream!.realtime!;
const frame = (value: unknown) => Buffer.from(JSON.stringify(value));
const target = { baseUrl: 'https://host.test/v1', directPath: false, upstreamModelId: 'up-1', neutralHeaders: false, extraConfig: null };
const clientHeaders = { 'openai-beta': 'realtime=v1', cookie: 'a=b' };

test('addresses', () => {
  const urls = [realtime, transcription, translation, live].map((adapter) => adapter!.connect({ target, clientHeaders }).url);
  expect(urls).toEqual([
    'wss://host.test/v1/realtime?model=up-1',
    'wss://host.test/v1/realtime?intent=transcription',
    'wss://host.test/v1/realtime/translations?model=up-1',
    'wss://host.test/v1/live/sessions',
  ]);
});

describe('transcription', () => {
  const update = (session: unknown, type = 'session.update') => frame({ type, session });
  const present = { type: 'transcription', audio: { input: { transcription: { model: 'mine', language: 'en' } } } };
  const beta = { input_audio_transcription: { model: 'mine' } };

  test('the model of the first update, in either spelling', () => {
    const { readModel } = transcription!.firstFrame!;
    expect(readModel(update(present))).toBe('mine');
    expect(readModel(update(beta, 'transcription_session.update'))).toBe('mine');
    expect(readModel(update({ type: 'transcription' }))).toBe('');
    expect(readModel(frame({ type: 'input_audio_buffer.append' }))).toBeNull();
    expect(readModel(Buffer.from('no json'))).toBeNull();
    expect(transcription!.rewrite(update(present), target).toString()).toBe(update(present).toString().replace('mine', 'up-1'));
    expect(transcription!.rewrite(update(beta, 'transcription_session.update'), target).toString()).toContain('"up-1"');
    const other = frame({ type: 'input_audio_buffer.append', audio: 'AAAA' });
    expect(transcription!.rewrite(other, target)).toBe(other);
  });

  test('each piece of sound is a response, billed by tokens or by seconds', () => {
    const item = { item_id: 'item_1', content_index: 0 };
    const done = (usage: unknown) => transcription!.readNotice(frame({ type: 'conversation.item.input_audio_transcription.completed', ...item, usage }));
    expect(transcription!.readNotice(frame({ type: 'input_audio_buffer.committed', ...item }))).toEqual({ kind: 'response-started', id: 'item_1' });
    const tokens = { type: 'tokens', input_tokens: 12, input_token_details: { text_tokens: 2, audio_tokens: 10 }, output_tokens: 3 };
    expect(done(tokens)).toMatchObject({ kind: 'response-ended', id: 'item_1', usage: { input: 2, audioInput: 10, output: 3 } });
    expect(done({ type: 'duration', seconds: 2.1 })).toMatchObject({ usage: { input: 0, seconds: 3 } });
    expect(done(undefined)).toMatchObject({ status: 'completed', usage: null });
    const failed = { type: 'conversation.item.input_audio_transcription.failed', ...item, error: { code: 'audio_unintelligible' } };
    expect(transcription!.readNotice(frame(failed))).toMatchObject({ status: 'failed', code: 'audio_unintelligible' });
  });
});

describe('live', () => {
  test('session.start alone names the model', () => {
    const { readModel, opens } = live!.firstFrame!;
    const start = frame({ type: 'session.start', session: { model: 'mine', instructions: 'a' } });
    expect([opens, readModel(start), readModel(frame({ type: 'session.start', session: {} })), readModel(frame({ type: 'x' }))]).toEqual([
      true,
      'mine',
      '',
      '',
    ]);
    expect(live!.rewrite(start, target).toString()).toBe('{"type":"session.start","session":{"model":"up-1","instructions":"a"}}');
  });

  test('seconds of the session, and responses beside it', () => {
    const response = { id: 'r1', status: 'completed', usage: { input_tokens: 20, input_tokens_details: { cached_tokens: 5 }, output_tokens: 4 } };
    expect(live!.readNotice(frame({ type: 'session.started', session: {} }))).toEqual({ kind: 'session' });
    expect(live!.readNotice(frame({ type: 'session.usage.updated', usage: { seconds: 1.2 } }))).toEqual({ kind: 'session-usage', seconds: 2 });
    const event = (type: string) => live!.readNotice(frame({ type: 'response.event', event: { type, response } }));
    expect(event('response.created')).toEqual({ kind: 'response-started', id: 'r1' });
    expect(event('response.completed')).toMatchObject({ kind: 'response-ended', id: 'r1', usage: { input: 15, cacheRead: 5, output: 4 } });
    expect(event('response.output_text.delta')).toBeNull();
    const error = { type: 'error', error: { type: 'server_error', code: 'server_error', message: 'm', client_event_id: 'mine' } };
    expect(live!.readNotice(frame(error))).toMatchObject({ kind: 'error', eventId: 'mine', fault: { class: 'server' } });
  });
});

test('what was stored for a translation session is sent without what is set at its creation', () => {
  expect(translation!.writeSettings({ type: 'translation', model: 'm', audio: {} })).toBe('{"type":"session.update","session":{"audio":{}}}');
});
