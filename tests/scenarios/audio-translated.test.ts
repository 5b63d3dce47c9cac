/** Speech and transcriptions by upstreams of other protocols: the official SDK in front, a real server behind that answers in their shape. */
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import OpenAI, { toFile } from 'openai';
import { haveFixtures, readReply } from '../fake-upstream/fixtures.ts';
import { AnsweringServer, answerJson } from '../support/answering-server.ts';
import { type InProcessGateway, startInProcess, until } from '../support/in-process.ts';

const samples = Buffer.from(Uint8Array.from({ length: 48_000 }, (_, at) => (at * 7) % 251));
const upstream = new AnsweringServer();
const models = [
  { name: 'gemini-tts', upstream: 'gamma', upstream_model_id: 'gemini-2.5-flash-preview-tts', extra_config: { voices: { alloy: 'Kore' } } },
  { name: 'gemini', upstream: 'gamma', upstream_model_id: 'gemini-2.5-flash' },
  { name: 'qwen-tts', upstream: 'delta', upstream_model_id: 'qwen3-tts-flash', kind: 'delta-multimodal' },
  { name: 'qwen-asr', upstream: 'delta', upstream_model_id: 'qwen3-asr-flash', kind: 'delta-multimodal' },
  { name: 'qwen-audio', upstream: 'delta', upstream_model_id: 'qwen-audio-turbo', kind: 'delta-multimodal' },
  { name: 'filetrans', upstream: 'delta', upstream_model_id: 'qwen3-asr-flash-filetrans', kind: 'delta-audio-asr' },
  { name: 'hurried', upstream: 'hurried', upstream_model_id: 'paraformer-v2', kind: 'delta-audio-asr' },
  { name: 'paraformer', upstream: 'delta', upstream_model_id: 'paraformer-v2', kind: 'delta-audio-asr' },
];
let gateway: InProcessGateway;
let strict: InProcessGateway;
let asked = 0;

