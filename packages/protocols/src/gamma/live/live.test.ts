/** What is read of Gemini Live's frames, in both spellings, and what a close before the session means. */
import { describe, expect, test } from '@jest/globals';
import { live, livePath } from './index.ts';

const path = livePath('v1beta');

const frame = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
const target = {
  baseUrl: 'https://generativelanguage.googleapis.com',
  directPath: false,
  upstreamModelId: 'gemini-live',
  neutralHeaders: false,
  extraConfig: null,
};

test.each([
  ['https://generativelanguage.googleapis.com', false, `wss://generativelanguage.googleapis.com${path}`],
  ['https://generativelanguage.googleapis.com/v1beta/', false, `wss://generativelanguage.googleapis.com${path}`],
  ['http://127.0.0.1:9/google', false, `ws://127.0.0.1:9/google${path}`],
  ['https://host/own/path', true, 'wss://host/own/path'],
])('the address of a session at %s', (baseUrl, directPath, url) => {
  const clientHeaders = { 'x-goog-api-client': 'google-genai-sdk/3', cookie: 'a=b' };
  expect(live.connect({ target: { ...target, baseUrl, directPath }, clientHeaders })).toEqual({ url, headers: { 'x-goog-api-client': 'google-genai-sdk/3' } });
});

test("the version of the caller's path is the upstream's", () =>
  expect(live.connect({ target, clientHeaders: {}, version: 'v1alpha' }).url).toBe(`${target.baseUrl.replace('https', 'wss')}${livePath('v1alpha')}`));

describe('the first frame', () => {
  test.each([
    ['{"setup":{"model":"models/voice"}}', 'voice'],
    ['{ "setup" : { "tools": [], "model" : "team/voice" } }', 'team/voice'],
    ['{"setup":{}}', ''],
    ['{"clientContent":{"turns":[]}}', ''],
    ['no json', ''],
  ])('%s', (text, model) => expect(live.firstFrame?.readModel(Buffer.from(text))).toBe(model));

  test('of the setup the model is exchanged and every other byte stays; other frames are the same object', () => {
    const rewritten = live.rewrite(frame('{ "setup": {"model": "models/voice",  "tools":[{"x":"models/voice"}] } }'), target);
    expect(rewritten.toString()).toBe('{ "setup": {"model": "models/gemini-live",  "tools":[{"x":"models/voice"}] } }');
    for (const other of [frame({ realtimeInput: { setup: { model: 'x' } } }), frame('no json'), Buffer.from([0, 255])])
      expect(live.rewrite(other, target)).toBe(other);
  });
});

describe('notices', () => {
  test.each([
    [{ setupComplete: {} }, { kind: 'session' }],
    [
      { serverContent: { modelTurn: { parts: [{ inlineData: { data: '"turnComplete":true}'.repeat(3) } }] } } },
      { kind: 'turn', content: expect.objectContaining({ sound: 0 }), usage: null, over: false },
    ],
    [
      { server_content: { output_transcription: { text: 'a' }, turn_complete: true } },
      { kind: 'turn', content: expect.objectContaining({ sound: 0 }), usage: null, over: true },
    ],
    [{ toolCall: { functionCalls: [] } }, { kind: 'turn', content: expect.objectContaining({ sound: 0 }), usage: null, over: false }],
    [{ serverContent: { turnComplete: false } }, null],
    [{ serverContent: { generationComplete: true } }, null],
    [{ usageMetadata: {} }, null],
    [{ goAway: { timeLeft: '10s' } }, null],
    [{ sessionResumptionUpdate: { newHandle: 'h1', resumable: true } }, { kind: 'turn', content: null, usage: null, over: false, handle: 'h1' }],
    [
      { usageMetadata: { totalTokenCount: 1 }, session_resumption_update: { new_handle: 'h2', resumable: true } },
      { kind: 'turn', content: null, usage: expect.anything(), over: false, handle: 'h2' },
    ],
    [{ sessionResumptionUpdate: { resumable: false } }, null],
    ['no json', null],
  ])('%j', (value, notice) => expect(live.readNotice(frame(value))).toEqual(notice));

  test.each([
    ['{"setup":{"model":"models/voice","sessionResumption":{"handle":"h1"}}}', 'h1'],
    ['{"setup":{"model":"models/voice","session_resumption":{"handle":"h1"}}}', 'h1'],
    ['{"setup":{"model":"models/voice","sessionResumption":{}}}', undefined],
    ['{"setup":{"model":"models/voice"}}', undefined],
    ['no json', undefined],
  ])('the session that is resumed by %s', (text, handle) => expect(live.readHandle?.(Buffer.from(text))).toBe(handle));

  test('counts in disjoint buckets', () => {
    const usageMetadata = {
      promptTokenCount: 100,
      cachedContentTokenCount: 40,
      toolUsePromptTokenCount: 7,
      responseTokenCount: 50,
      thoughtsTokenCount: 9,
      totalTokenCount: 150,
      promptTokensDetails: [
        { modality: 'TEXT', tokenCount: 30 },
        { modality: 'AUDIO', tokenCount: 70 },
      ],
      cacheTokensDetails: [{ modality: 'AUDIO', tokenCount: 40 }],
      responseTokensDetails: [
        { modality: 'TEXT', tokenCount: 20 },
        { modality: 'AUDIO', tokenCount: 30 },
      ],
    };
    expect(live.readNotice(frame({ usageMetadata }))).toEqual({
      kind: 'turn',
      content: null,
      over: false,
      usage: { input: 37, cacheRead: 40, cacheWrite5m: 0, cacheWrite1h: 0, output: 20, reasoning: 9, audioInput: 30, audioOutput: 30 },
    });
  });

  test('a caller asks by the end of its turn', () => {
    expect(live.readAsk(frame({ client_content: { turns: [], turn_complete: true } }))).toEqual({ kind: 'respond', eventId: null });
    expect(live.readAsk(frame({ clientContent: { turns: [{ parts: [{ text: '"turnComplete":true' }] }] } }))).toBeNull();
    expect(live.readAsk(frame({ realtimeInput: { audioStreamEnd: true } }))).toBeNull();
  });
});

test.each([
  [1007, 'API key not valid. Please pass a valid API key.', 'credential'],
  [1007, 'Request contains an invalid argument.', 'caller'],
  [1008, 'models/x is not found for API version v1beta, or is not supported for bidiGenerateContent.', 'not-found'],
  [1011, 'You exceeded your current quota, please check your plan and billing details.', 'account'],
  [1011, 'Internal error encountered.', 'server'],
  [1006, '', 'server'],
])('a close with %i %s is for the %s', (code, reason, expected) => expect(live.readClose?.(code, reason)?.class).toBe(expected));

test.each([
  '{"setup":{"model":"models/other","model":"models/other"}}',
  '{"setup":{"model":"models/other"},"setup":{"model":"models/other"}}',
  '{"s\\u0065tup":{"mod\\u0065l":"models/other"}}',
  '{"s\\u0065tup":{"model":"models/other"},"setup":{"model":"models/other"}}',
])('no spelling of a setup names a model that was not granted: %s', (text) => {
  const sent = live.rewrite(Buffer.from(text), target).toString();
  expect(sent).not.toContain('other');
  expect(sent).toContain('"models/gemini-live"');
});
