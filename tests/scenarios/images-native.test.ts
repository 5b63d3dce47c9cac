/** Images by the native API, answered at once and in tasks: the official SDKs in front, a real server behind that answers in its shape. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { toFile } from 'openai';
import { haveFixtures, readReply } from '../fake-upstream/fixtures.ts';
import { type Answer, answerJson as json, type Received } from '../support/answering-server.ts';
import { address, b64, elsewhere, files, lossesOf, png, sdk, startImages, stopImages, upstream } from './images-stage.ts';

beforeAll(startImages);
afterAll(stopImages);

describe('the native API', () => {
  const replyWith = (...urls: string[]) => ({
    output: { choices: [{ finish_reason: 'stop', message: { role: 'assistant', content: urls.map((image) => ({ image })) } }] },
    usage: { image_count: urls.length, width: 1664, height: 928 },
  });
  /** Answers the call, and gives the file that it names. */
  const withFile =
    (file: Buffer, url = `${address}/files/1.png`): Answer =>
    (response, { path }) =>
      path.startsWith('/files/')
        ? void response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(file)
        : json(replyWith(url))(response, {} as Received);

  test('is asked in its own words, and its addresses reach those who take them', async () => {
    upstream.answer = json(replyWith('https://vendor.example/1.png?Signature=x'));
    const { openai, row } = sdk();
    const answer = await openai.images.generate({ model: 'qwen-image', prompt: 'a cat', size: '1536x1024', user: 'someone' });
    expect(upstream.received).toMatchObject([
      { path: '/api/v1/services/aigc/multimodal-generation/generation', headers: { authorization: 'Bearer sk-of-delta' } },
    ]);
    expect(upstream.json()).toEqual({
      model: 'qwen-image-edit-plus',
      input: { messages: [{ role: 'user', content: [{ text: 'a cat' }] }] },
      parameters: { size: '1536*1024' },
    });
    expect(answer.data).toEqual([{ url: 'https://vendor.example/1.png?Signature=x' }]);
    const made = await row();
    expect(made).toMatchObject({ images: 1, upstream_protocol: 'delta' });
    expect(lossesOf(made)).toEqual(['user dropped']);
  });

  test('for those who asked for bytes the file is fetched, without our credentials', async () => {
    upstream.answer = withFile(png);
    const { openai } = sdk();
    const answer = await openai.images.generate({ model: 'qwen-image', prompt: 'p', response_format: 'b64_json' });
    expect(answer).toMatchObject({ data: [{ b64_json: b64 }], output_format: 'png' });
    expect(upstream.received.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /api/v1/services/aigc/multimodal-generation/generation',
      'GET /files/1.png',
    ]);
    expect(upstream.received[1]?.headers.authorization).toBeUndefined();
  });

  test('a private address that is not the upstream’s own is never dialled', async () => {
    upstream.answer = withFile(png, `${elsewhere.address}/secret.png`);
    const failed = await sdk()
      .openai.images.generate({ model: 'qwen-image', prompt: 'p', response_format: 'b64_json' })
      .catch((error: unknown) => error);
    expect(failed).toMatchObject({ status: 502 });
    expect(elsewhere.received).toHaveLength(0);
  });

  test('an edit by a form and one by JSON are the same request', async () => {
    upstream.answer = json(replyWith('https://vendor.example/1.png'));
    const form = sdk();
    await form.openai.images.edit({ model: 'qwen-image', prompt: 'p', image: await files(2), mask: await toFile(png, 'm.png') });
    const byForm = upstream.json();
    const images = [1, 2].map(() => ({ image_url: `data:image/png;base64,${b64}` }));
    const plain = sdk();
    await plain.openai.post('/images/edits', { body: { model: 'qwen-image', prompt: 'p', images, mask: images[0] } });
    expect(upstream.json()).toEqual(byForm);
    expect(lossesOf(await form.row())).toEqual(['mask emulated']);
    expect(lossesOf(await plain.row())).toEqual(['mask emulated']);
  });
});

