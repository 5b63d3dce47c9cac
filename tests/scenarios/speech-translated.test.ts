/** Speech by upstreams of other protocols: the official SDK in front, a real server behind that answers in their shape. */
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { haveFixtures, readReply } from '../fake-upstream/fixtures.ts';
import { answerJson } from '../support/answering-server.ts';
import { failure, geminiSpeech, lossesOf, samples, sdk, startAudio, stopAudio, strict, upstream, writeWave } from './translated-audio-stage.ts';

beforeAll(startAudio);
afterAll(stopAudio);

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
