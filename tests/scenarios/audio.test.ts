/** Speech and transcriptions: the official SDK in front, a real server behind that answers with recordings or in their shape. */
import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import OpenAI, { toFile } from 'openai';
import { haveFixtures, readReply } from '../fake-upstream/fixtures.ts';
import { AnsweringServer, answerJson } from '../support/answering-server.ts';
import { type InProcessGateway, startInProcess, until } from '../support/in-process.ts';
import { type NatsServer, natsAvailable, startNatsServer } from '../support/nats-server.ts';

const sound = Buffer.from(Uint8Array.from({ length: 200_000 }, (_, at) => (at * 31) % 251));
const upstream = new AnsweringServer();
let asked = 0;

const start = (more: Partial<Parameters<typeof startInProcess>[0]> = {}): Promise<InProcessGateway> =>
  startInProcess({
    upstreams: ['alpha', 'alpha_audio', 'beta'].map((name) => ({
      name,
      protocol: name as 'alpha',
      base_url: upstream.address,
      api_keys: [{ key: `sk-of-${name}` }],
    })),
    models: [
      { name: 'voice', upstream: 'alpha_audio', upstream_model_id: 'gpt-4o-mini-tts' },
      { name: 'voice-of-chat', upstream: 'alpha', upstream_model_id: 'tts-1' },
      { name: 'ears', upstream: 'alpha_audio', upstream_model_id: 'gpt-4o-transcribe' },
      { name: 'claude', upstream: 'beta', upstream_model_id: 'claude' },
    ],
    loadBalancers: [{ name: 'voices', strategy: 'priority', entries: [{ model: 'voice' }, { model: 'voice-of-chat' }] }],
    ...more,
  });

const arrangements = [['one process', false] as const, ...(natsAvailable('audio') ? [['over NATS', true] as const] : [])];

