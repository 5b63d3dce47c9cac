/** Speech and transcriptions by upstreams of other protocols: the official SDK in front, a real server behind that answers in their shape. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import OpenAI, { toFile } from 'openai';
import { haveFixtures, readReply } from '../fake-upstream/fixtures.ts';
import { AnsweringServer, answerJson } from '../support/answering-server.ts';
import { type InProcessGateway, startInProcess } from '../support/in-process.ts';

const samples = Buffer.from(Uint8Array.from({ length: 48_000 }, (_, at) => (at * 7) % 251));
const upstream = new AnsweringServer();
const models = [
  { name: 'gemini-tts', upstream: 'gamma', upstream_model_id: 'gemini-2.5-flash-preview-tts', extra_config: { voices: { alloy: 'Kore' } } },
  { name: 'gemini', upstream: 'gamma', upstream_model_id: 'gemini-2.5-flash' },
  { name: 'qwen-tts', upstream: 'delta', upstream_model_id: 'qwen3-tts-flash', kind: 'delta-multimodal' },
  { name: 'qwen-asr', upstream: 'delta', upstream_model_id: 'qwen3-asr-flash', kind: 'delta-multimodal' },
  { name: 'qwen-audio', upstream: 'delta', upstream_model_id: 'qwen-audio-turbo', kind: 'delta-multimodal' },
  { name: 'paraformer', upstream: 'delta', upstream_model_id: 'paraformer-v2', kind: 'delta-audio-asr' },
];
let gateway: InProcessGateway;
let strict: InProcessGateway;
let asked = 0;

beforeAll(async () => {
  await upstream.start();
  const at = (name: string) => ({ name, protocol: name as 'gamma', base_url: upstream.address, api_keys: [{ key: `sk-of-${name}` }] });
  gateway = await startInProcess({ upstreams: [at('gamma'), at('delta')], models });
  strict = await startInProcess({ upstreams: [at('gamma'), at('delta')], models, group: { strict_translation: true } });
});
afterAll(async () => {
  await gateway?.stop();
  await strict?.stop();
  upstream.stop();
});

function sdk(at = gateway): { openai: OpenAI; row: () => ReturnType<InProcessGateway['row']> } {
  const id = `translated-audio-${++asked}`;
  upstream.received.length = 0;
  const openai = new OpenAI({ baseURL: `${at.url}/v1`, apiKey: at.key, maxRetries: 0, defaultHeaders: { 'z-request-id': id } });
  return { openai, row: () => at.row(id) };
}
const lossesOf = (row: { losses: { field: string; action: string }[] }) => row.losses.map(({ field, action }) => `${field} ${action}`);
const file = () => toFile(samples, 'übung.wav', { type: 'audio/wav' });
const failure = (call: Promise<unknown>) => call.catch((error: unknown) => error);

const geminiSpeech = (mimeType = 'audio/L16;codec=pcm;rate=24000') => ({
  candidates: [{ content: { role: 'model', parts: [{ inlineData: { mimeType, data: samples.toString('base64') } }] }, finishReason: 'STOP' }],
  usageMetadata: { promptTokenCount: 4, candidatesTokenCount: 50, totalTokenCount: 54, candidatesTokensDetails: [{ modality: 'AUDIO', tokenCount: 50 }] },
});

describe('speech by generate-content', () => {
  test('as WAV: the samples behind a head, and tokens of audio apart', async () => {
    upstream.answer = answerJson(geminiSpeech());
    const { openai, row } = sdk();
    const answer = await openai.audio.speech.create({ model: 'gemini-tts', voice: 'alloy', input: 'Hello', response_format: 'wav' });
    expect(answer.headers.get('content-type')).toBe('audio/wav');
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect([bytes.toString('latin1', 0, 4), bytes.readUInt32LE(4), bytes.readUInt32LE(24), bytes.readUInt32LE(40)]).toEqual([
      'RIFF',
      samples.length + 36,
      24_000,
      samples.length,
    ]);
    expect(bytes.subarray(44).equals(samples)).toBe(true);
    expect(upstream.received[0]?.path).toBe('/v1beta/models/gemini-2.5-flash-preview-tts:generateContent');
    expect(upstream.json()).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'Hello' }] }],
      generationConfig: { responseModalities: ['AUDIO'], speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } } },
    });
    expect(await row()).toMatchObject({ input_tokens: 4, output_tokens: 0, audio_output_tokens: 50, losses: [], usage_source: 'upstream' });
  });

  test('as PCM: the samples alone', async () => {
    upstream.answer = answerJson(geminiSpeech());
    const answer = await sdk().openai.audio.speech.create({ model: 'gemini-tts', voice: 'Puck', input: 'Hello', response_format: 'pcm' });
    expect(answer.headers.get('content-type')).toBe('audio/pcm');
    expect(Buffer.from(await answer.arrayBuffer()).equals(samples)).toBe(true);
    expect(upstream.json()).toMatchObject({ generationConfig: { speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Puck' } } } } });
  });

  test('what it cannot make is WAV by its name, and declared; a strict group refuses it', async () => {
    upstream.answer = answerJson(geminiSpeech());
    const { openai, row } = sdk();
    const request = { model: 'gemini-tts', voice: 'alloy', input: 'Hello', response_format: 'mp3', instructions: 'Whisper.', speed: 1.5 } as const;
    const answer = await openai.audio.speech.create(request);
    expect(answer.headers.get('content-type')).toBe('audio/wav');
    expect(upstream.json()).toMatchObject({ contents: [{ parts: [{ text: 'Whisper.\n\nHello' }] }] });
    expect(lossesOf(await row())).toEqual(['speed dropped', 'response_format downgraded', 'instructions emulated']);
    expect(await failure(sdk(strict).openai.audio.speech.create(request))).toMatchObject({ status: 400, code: 'lossy_translation' });
    expect(upstream.received).toEqual([]);
  });

  test('as events', async () => {
    upstream.answer = answerJson(geminiSpeech());
    const answer = await sdk().openai.audio.speech.create({
      model: 'gemini-tts',
      voice: 'alloy',
      input: 'Hello',
      response_format: 'pcm',
      stream_format: 'sse',
    });
    const events = (await answer.text()).split('\n\n').flatMap((block) => (block.startsWith('data: ') ? [JSON.parse(block.slice(6))] : []));
    expect(events.at(-1)).toEqual({ type: 'speech.audio.done', usage: { input_tokens: 4, output_tokens: 50, total_tokens: 54 } });
    const audio = Buffer.concat(events.slice(0, -1).map(({ audio: part }) => Buffer.from(part, 'base64')));
    expect(audio.equals(samples)).toBe(true);
  });

  (haveFixtures() ? test : test.skip)('a recorded reply without audio is a failure, not silence', async () => {
    const { status, body } = readReply('gamma', 'speech-out', 1)!;
    upstream.answer = answerJson(body, status);
    expect(await failure(sdk().openai.audio.speech.create({ model: 'gemini-tts', voice: 'alloy', input: 'Hello' }))).toMatchObject({ status: 502 });
  });
});

describe('speech by the native API', () => {
  test('an address is fetched, never handed on', async () => {
    const head = Buffer.alloc(44);
    head.write('RIFF', 0);
    head.write('WAVEfmt ', 8);
    head.writeUInt32LE(16, 16);
    head.write('data', 36);
    head.writeUInt32LE(samples.length, 40);
    const wave = Buffer.concat([head, samples]);
    upstream.answer = (response, { path }) => {
      if (path.startsWith('/speech.wav')) return void response.writeHead(200, { 'content-type': 'audio/x-wav' }).end(wave);
      const audio = { data: '', url: `${upstream.address}/speech.wav?Signature=x`, id: 'audio_1', expires_at: 1 };
      answerJson({ output: { audio, finish_reason: 'stop' }, usage: { characters: 5 }, request_id: 'r' })(response, upstream.received[0]!);
    };
    for (const [format, type, expected] of [
      ['wav', 'audio/wav', wave],
      ['pcm', 'audio/pcm', samples],
    ] as const) {
      const { openai, row } = sdk();
      const answer = await openai.audio.speech.create({ model: 'qwen-tts', voice: 'Cherry', input: 'Hello', response_format: format });
      expect(answer.headers.get('content-type')).toBe(type);
      expect(Buffer.from(await answer.arrayBuffer()).equals(expected)).toBe(true);
      expect(JSON.parse(upstream.received[0]!.body.toString())).toEqual({ model: 'qwen3-tts-flash', input: { text: 'Hello', voice: 'Cherry' } });
      expect(await row()).toMatchObject({ characters: 5, usage_source: 'upstream', losses: [] });
    }
  });

  test('its refusal is the error of the SDK', async () => {
    upstream.answer = answerJson({ code: 'InvalidParameter', message: 'Voice unknown.', request_id: 'r' }, 400);
    expect(await failure(sdk().openai.audio.speech.create({ model: 'qwen-tts', voice: 'x', input: 'Hello' }))).toMatchObject({
      status: 400,
      message: expect.stringContaining('Voice unknown.'),
    });
  });
});

describe('transcriptions', () => {
  const gemini = {
    candidates: [{ content: { role: 'model', parts: [{ text: 'Thinking.', thought: true }, { text: 'Guten Tag.\n' }] }, finishReason: 'STOP' }],
    usageMetadata: {
      promptTokenCount: 133,
      candidatesTokenCount: 10,
      thoughtsTokenCount: 21,
      totalTokenCount: 164,
      promptTokensDetails: [
        { modality: 'TEXT', tokenCount: 14 },
        { modality: 'AUDIO', tokenCount: 119 },
      ],
    },
  };

  test('by generate-content: the file inline, its words and tokens back', async () => {
    upstream.answer = answerJson(gemini);
    const { openai, row } = sdk();
    const answer = await openai.audio.transcriptions.create({ model: 'gemini', file: await file(), language: 'de', temperature: 0 });
    expect(answer).toEqual({
      text: 'Guten Tag.',
      usage: { type: 'tokens', input_tokens: 133, input_token_details: { text_tokens: 14, audio_tokens: 119 }, output_tokens: 31, total_tokens: 164 },
    });
    expect(upstream.json()).toMatchObject({
      contents: [{ parts: [{ text: expect.stringContaining('de') }, { inlineData: { mimeType: 'audio/wav', data: samples.toString('base64') } }] }],
      generationConfig: { temperature: 0 },
    });
    const found = await row();
    expect(found).toMatchObject({ input_tokens: 14, audio_input_tokens: 119, output_tokens: 10, reasoning_tokens: 21 });
    expect(lossesOf(found)).toEqual(['language emulated']);
  });

  test('as text, and as events', async () => {
    upstream.answer = answerJson(gemini);
    const { data, response } = await sdk()
      .openai.audio.transcriptions.create({ model: 'gemini', file: await file(), response_format: 'text' })
      .withResponse();
    expect([data, response.headers.get('content-type')]).toEqual(['Guten Tag.\n', 'text/plain; charset=utf-8']);
    const stream = await sdk().openai.audio.transcriptions.create({ model: 'gemini', file: await file(), stream: true });
    const events: unknown[] = [];
    for await (const event of stream) events.push(event);
    expect(events).toMatchObject([
      { type: 'transcript.text.delta', delta: 'Guten Tag.' },
      { type: 'transcript.text.done', text: 'Guten Tag.' },
    ]);
  });

  test.each(['srt', 'vtt', 'verbose_json', 'diarized_json'] as const)('%s would need times: refused before anybody is asked', async (format) => {
    for (const model of ['gemini', 'qwen-asr']) {
      const failed = await failure(sdk().openai.audio.transcriptions.create({ model, file: await file(), response_format: format }));
      expect(failed).toMatchObject({ status: 400, param: 'response_format' });
      expect(upstream.received).toEqual([]);
    }
  });

  test('by the native API: the file as a data address, with what the model takes beside it', async () => {
    const content = [{ text: 'Guten Tag.' }];
    const usage = { seconds: 2, input_tokens_details: { text_tokens: 0 }, output_tokens_details: { text_tokens: 6 } };
    upstream.answer = answerJson({ output: { choices: [{ finish_reason: 'stop', message: { role: 'assistant', content } }] }, usage });
    const { openai, row } = sdk();
    expect((await openai.audio.transcriptions.create({ model: 'qwen-asr', file: await file(), language: 'de', prompt: 'Names: Ü.' })).text).toBe('Guten Tag.');
    expect(upstream.json()).toEqual({
      model: 'qwen3-asr-flash',
      input: {
        messages: [
          { role: 'system', content: [{ text: 'Names: Ü.' }] },
          { role: 'user', content: [{ audio: `data:audio/wav;base64,${samples.toString('base64')}` }] },
        ],
      },
      parameters: { asr_options: { language: 'de' } },
    });
    expect(await row()).toMatchObject({ seconds: 2, usage_source: 'upstream', losses: [] });
    expect(await failure(sdk().openai.audio.translations.create({ model: 'qwen-asr', file: await file() }))).toMatchObject({ status: 400, param: 'model' });
  });

  (haveFixtures() ? test : test.skip)('the recorded answer of a model that hears and speaks', async () => {
    const { status, body } = readReply('delta', 'audio-asr-unary', 1)!;
    upstream.answer = answerJson(body, status);
    const { openai, row } = sdk();
    const answer = await openai.audio.translations.create({ model: 'qwen-audio', file: await file() });
    expect(answer.text).toBe(JSON.parse(body.toString()).output.choices[0].message.content[0].text);
    expect(JSON.stringify(upstream.json())).toContain('into English');
    expect(await row()).toMatchObject({ audio_input_tokens: 752, input_tokens: 34, output_tokens: 38 });
  });

  (haveFixtures() ? test : test.skip)('the recorded answer of generate-content', async () => {
    const { status, body } = readReply('gamma_media', 'transcribe', 1)!;
    upstream.answer = answerJson(body, status);
    const answer = await sdk().openai.audio.transcriptions.create({ model: 'gemini', file: await file() });
    expect(answer.text).toBe('Ruby is a programming language designed for developer happiness.');
  });

  test('a model that reads by address says so', async () => {
    const failed = await failure(sdk().openai.audio.transcriptions.create({ model: 'paraformer', file: await file() }));
    expect(failed).toMatchObject({ status: 400, param: 'file', message: expect.stringContaining('by address') });
    expect(upstream.received).toEqual([]);
  });
});