beforeAll(async () => {
  await upstream.start();
  const at = (name: string) => ({ name, protocol: name as 'gamma', base_url: upstream.address, api_keys: [{ key: `sk-of-${name}` }] });
  const hurried = { ...at('delta'), name: 'hurried', timeouts: { total_ms: 900 } };
  gateway = await startInProcess({ upstreams: [at('gamma'), at('delta'), hurried], models });
  strict = await startInProcess({ upstreams: [at('gamma'), at('delta'), hurried], models, group: { strict_translation: true } });
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

/** Samples of 16 bits and one channel as a file. */
function writeWave(sound: Buffer, rate: number): Buffer {
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + sound.length, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt32LE(rate, 24);
  head.write('data', 36);
  head.writeUInt32LE(sound.length, 40);
  return Buffer.concat([head, sound]);
}

const geminiSpeech = (mimeType = 'audio/L16;codec=pcm;rate=24000') => ({
  candidates: [{ content: { role: 'model', parts: [{ inlineData: { mimeType, data: samples.toString('base64') } }] }, finishReason: 'STOP' }],
  usageMetadata: { promptTokenCount: 4, candidatesTokenCount: 50, totalTokenCount: 54, candidatesTokensDetails: [{ modality: 'AUDIO', tokenCount: 50 }] },
});

describe('speech by generate-content, answered whole', () => {
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
    expect(upstream.received[0]?.path).toBe('/v1beta/models/gemini-2.5-flash-preview-tts:streamGenerateContent?alt=sse');
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

describe('speech by the native API, answered whole', () => {
  test('an address is fetched, never handed on', async () => {
    const wave = writeWave(samples, 24_000);
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

describe('speech as it comes', () => {
  const [first, second] = [samples.subarray(0, 20_001), samples.subarray(20_001)];
  const chunkOf = (data: Buffer, rest: object = {}) => ({
    candidates: [
      { content: { role: 'model', parts: [{ inlineData: { mimeType: 'audio/L16;codec=pcm;rate=24000', data: data.toString('base64') } }] }, ...rest },
    ],
  });
  const audioOf = (data: Buffer, url = '') => ({ data: data.toString('base64'), url, id: 'audio_1', expires_at: 1 });
  const usageMetadata = {
    promptTokenCount: 4,
    candidatesTokenCount: 50,
    totalTokenCount: 54,
    candidatesTokensDetails: [{ modality: 'AUDIO', tokenCount: 50 }],
  };
  const upstreams = {
    gamma: {
      model: 'gemini-tts',
      begin: [chunkOf(first)],
      end: [{ ...chunkOf(second, { finishReason: 'STOP' }), usageMetadata }],
      failure: { error: { code: 503, status: 'UNAVAILABLE', message: 'The model is overloaded.' } },
      figures: { input_tokens: 4, audio_output_tokens: 50 },
      usage: { input_tokens: 4, output_tokens: 50, total_tokens: 54 },
    },
    delta: {
      model: 'qwen-tts',
      begin: [{ output: { audio: audioOf(first), finish_reason: 'null' } }],
      end: [
        { output: { audio: audioOf(second), finish_reason: 'null' }, usage: { characters: 5 } },
        { output: { audio: audioOf(Buffer.alloc(0), 'https://files.example/x.wav'), finish_reason: 'stop' }, usage: { characters: 5 } },
      ],
      failure: { code: 'SystemBusy', message: 'The model is overloaded.', request_id: 'r' },
      figures: { characters: 5 },
      usage: { input_tokens: 0, output_tokens: 0, total_tokens: 0 },
    },
  };
  const head = (response: ServerResponse): void => void response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
  const send = (response: ServerResponse, events: readonly object[]): void =>
    events.forEach((event, at) => void response.write(`id:${at}\ndata: ${JSON.stringify(event)}\n\n`));
  const request = (model: string, more: object = {}) => ({ model, voice: 'Kore', input: 'Hello', response_format: 'pcm' as const, ...more });
  /** The upstream goes on when the test says so. */
  const answerInSteps = (begin: readonly object[]): Promise<ServerResponse> =>
    new Promise((resolve) => {
      upstream.answer = (response) => {
        head(response);
        send(response, begin);
        resolve(response);
      };
    });
  /** As many bytes as are there, at least so many. */
  async function readBytes(reader: ReadableStreamDefaultReader<Uint8Array>, atLeast: number): Promise<Buffer> {
    let bytes = Buffer.alloc(0);
    while (bytes.length < atLeast) {
      const { done, value } = await reader.read();
      if (done) break;
      bytes = Buffer.concat([bytes, value]);
    }
    return bytes;
  }
  const eventsOf = (text: string) =>
    text.split('\n\n').flatMap((block) => (/^data: /m.exec(block) ? [JSON.parse(block.slice(block.indexOf('data: ') + 6))] : []));

  describe.each(['gamma', 'delta'] as const)('by %s', (name) => {
    const { model, begin, end, failure: said, figures, usage } = upstreams[name];

    test('its first bytes are there before the upstream goes on, and its figures in the row', async () => {
      const asking = answerInSteps(begin);
      const { openai, row } = sdk();
      const answer = await openai.audio.speech.create(request(model));
      const reader = answer.body!.getReader();
      expect((await readBytes(reader, first.length)).equals(first)).toBe(true);
      expect([answer.headers.get('content-type'), answer.headers.get('content-length')]).toEqual(['audio/pcm', null]);
      const response = await asking;
      send(response, end);
      response.end();
      expect((await readBytes(reader, Infinity)).equals(second)).toBe(true);
      expect(await row()).toMatchObject({ ...figures, status: 200, usage_source: 'upstream', losses: [], stream: true });
    });

    test('asked for by name: the vendor is asked for a stream, and a WAV has no end', async () => {
      upstream.answer = (response) => {
        head(response);
        send(response, [...begin, ...end]);
        response.end();
      };
      const answer = await sdk().openai.audio.speech.create(request(model, { response_format: 'wav' }));
      const bytes = Buffer.from(await answer.arrayBuffer());
      expect([answer.headers.get('content-type'), bytes.toString('latin1', 0, 4), bytes.readUInt32LE(24), bytes.readUInt32LE(40)]).toEqual([
        'audio/wav',
        'RIFF',
        24_000,
        0xffff_ffff,
      ]);
      expect(bytes.subarray(44).equals(samples)).toBe(true);
      const [asked] = upstream.received;
      expect(name === 'gamma' ? asked?.path : asked?.headers['x-dashscope-sse']).toBe(
        name === 'gamma' ? '/v1beta/models/gemini-2.5-flash-preview-tts:streamGenerateContent?alt=sse' : 'enable',
      );
    });

    test('as events, one by one', async () => {
      const asking = answerInSteps(begin);
      const answer = await sdk().openai.audio.speech.create(request(model, { stream_format: 'sse' }));
      expect(answer.headers.get('content-type')).toContain('text/event-stream');
      const reader = answer.body!.getReader();
      const length = Buffer.byteLength(`data: ${JSON.stringify({ type: 'speech.audio.delta', audio: first.toString('base64') })}\n\n`);
      const early = eventsOf((await readBytes(reader, length)).toString());
      expect(early).toEqual([{ type: 'speech.audio.delta', audio: first.toString('base64') }]);
      const response = await asking;
      send(response, end);
      response.end();
      const late = eventsOf((await readBytes(reader, Infinity)).toString());
      expect(late).toEqual([
        { type: 'speech.audio.delta', audio: second.toString('base64') },
        { type: 'speech.audio.done', usage },
      ]);
    });

    test('a caller who leaves stops the upstream', async () => {
      const asking = answerInSteps(begin);
      const answer = await sdk().openai.audio.speech.create(request(model));
      const reader = answer.body!.getReader();
      await readBytes(reader, 1);
      const response = await asking;
      const closed = new Promise<void>((resolve) => void response.once('close', resolve));
      const left = performance.now();
      await reader.cancel();
      await closed;
      expect(performance.now() - left).toBeLessThan(1000);
      expect(response.writableFinished).toBe(false);
    });

    test('half of it never passes for the whole', async () => {
      for (const events of [begin, [...begin, said]]) {
        upstream.answer = (response) => {
          head(response);
          send(response, events);
          response.end();
        };
        const bytes = await sdk().openai.audio.speech.create(request(model));
        await expect(bytes.arrayBuffer()).rejects.toThrow();
        const answer = await sdk().openai.audio.speech.create(request(model, { stream_format: 'sse' }));
        expect(eventsOf(await answer.text()).at(-1)).toMatchObject({ type: 'error' });
      }
    });

    test('a failure before the first piece is the error of the SDK', async () => {
      upstream.answer = (response) => {
        head(response);
        send(response, [said]);
        response.end();
      };
      expect(await failure(sdk().openai.audio.speech.create(request(model)))).toMatchObject({ status: 503 });
    });
  });

  test('a stream that gives an address alone: the file is fetched', async () => {
    upstream.answer = (response, { path }) => {
      if (path.startsWith('/speech.wav')) return void response.writeHead(200, { 'content-type': 'audio/x-wav' }).end(writeWave(samples, 24_000));
      head(response);
      send(response, [{ output: { audio: audioOf(Buffer.alloc(0), `${upstream.address}/speech.wav`), finish_reason: 'stop' }, usage: { characters: 5 } }]);
      response.end();
    };
    const { openai, row } = sdk();
    const answer = await openai.audio.speech.create(request('qwen-tts'));
    expect(Buffer.from(await answer.arrayBuffer()).equals(samples)).toBe(true);
    expect(await row()).toMatchObject({ characters: 5, usage_source: 'upstream' });
  });

  (haveFixtures() ? test : test.skip)('a recorded stream', async () => {
    const { body } = readReply('gamma', 'speech-out', 2)!;
    upstream.answer = (response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(body);
    const { openai, row } = sdk();
    const answer = await openai.audio.speech.create(request('gemini-tts'));
    const inside = /"data":"([^"]*)"/.exec(body.toString())?.[1] ?? '';
    expect(Buffer.from(await answer.arrayBuffer()).equals(Buffer.from(inside, 'base64'))).toBe(true);
    expect(await row()).toMatchObject({ input_tokens: 11, audio_output_tokens: 23, usage_source: 'upstream' });
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

  test('by generate-content as a stream: its words as they come', async () => {
    const chunk = (parts: object[], rest: object = {}) => `data: ${JSON.stringify({ candidates: [{ content: { role: 'model', parts }, ...rest }] })}\n\n`;
    const asking = new Promise<ServerResponse>((resolve) => {
      upstream.answer = (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(chunk([{ text: 'Thinking.', thought: true }]) + chunk([{ text: ' Guten' }]));
        resolve(response);
      };
    });
    const { openai, row } = sdk();
    const stream = await openai.audio.transcriptions.create({ model: 'gemini', file: await file(), stream: true });
    expect(upstream.received[0]?.path).toBe('/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse');
    const events = stream[Symbol.asyncIterator]();
    expect((await events.next()).value).toEqual({ type: 'transcript.text.delta', delta: 'Guten' });
    (await asking).end(
      `${chunk([{ text: ' Tag.\n' }], { finishReason: 'STOP' })}data: ${JSON.stringify({ usageMetadata: gemini.usageMetadata, candidates: [] })}\n\n`,
    );
    expect((await events.next()).value).toEqual({ type: 'transcript.text.delta', delta: ' Tag.\n' });
    expect((await events.next()).value).toMatchObject({ type: 'transcript.text.done', text: 'Guten Tag.', usage: { total_tokens: 164 } });
    expect(await row()).toMatchObject({ input_tokens: 14, audio_input_tokens: 119, output_tokens: 10, reasoning_tokens: 21, usage_source: 'upstream' });
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
});

describe('transcriptions of models that read by address', () => {
  const policy = () => ({
    request_id: 'r',
    data: {
      policy: 'cG9saWN5',
      signature: 'c2lnbmF0dXJl',
      upload_dir: 'dashscope-instant/1/2026-11-23/x',
      upload_host: `${upstream.address}/storage`,
      expire_in_seconds: 300,
      max_file_size_mb: 1,
      oss_access_key_id: 'LTAI',
      x_oss_object_acl: 'private',
      x_oss_forbid_overwrite: 'true',
    },
  });
  const words = {
    properties: { original_duration_in_milliseconds: 4200 },
    transcripts: [
      {
        channel_id: 0,
        text: 'Guten Tag. Bis bald.',
        sentences: [
          { begin_time: 100, end_time: 1500, text: 'Guten Tag.' },
          { begin_time: 2000, end_time: 3_725_040, text: 'Bis bald.' },
        ],
      },
    ],
  };
  const results = () => [{ file_url: 'oss://x', transcription_url: `${upstream.address}/words.json?Signature=x`, subtask_status: 'SUCCEEDED' }];
  const succeeded = () => ({ output: { task_id: 'up-1', task_status: 'SUCCEEDED', results: results() }, usage: { duration: 5 } });
  const paths = () => upstream.received.map(({ method, path }) => `${method} ${path.replace(/\?.*/, '')}`);

  /** The vendor: `looks` says what it answers when it is asked about the task. */
  function answerAsVendor(looks: readonly object[], refused?: { path: string; status: number; body: object }): void {
    const left = [...looks];
    upstream.answer = (response, asked) => {
      const path = asked.path.replace(/\?.*/, '');
      if (refused && path === refused.path) return answerJson(refused.body, refused.status)(response, asked);
      if (path === '/api/v1/uploads') return answerJson(policy())(response, asked);
      if (path === '/storage') return void response.writeHead(200).end();
      if (path === '/api/v1/services/audio/asr/transcription') return answerJson({ output: { task_id: 'up-1', task_status: 'PENDING' } })(response, asked);
      if (path === '/words.json') return void response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(JSON.stringify(words));
      answerJson(left.length > 1 ? left.shift() : left[0])(response, asked);
    };
  }

  test('the file is uploaded by the policy of the vendor, and the task is waited for', async () => {
    answerAsVendor([{ output: { task_id: 'up-1', task_status: 'RUNNING' } }, succeeded()]);
    const { openai, row } = sdk();
    const answer = await openai.audio.transcriptions.create({ model: 'paraformer', file: await file(), language: 'de' });
    expect(answer).toEqual({ text: 'Guten Tag. Bis bald.', usage: { type: 'duration', seconds: 5 } });
    expect(paths()).toEqual([
      'GET /api/v1/uploads',
      'POST /storage',
      'POST /api/v1/services/audio/asr/transcription',
      'GET /api/v1/tasks/up-1',
      'GET /api/v1/tasks/up-1',
      'GET /words.json',
    ]);
    const [asked, stored, begun, , , fetched] = upstream.received;
    expect(asked).toMatchObject({ path: '/api/v1/uploads?action=getPolicy&model=paraformer-v2', headers: { authorization: 'Bearer sk-of-delta' } });
    expect([stored?.headers.authorization, fetched?.headers.authorization]).toEqual([undefined, undefined]);
    const form = await new Response(new Uint8Array(stored!.body), { headers: { 'content-type': String(stored?.headers['content-type']) } }).formData();
    const key = String(form.get('key'));
    expect(key).toMatch(/^dashscope-instant\/1\/2026-11-23\/x\/[0-9a-f-]{36}\.wav$/);
    expect([...form.keys()].at(-1)).toBe('file');
    expect(Object.fromEntries([...form].filter(([name]) => name !== 'file'))).toEqual({
      OSSAccessKeyId: 'LTAI',
      Signature: 'c2lnbmF0dXJl',
      policy: 'cG9saWN5',
      'x-oss-object-acl': 'private',
      'x-oss-forbid-overwrite': 'true',
      key,
      success_action_status: '200',
    });
    expect(Buffer.from(await (form.get('file') as File).arrayBuffer()).equals(samples)).toBe(true);
    expect(begun?.headers).toMatchObject({ 'x-dashscope-async': 'enable', 'x-dashscope-ossresourceresolve': 'enable', authorization: 'Bearer sk-of-delta' });
    expect(JSON.parse(begun!.body.toString())).toEqual({
      model: 'paraformer-v2',
      input: { file_urls: [`oss://${key}`] },
      parameters: { language_hints: ['de'] },
    });
    expect(await row()).toMatchObject({ status: 200, seconds: 5, usage_source: 'upstream', losses: [], kind: 'call' });
  });

  test('one that takes a single file, and its times in every form', async () => {
    const one = {
      output: { task_id: 'up-1', task_status: 'SUCCEEDED', result: { transcription_url: `${upstream.address}/words.json` } },
      usage: { seconds: 5 },
    };
    const ask = async (form: 'srt' | 'vtt' | 'verbose_json' | 'text') => {
      answerAsVendor([one]);
      return sdk().openai.audio.transcriptions.create({ model: 'filetrans', file: await file(), language: 'de', response_format: form });
    };
    expect(await ask('srt')).toBe('1\n00:00:00,100 --> 00:00:01,500\nGuten Tag.\n\n2\n00:00:02,000 --> 01:02:05,040\nBis bald.\n\n');
    expect(upstream.received.map(({ path, body }) => (path.endsWith('/transcription') ? JSON.parse(body.toString()) : undefined)).find(Boolean)).toMatchObject({
      input: { file_url: expect.stringMatching(/^oss:/) },
      parameters: { language: 'de' },
    });
    expect(await ask('vtt')).toContain('WEBVTT\n\n00:00:00.100 --> 00:00:01.500\nGuten Tag.\n');
    expect(await ask('text')).toBe('Guten Tag. Bis bald.\n');
    expect(await ask('verbose_json')).toMatchObject({
      task: 'transcribe',
      duration: 4.2,
      text: 'Guten Tag. Bis bald.',
      segments: [
        { id: 0, start: 0.1, end: 1.5, text: 'Guten Tag.' },
        { id: 1, start: 2, text: 'Bis bald.' },
      ],
    });
  });

  test.each([
    [
      'a policy that is refused',
      { path: '/api/v1/uploads', status: 400, body: { code: 'InvalidParameter', message: 'Model not exist.' } },
      400,
      'Model not exist.',
    ],
    ['a policy that names no place', { path: '/api/v1/uploads', status: 200, body: { data: {} } }, 502, ''],
    ['storage that refuses the file', { path: '/storage', status: 403, body: {} }, 502, ''],
    [
      'a task that is refused',
      { path: '/api/v1/services/audio/asr/transcription', status: 400, body: { code: 'InvalidParameter', message: 'Bad audio.' } },
      400,
      'Bad audio.',
    ],
  ])('%s is the error of the SDK', async (_name, refused, status, message) => {
    answerAsVendor([succeeded()], refused);
    const failed = await failure(sdk().openai.audio.transcriptions.create({ model: 'paraformer', file: await file() }));
    expect(failed).toMatchObject({ status, message: expect.stringContaining(message) });
    expect(paths().at(-1)).toContain(refused.path);
  });

  test('a task that failed says why', async () => {
    answerAsVendor([{ output: { task_id: 'up-1', task_status: 'FAILED', code: 'InvalidParameter.Audio', message: 'The audio is silent.' } }]);
    const failed = await failure(sdk().openai.audio.transcriptions.create({ model: 'paraformer', file: await file() }));
    expect(failed).toMatchObject({ status: 400, message: expect.stringContaining('The audio is silent.') });
  });

  test('what cannot be carried is refused or declared, and a file that is too large is a 400 before it is sent', async () => {
    answerAsVendor([succeeded()]);
    const { openai, row } = sdk();
    await openai.audio.transcriptions.create({ model: 'paraformer', file: await file(), prompt: 'Names: Ü.', temperature: 0 });
    expect(lossesOf(await row())).toEqual(['prompt dropped', 'temperature dropped']);
    const large = await toFile(Buffer.alloc(1024 * 1024 + 1), 'a.wav');
    expect(await failure(sdk().openai.audio.transcriptions.create({ model: 'paraformer', file: large }))).toMatchObject({ status: 400, param: 'file' });
    expect(paths()).toEqual(['GET /api/v1/uploads']);
    const diarized = { model: 'paraformer', file: await file(), response_format: 'diarized_json' } as const;
    expect(await failure(sdk().openai.audio.transcriptions.create(diarized))).toMatchObject({ status: 400, param: 'response_format' });
  });

  test('a caller who leaves has the task stopped', async () => {
    answerAsVendor([{ output: { task_id: 'up-1', task_status: 'RUNNING' } }]);
    const leaving = new AbortController();
    const asking = failure(sdk().openai.audio.transcriptions.create({ model: 'paraformer', file: await file() }, { signal: leaving.signal }));
    await until(() => paths().includes('GET /api/v1/tasks/up-1'), 'a look at the task');
    leaving.abort();
    await asking;
    await until(() => paths().includes('POST /api/v1/tasks/up-1/cancel'), 'the end of the task');
  });

  test('a task that takes longer than the model may is given up', async () => {
    answerAsVendor([{ output: { task_id: 'up-1', task_status: 'RUNNING' } }]);
    const failed = await failure(sdk().openai.audio.transcriptions.create({ model: 'hurried', file: await file() }));
    expect(failed).toMatchObject({ status: 504 });
    await until(() => paths().includes('POST /api/v1/tasks/up-1/cancel'), 'the end of the task');
  });
});