describe('the native API, by models that make images in tasks', () => {
  const taskPath = '/api/v1/tasks/up-1';
  const running = { output: { task_id: 'up-1', task_status: 'RUNNING' } };
  const done = (...results: object[]) => ({ output: { task_id: 'up-1', task_status: 'SUCCEEDED', results }, usage: { image_count: results.length } });
  const made = { url: 'https://vendor.example/1.png?Signature=x', orig_prompt: 'a cat', actual_prompt: 'A cat, photorealistic' };
  const paths = () => upstream.received.map(({ method, path }) => `${method} ${path}`);
  function answerWith(...looks: object[]): void {
    const left = [...looks];
    upstream.answer = (response, asked) => {
      if (asked.path.startsWith('/files/')) return void response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(png);
      const body = asked.path.startsWith(taskPath) ? (left.length > 1 ? left.shift() : left[0]) : { output: { task_id: 'up-1', task_status: 'PENDING' } };
      json(body)(response, asked);
    };
  }

  test('the task is begun and waited for, with one row of what it made', async () => {
    answerWith(running, done(made, { ...made, actual_prompt: undefined }));
    const { openai, row } = sdk();
    const request = { model: 'wan', prompt: 'a cat', n: 2, size: '1024x1024', negative_prompt: 'dogs', seed: 4 } as const;
    const answer = await openai.images.generate(request);
    expect(answer.data).toEqual([{ url: made.url, revised_prompt: made.actual_prompt }, { url: made.url }]);
    expect(paths()).toEqual(['POST /api/v1/services/aigc/text2image/image-synthesis', `GET ${taskPath}`, `GET ${taskPath}`]);
    expect(upstream.received[0]?.headers).toMatchObject({ 'x-dashscope-async': 'enable', authorization: 'Bearer sk-of-delta' });
    expect(JSON.parse(upstream.received[0]!.body.toString())).toEqual({
      model: 'wan2.2-t2i-flash',
      input: { prompt: 'a cat', negative_prompt: 'dogs' },
      parameters: { size: '1024*1024', n: 2, seed: 4 },
    });
    expect(await row()).toMatchObject({ status: 200, images: 2, usage_source: 'upstream', kind: 'call', losses: [] });
  });

  test('bytes for those who want them', async () => {
    answerWith(done({ url: `${address}/files/1.png` }));
    const answer = await sdk().openai.images.generate({ model: 'wan', prompt: 'p', response_format: 'b64_json' });
    expect(answer).toMatchObject({ data: [{ b64_json: b64 }], output_format: 'png' });
  });

  test('edits: several images, the mask as one more; a model that edits one image by a function of its own', async () => {
    answerWith(done(made));
    await sdk().openai.images.edit({ model: 'wan-edit', prompt: 'make it red', image: await files(2), mask: await toFile(png, 'm.png') });
    expect(paths()[0]).toBe('POST /api/v1/services/aigc/image2image/image-synthesis');
    const { input } = JSON.parse(upstream.received[0]!.body.toString()) as { input: { prompt: string; images: string[] } };
    expect(input.images).toEqual(Array.from({ length: 3 }, () => `data:image/png;base64,${b64}`));
    expect(input.prompt).toMatch(/^make it red\n\nThe last image is a mask/);
    const { openai, row } = sdk();
    await openai.images.edit({ model: 'wanx-edit', prompt: 'make it red', image: await toFile(png, 'a.png'), mask: await toFile(png, 'm.png') });
    expect(JSON.parse(upstream.received[0]!.body.toString())).toEqual({
      model: 'wanx2.1-imageedit',
      input: { prompt: 'make it red', function: 'description_edit', base_image_url: `data:image/png;base64,${b64}` },
    });
    expect(lossesOf(await row())).toEqual(['mask dropped']);
    const refused = await sdk()
      .openai.images.edit({ model: 'wanx-edit', prompt: 'p', image: await files(2) })
      .catch((error: unknown) => error);
    expect(refused).toMatchObject({ status: 400, param: 'image' });
    expect(upstream.received).toEqual([]);
  });

  test('what failed, or was made in no task that can be waited for, is the error of the SDK; models that do not edit say so', async () => {
    const refused = { code: 'DataInspectionFailed', message: 'Input data may contain inappropriate content.' };
    for (const end of [{ output: { task_id: 'up-1', task_status: 'FAILED', ...refused } }, done(refused)]) {
      answerWith(end);
      const { openai, row } = sdk();
      const failed = await openai.images.generate({ model: 'wan', prompt: 'p' }).catch((error: unknown) => error);
      expect(failed).toMatchObject({ status: 400, message: expect.stringContaining('inappropriate content') });
      expect((await row()).images ?? 0).toBe(0);
    }
    upstream.answer = json({ code: 'InvalidParameter', message: 'The size is unknown.' }, 400);
    const unknown = await sdk()
      .openai.images.generate({ model: 'wan', prompt: 'p' })
      .catch((error: unknown) => error);
    expect(unknown).toMatchObject({ status: 400, message: expect.stringContaining('The size is unknown.') });
    const edit = await sdk()
      .openai.images.edit({ model: 'wan', prompt: 'p', image: await toFile(png, 'a.png') })
      .catch((error: unknown) => error);
    expect(edit).toMatchObject({ status: 400, code: 'unsupported_operation' });
  });

  test('a look that fails is repeated: the work goes on meanwhile', async () => {
    let looks = 0;
    upstream.answer = (response, asked) => {
      if (!asked.path.startsWith(taskPath)) return json({ output: { task_id: 'up-1', task_status: 'PENDING' } })(response, asked);
      looks += 1;
      if (looks === 1) return json({ code: 'SystemBusy', message: 'Busy.' }, 503)(response, asked);
      json(done(made))(response, asked);
    };
    expect((await sdk().openai.images.generate({ model: 'wan', prompt: 'p' })).data).toHaveLength(1);
    expect(looks).toBe(2);
  });

  (haveFixtures() ? test : test.skip)('the recorded task', async () => {
    const bodies = [1, 2, 3].map((part) => JSON.parse(readReply('delta', 'image-synthesis-task', part)!.body.toString()) as object);
    const left = [...bodies];
    upstream.answer = (response, asked) => json(left.shift())(response, asked);
    const { openai, row } = sdk();
    const answer = await openai.images.generate({ model: 'wan', prompt: '一只奔跑的猫', n: 4 });
    const { output, usage } = bodies[2] as { output: { results: { url: string }[] }; usage: { image_count: number } };
    expect(answer.data?.map(({ url }) => url)).toEqual(output.results.map(({ url }) => url));
    expect(await row()).toMatchObject({ images: usage.image_count });
  });
});