describe.each(arrangements)('%s', (_name, split) => {
  let nats: NatsServer | undefined;
  let gateway: InProcessGateway;
  beforeAll(async () => {
    await upstream.start();
    nats = split ? await startNatsServer() : undefined;
    gateway = await start(nats ? { natsUrl: nats.url } : {});
    // Over NATS the parts learn of one another within moments.
    upstream.answer = (response) => void response.writeHead(200, { 'content-type': 'audio/mpeg' }).end(sound);
    await until(
      () =>
        sdk()
          .openai.audio.speech.create({ model: 'voice', voice: 'alloy', input: 'Hello' })
          .catch(() => undefined),
      'the first answer',
    );
  });
  afterAll(async () => {
    await gateway?.stop();
    await nats?.stop();
    upstream.stop();
  });

  /** The SDK, and the row of its next request. */
  function sdk(): { openai: OpenAI; row: () => ReturnType<InProcessGateway['row']> } {
    const id = `audio-${++asked}`;
    upstream.received.length = 0;
    const openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key, maxRetries: 0, defaultHeaders: { 'z-request-id': id } });
    return { openai, row: () => gateway.row(id) };
  }
  const file = () => toFile(sound, 'übung 1.m4a', { type: 'audio/mp4' });

  describe('speech', () => {
    test.each([
      ['voice', 'mp3', 'audio/mpeg'],
      ['voice-of-chat', 'wav', 'audio/wav'],
      ['voice', 'pcm', 'audio/pcm'],
    ] as const)('%s as %s: the very bytes, with their type', async (model, format, type) => {
      upstream.answer = (response) => void response.writeHead(200, { 'content-type': type }).end(sound);
      const { openai, row } = sdk();
      const answer = await openai.audio.speech.create({ model, voice: 'alloy', input: 'Hello, Welt 🙂', response_format: format });
      expect(answer.headers.get('content-type')).toBe(type);
      expect(Buffer.from(await answer.arrayBuffer()).equals(sound)).toBe(true);
      expect(upstream.received[0]).toMatchObject({ path: '/v1/audio/speech', headers: { authorization: expect.stringMatching(/^Bearer sk-of-/) } });
      expect(upstream.json()).toEqual({
        model: model === 'voice' ? 'gpt-4o-mini-tts' : 'tts-1',
        voice: 'alloy',
        input: 'Hello, Welt 🙂',
        response_format: format,
      });
      expect(await row()).toMatchObject({
        status: 200,
        client_protocol: 'alpha_audio',
        characters: 13,
        usage_source: 'estimated',
        response_bytes: sound.length,
      });
    });

    test('its beginning is there before its end', async () => {
      let finish = (): void => {};
      upstream.answer = (response) => {
        response.writeHead(200, { 'content-type': 'audio/mpeg' });
        response.write(sound.subarray(0, 5000));
        finish = () => response.end(sound.subarray(5000));
      };
      const answer = await sdk().openai.audio.speech.create({ model: 'voice', voice: 'alloy', input: 'Hello' });
      const reader = answer.body!.getReader();
      const parts: Uint8Array[] = [];
      const first = await reader.read();
      parts.push(first.value!);
      finish();
      for (let part = await reader.read(); !part.done; part = await reader.read()) parts.push(part.value);
      expect(Buffer.concat(parts).equals(sound)).toBe(true);
    });

    test('a caller who leaves stops the upstream, and pays for what was read aloud', async () => {
      let left = false;
      upstream.answer = (response) => {
        response.writeHead(200, { 'content-type': 'audio/mpeg' });
        const timer = setInterval(() => response.write(sound.subarray(0, 1000)), 20);
        response.on('close', () => {
          clearInterval(timer);
          left = true;
        });
      };
      const { openai, row } = sdk();
      const answer = await openai.audio.speech.create({ model: 'voice', voice: 'alloy', input: 'Hello' });
      const reader = answer.body!.getReader();
      await reader.read();
      await reader.cancel();
      await until(() => left, 'the upstream to be left');
      const { client_request_id: id } = await row();
      const settled = await until(
        () => gateway.rows.find(({ client_request_id, authority }) => client_request_id === id && authority === 2),
        'the row of the translator',
      );
      expect(settled).toMatchObject({ status: 499, error_code: 'client_gone', usage_source: 'estimated', characters: 5 });
    });

    test('an upstream that breaks off breaks the connection: half of it never passes for the whole', async () => {
      upstream.answer = (response) => {
        response.writeHead(200, { 'content-type': 'audio/mpeg' });
        response.write(sound.subarray(0, 5000), () => setTimeout(() => response.destroy(), 50));
      };
      const { openai, row } = sdk();
      const answer = await openai.audio.speech.create({ model: 'voice', voice: 'alloy', input: 'Hello' });
      await expect(answer.arrayBuffer()).rejects.toThrow();
      expect(await row()).toMatchObject({ status: 200, error_code: 'upstream_broken' });
    });

    test('as events, when they are asked for', async () => {
      const events = [
        { type: 'speech.audio.delta', audio: 'AAAA' },
        { type: 'speech.audio.done', usage: { input_tokens: 5, output_tokens: 40, total_tokens: 45 } },
      ];
      const text = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
      upstream.answer = (response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text);
      const { openai, row } = sdk();
      const answer = await openai.audio.speech.create({ model: 'voice', voice: 'alloy', input: 'Hello', stream_format: 'sse' });
      expect(await answer.text()).toBe(text);
      expect(await row()).toMatchObject({ input_tokens: 5, audio_output_tokens: 40, usage_source: 'upstream' });
    });

    test('a refusal of the vendor is the error of the SDK', async () => {
      upstream.answer = answerJson({ error: { message: 'No such voice.', type: 'invalid_request_error', param: 'voice', code: 'invalid_value' } }, 400);
      const failed = await sdk()
        .openai.audio.speech.create({ model: 'voice', voice: 'nobody', input: 'Hello' })
        .catch((error: unknown) => error);
      expect(failed).toMatchObject({ status: 400, code: 'invalid_value', param: 'voice' });
    });

    test('an error under a status of success is one, and another node is asked', async () => {
      const busy = answerJson({ error: { message: 'Slow down.', type: 'rate_limit_error', code: 'rate_limit_exceeded' } });
      upstream.answer = busy;
      const failed = sdk();
      await expect(failed.openai.audio.speech.create({ model: 'voice', voice: 'alloy', input: 'Hello' })).rejects.toMatchObject({ status: 429 });
      expect(await failed.row()).toMatchObject({ status: 429, characters: null });
      // A limit is the account's, so that the next node is asked.
      upstream.answer = (response, request) => {
        if (request.headers['authorization'] !== 'Bearer sk-of-alpha') return busy(response, request);
        response.writeHead(200, { 'content-type': 'audio/mpeg' }).end(sound);
      };
      const answer = await sdk().openai.audio.speech.create({ model: 'voices', voice: 'alloy', input: 'Hello' });
      expect(Buffer.from(await answer.arrayBuffer()).equals(sound)).toBe(true);
    });

    test('a model of another kind says where it is served', async () => {
      const failed = await sdk()
        .openai.audio.speech.create({ model: 'claude', voice: 'alloy', input: 'Hello' })
        .catch((error: unknown) => error);
      expect(failed).toMatchObject({ status: 400, code: 'unsupported_operation' });
    });
  });

  describe('transcriptions', () => {
    const usage = { type: 'tokens', input_tokens: 40, input_token_details: { text_tokens: 3, audio_tokens: 37 }, output_tokens: 9, total_tokens: 49 };

    test('a form passes with the model alone exchanged, its file with its name', async () => {
      upstream.answer = answerJson({ text: 'Guten Tag.', usage });
      const { openai, row } = sdk();
      const answer = await openai.audio.transcriptions.create({ model: 'ears', file: await file(), language: 'de', include: ['logprobs'] });
      expect(answer.text).toBe('Guten Tag.');
      const form = await upstream.form();
      expect([form.get('model'), form.get('language'), form.getAll('include[]')]).toEqual(['gpt-4o-transcribe', 'de', ['logprobs']]);
      const sent = form.get('file') as File;
      expect([sent.name, sent.type]).toEqual(['übung 1.m4a', 'audio/mp4']);
      expect(Buffer.from(await sent.arrayBuffer()).equals(sound)).toBe(true);
      expect(await row()).toMatchObject({ status: 200, input_tokens: 3, audio_input_tokens: 37, output_tokens: 9, usage_source: 'upstream', losses: [] });
    });

    test.each([
      ['text', 'text/plain; charset=utf-8', `${'Guten Tag. '.repeat(30)}\n`, 23],
      ['srt', 'text/plain; charset=utf-8', '1\n00:59:50,000 --> 01:00:01,200\nGuten Tag.\n\n', 3_602],
      ['vtt', 'text/vtt', 'WEBVTT\n\n00:00.000 --> 00:02.000\nGuten Tag.\n\n00:02.000 --> 01:05.250\nBis morgen.\n\n', 66],
    ] as const)('%s is text, whose seconds are estimated', async (format, type, text, seconds) => {
      upstream.answer = (response) => void response.writeHead(200, { 'content-type': type }).end(text);
      const { openai, row } = sdk();
      const { data, response } = await openai.audio.transcriptions.create({ model: 'ears', file: await file(), response_format: format }).withResponse();
      expect([data, response.headers.get('content-type')]).toEqual([text, type]);
      expect(await row()).toMatchObject({ status: 200, usage_source: 'estimated', seconds });
    });

    test('an error that vLLM reports in its stream is one, though the stream ends as ever', async () => {
      const text = 'data: {"error":{"message":"out of memory","type":"InternalServerError","code":500}}\n\ndata: [DONE]\n\n';
      upstream.answer = (response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text);
      const { openai, row } = sdk();
      await expect(openai.audio.transcriptions.create({ model: 'ears', file: await file(), stream: true })).rejects.toMatchObject({ status: 502 });
      expect(await row()).toMatchObject({ status: 502, seconds: null });
    });

    test.each([
      ['a web page', 'text/html', '<html><body>Sign in</body></html>', 502],
      ['an error', 'text/event-stream', '{"error":{"message":"Slow down.","type":"rate_limit_error","code":"rate_limit_exceeded"}}', 429],
    ])('%s in place of events is not an answer', async (_what, type, text, status) => {
      upstream.answer = (response) => void response.writeHead(200, { 'content-type': type }).end(text);
      const { openai, row } = sdk();
      await expect(openai.audio.transcriptions.create({ model: 'ears', file: await file(), stream: true })).rejects.toMatchObject({ status });
      expect(await row()).toMatchObject({ status, seconds: null });
    });

    test('seconds are estimated where a server tells no figures', async () => {
      upstream.answer = answerJson({ text: 'Guten Tag. '.repeat(30) });
      const { openai, row } = sdk();
      await openai.audio.transcriptions.create({ model: 'ears', file: await file() });
      expect(await row()).toMatchObject({ usage_source: 'estimated', seconds: 22 });
    });

    test('seconds are counted where nothing else is', async () => {
      upstream.answer = answerJson({ text: 'x', usage: { type: 'duration', seconds: 4 } });
      const one = sdk();
      await one.openai.audio.transcriptions.create({ model: 'ears', file: await file() });
      expect(await one.row()).toMatchObject({ seconds: 4, input_tokens: 0, usage_source: 'upstream' });
      upstream.answer = answerJson({ task: 'translate', language: 'english', duration: 3.7, text: 'x', segments: [] });
      const other = sdk();
      await other.openai.audio.translations.create({ model: 'ears', file: await file(), response_format: 'verbose_json' });
      expect(upstream.received[0]?.path).toBe('/v1/audio/translations');
      expect(await other.row()).toMatchObject({ seconds: 4 });
    });

    test('events come one by one', async () => {
      let finish = (): void => {};
      upstream.answer = (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write('data: {"type":"transcript.text.delta","delta":"Guten"}\n\n');
        finish = () => response.end(`data: ${JSON.stringify({ type: 'transcript.text.done', text: 'Guten Tag.', usage })}\n\n`);
      };
      const { openai, row } = sdk();
      const stream = await openai.audio.transcriptions.create({ model: 'ears', file: await file(), stream: true });
      const seen: string[] = [];
      for await (const event of stream) {
        seen.push(event.type);
        finish();
      }
      expect(seen).toEqual(['transcript.text.delta', 'transcript.text.done']);
      expect(await row()).toMatchObject({ audio_input_tokens: 37, output_tokens: 9, stream: true });
    });

    test.each([
      [
        'Mistral',
        [
          { type: 'transcription.text.delta', text: 'Guten Tag.' },
          { type: 'transcription.done', text: 'Guten Tag.', usage: { prompt_audio_seconds: 3, prompt_tokens: 4, completion_tokens: 5, total_tokens: 46 } },
        ],
        '',
        { audio_input_tokens: 37, output_tokens: 5, seconds: 3 },
      ],
      // https://github.com/vllm-project/vllm/issues/49116
      [
        'vLLM',
        [
          { object: 'transcription.chunk', choices: [{ delta: { content: 'Guten Tag.' }, finish_reason: 'stop' }] },
          { object: 'transcription.chunk', choices: [], usage: { prompt_tokens: 41, completion_tokens: 5, total_tokens: 46 } },
        ],
        'data: [DONE]\n\n',
        { input_tokens: 41, output_tokens: 5 },
      ],
    ] as const)('a stream with the events of %s ends as they end', async (_vendor, events, end, counted) => {
      const text = `${events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')}${end}`;
      upstream.answer = (response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text);
      const { openai, row } = sdk();
      const reply = await openai.audio.transcriptions.create({ model: 'ears', file: await file(), stream: true }).asResponse();
      expect(await reply.text()).toBe(text);
      expect(await row()).toMatchObject({ ...counted, status: 200, error_code: null, usage_source: 'upstream' });
    });

    test('a stream that breaks off ends with an error that the SDK throws', async () => {
      upstream.answer = (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write('data: {"type":"transcript.text.delta","delta":"Guten"}\n\n', () => setTimeout(() => response.destroy(), 50));
      };
      const stream = await sdk().openai.audio.transcriptions.create({ model: 'ears', file: await file(), stream: true });
      await expect(
        (async () => {
          for await (const _event of stream);
        })(),
      ).rejects.toThrow();
    });

    test('fields after the file, and a boundary in quotes', async () => {
      upstream.answer = answerJson({ text: 'x', usage });
      const body = Buffer.concat([
        Buffer.from('--a b\r\ncontent-disposition: form-data; name="file"; filename="a.wav"\r\ncontent-type: audio/wav\r\n\r\n'),
        sound,
        Buffer.from('\r\n--a b\r\nContent-Disposition: form-data; name="model"\r\n\r\nears\r\n--a b--\r\n'),
      ]);
      expect(await post(body, 'multipart/form-data; boundary="a b"')).toMatchObject({ status: 200 });
      const expected = body.toString('latin1').replace('\r\n\r\nears\r\n', '\r\n\r\ngpt-4o-transcribe\r\n');
      expect(upstream.received.at(-1)?.body.toString('latin1') === expected).toBe(true);
      expect(upstream.received.at(-1)?.headers['content-type']).toBe('multipart/form-data; boundary="a b"');
    });

    test.each([
      ['JSON', '{"model":"ears"}', 'application/json', 415],
      ['no boundary', 'x', 'multipart/form-data', 400],
      ['no model', '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nx\r\n--b--\r\n', 'multipart/form-data; boundary=b', 400],
      ['no file', '--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nears\r\n--b--\r\n', 'multipart/form-data; boundary=b', 400],
      ['half a form', '--b\r\nContent-Disposition: form-data; name="model"\r\n\r\near', 'multipart/form-data; boundary=b', 400],
    ] as const)('%s is refused before anybody is asked', async (_what, body, type, status) => {
      upstream.received.length = 0;
      const answer = await post(Buffer.from(body), type);
      expect(answer.status).toBe(status);
      expect(JSON.parse(answer.text)).toMatchObject({ error: { message: expect.any(String) } });
      expect(upstream.received).toEqual([]);
    });

    test('25 MB at once', async () => {
      const large = Buffer.alloc(25_000_000, 'sound');
      upstream.answer = answerJson({ text: 'x', usage });
      await sdk().openai.audio.transcriptions.create({ model: 'ears', file: await toFile(large, 'a.mp3') });
      const sent = (await upstream.form()).get('file') as File;
      expect(Buffer.from(await sent.arrayBuffer()).equals(large)).toBe(true);
    });

    const post = (body: Buffer, type: string): Promise<{ status: number; text: string }> =>
      new Promise((resolve, reject) => {
        const request = httpRequest(`${gateway.url}/v1/audio/transcriptions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${gateway.key}`, 'content-type': type, 'content-length': body.length },
        });
        request.on('error', reject);
        request.on('response', (reply) => {
          let text = '';
          reply.setEncoding('utf8');
          reply.on('data', (part: string) => {
            text += part;
          });
          reply.on('end', () => resolve({ status: reply.statusCode ?? 0, text }));
        });
        request.end(body);
      });
  });

  (haveFixtures() ? describe : describe.skip)('recorded replies through the official SDK', () => {
    test.each(['speech', 'speech-gpt-4o-mini'])('%s: the recorded bytes', async (name) => {
      const { status, headers, body } = readReply('alpha_audio', name, 1)!;
      upstream.answer = (response) => void response.writeHead(status, headers).end(body);
      const answer = await sdk().openai.audio.speech.create({ model: 'voice', voice: 'alloy', input: 'Hello' });
      expect(Buffer.from(await answer.arrayBuffer()).equals(body)).toBe(true);
      expect(answer.headers.get('content-type')).toBe(headers['content-type']);
    });

    test.each(['transcription', 'transcription-diarized-json', 'transcription-mistral-diarize', 'translation'])('%s: equal to a direct call', async (name) => {
      const { status, headers, body } = readReply('alpha_audio', name, 1)!;
      upstream.answer = (response) => void response.writeHead(status, headers).end(body);
      const answer = await sdk().openai.audio.transcriptions.create({ model: 'ears', file: await file() });
      expect(JSON.parse(JSON.stringify(answer))).toEqual(JSON.parse(body.toString()));
    });

    test('transcription-stream: the recorded events', async () => {
      const { status, headers, body } = readReply('alpha_audio', 'transcription-stream', 1)!;
      upstream.answer = (response) => void response.writeHead(status, headers).end(body);
      const stream = await sdk().openai.audio.transcriptions.create({ model: 'ears', file: await file(), stream: true });
      const seen: unknown[] = [];
      for await (const event of stream) seen.push(event);
      const recorded = body
        .toString()
        .split('\n')
        .flatMap((line) => (line.startsWith('data: {') ? [JSON.parse(line.slice(6)) as unknown] : []));
      expect(seen).toEqual(recorded);
    });
  });
});
