/** Transcriptions by upstreams of other protocols: the official SDK in front, a real server behind that answers in their shape. */
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { toFile } from 'openai';
import { haveFixtures, readReply } from '../fake-upstream/fixtures.ts';
import { answerJson } from '../support/answering-server.ts';
import { until } from '../support/in-process.ts';
import { failure, file, lossesOf, samples, sdk, startAudio, stopAudio, upstream } from './translated-audio-stage.ts';

beforeAll(startAudio);
afterAll(stopAudio);

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

  const riff = Buffer.from('RIFF0000WAVEfmt ');
  test.each([
    ['a browser, which names the codec', Buffer.from('..'), 'recording.webm', 'audio/webm;codecs=opus', 'audio/webm'],
    ['Python, by its name of the type', riff, 'a.wav', 'audio/x-wav', 'audio/wav'],
    ['a phone', Buffer.from('..'), 'a.m4a', 'audio/x-m4a', 'audio/mp4'],
    ['a client that says nothing but its ending', Buffer.from('..'), 'a.OGG', 'application/octet-stream', 'audio/ogg'],
    ['one that says nothing', riff, 'file', 'application/octet-stream', 'audio/wav'],
    ['one that says nothing', Buffer.from([0x1a, 0x45, 0xdf, 0xa3, 1]), 'blob', 'application/octet-stream', 'audio/webm'],
    ['one that says nothing', Buffer.from('OggS...'), 'blob', '', 'audio/ogg'],
    ['one of which nothing is known', Buffer.from('ID3...'), 'blob', '', 'audio/mpeg'],
  ])('the type of a recording of %s: %#', async (_of, content, name, type, expected) => {
    upstream.answer = answerJson(gemini);
    await sdk().openai.audio.transcriptions.create({ model: 'gemini', file: await toFile(content, name, { type }) });
    expect(upstream.json()).toMatchObject({ contents: [{ parts: [{}, { inlineData: { mimeType: expected, data: content.toString('base64') } }] }] });
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
