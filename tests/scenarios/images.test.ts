/** Images: the official SDKs in front, upstreams of every protocol behind, each a real server that answers with recordings or in their shape. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createOutbound } from '@model-gateway/upstream-client';
import { GoogleGenAI } from 'genai-1-30';
import { APIError, toFile } from 'openai';
import { haveFixtures, readReply } from '../fake-upstream/fixtures.ts';
import { answerJson as json, type Received } from '../support/answering-server.ts';
import type { InProcessGateway } from '../support/in-process.ts';
import { type NatsServer, natsAvailable, startNatsServer } from '../support/nats-server.ts';
import {
  address,
  b64,
  costOf,
  files,
  gateway,
  geminiReply,
  lossesOf,
  png,
  sdk,
  start,
  startImages,
  stopImages,
  strict,
  timeouts,
  upstream,
  usage,
} from './images-stage.ts';

beforeAll(startImages);
afterAll(stopImages);

describe('an upstream of the same family', () => {
  test.each(['images', 'chat'])('%s: the body passes with the model alone exchanged, and tokens of both kinds are counted', async (model) => {
    const body = { created: 5, background: 'opaque', data: [{ b64_json: b64 }], output_format: 'png', quality: 'low', size: '1024x1024', usage };
    upstream.answer = json(body);
    const { openai, row } = sdk();
    const answer = await openai.images.generate({ model, prompt: 'a cat', quality: 'low', svg: null });
    expect(JSON.parse(JSON.stringify(answer))).toEqual(body);
    expect(upstream.received).toMatchObject([{ path: '/v1/images/generations', headers: { authorization: expect.stringMatching(/^Bearer sk-of-alpha/) } }]);
    expect(upstream.json()).toEqual({ model: 'gpt-image-2', prompt: 'a cat', quality: 'low', svg: null });
    expect(await row()).toMatchObject({
      client_protocol: 'alpha_images',
      input_tokens: 30,
      output_tokens: 400,
      images: 1,
      usage_source: 'upstream',
      losses: [],
    });
  });

  test('body rules apply to JSON, and a form says that they do not', async () => {
    upstream.answer = json({ created: 5, data: [{ b64_json: b64 }], usage });
    const one = sdk();
    await one.openai.images.generate({ model: 'ruled', prompt: 'a cat' });
    expect(upstream.json()).toMatchObject({ quality: 'low' });
    const other = sdk();
    await other.openai.images.edit({ model: 'ruled', prompt: 'p', image: await toFile(png, 'a.png') });
    expect(lossesOf(await other.row())).toEqual(['request_body_rules dropped']);
  });

  test('a form passes byte for byte but for the model: three images and a mask', async () => {
    upstream.answer = json({ created: 5, data: [{ b64_json: b64 }], usage });
    const { openai, row } = sdk();
    await openai.images.edit({
      model: 'images',
      prompt: 'p',
      image: await files(3),
      mask: await toFile(png, 'mask.png', { type: 'image/png' }),
      size: '1024x1536',
    });
    const [{ path, headers, body }] = upstream.received as [Received];
    expect(path).toBe('/v1/images/edits');
    const form = await new Response(new Uint8Array(body), { headers: { 'content-type': String(headers['content-type']) } }).formData();
    expect([form.get('model'), form.get('prompt'), form.get('size')]).toEqual(['gpt-image-2', 'p', '1024x1536']);
    const images = form.getAll('image[]') as File[];
    expect(images.map(({ name }) => name)).toEqual(['bild ü0.png', 'bild ü1.png', 'bild ü2.png']);
    for (const image of [...images, form.get('mask') as File]) expect(Buffer.from(await image.arrayBuffer()).equals(png)).toBe(true);
    expect(await row()).toMatchObject({ status: 200, input_tokens: 30, images: 1, losses: [] });
  });

  test('variations are a form alone', async () => {
    upstream.answer = json({ created: 5, data: [{ url: 'https://vendor/1.png' }, { url: 'https://vendor/2.png' }] });
    const { openai, row } = sdk();
    const answer = await openai.images.createVariation({ model: 'dall-e', image: await toFile(png, 'a.png'), n: 2 });
    expect(answer.data).toHaveLength(2);
    expect(upstream.received).toMatchObject([{ path: '/v1/images/variations' }]);
    expect(await row()).toMatchObject({ images: 2 });
    const wrong = await fetch(`${gateway.url}/v1/images/variations`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'dall-e' }),
    });
    expect(wrong.status).toBe(415);
  });

  test('an edit as JSON passes too', async () => {
    upstream.answer = json({ created: 5, data: [{ b64_json: b64 }], usage });
    const { row, openai } = sdk();
    const images = [{ image_url: `data:image/png;base64,${b64}` }];
    const answer = await openai.post('/images/edits', { body: { model: 'images', prompt: 'p', images } });
    expect(answer).toMatchObject({ data: [{ b64_json: b64 }] });
    expect(upstream.json()).toEqual({ model: 'gpt-image-2', prompt: 'p', images });
    expect(await row()).toMatchObject({ losses: [] });
  });

  test.each(['generate', 'edit'] as const)('a stream of %s passes event by event, large ones too, and has no terminator', async (task) => {
    const kind = task === 'generate' ? 'image_generation' : 'image_edit';
    const large = Buffer.alloc(4_500_000, 9).toString('base64');
    let goOn = (): void => {};
    const first = { type: `${kind}.partial_image`, partial_image_index: 0, b64_json: b64 };
    const last = { type: `${kind}.completed`, b64_json: large, usage };
    upstream.answer = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`event: ${first.type}\ndata: ${JSON.stringify(first)}\n\n`);
      goOn = () => void response.end(`event: ${last.type}\ndata: ${JSON.stringify(last)}\n\n`);
    };
    const { openai, row } = sdk();
    const shared = { model: 'images', prompt: 'p', partial_images: 1, stream: true } as const;
    const stream = await (task === 'generate' ? openai.images.generate(shared) : openai.images.edit({ ...shared, image: await toFile(png, 'a.png') }));
    const types: string[] = [];
    let received = '';
    for await (const event of stream) {
      types.push(event.type);
      received = event.b64_json;
      // The first one came before the last was made.
      if (types.length === 1) goOn();
    }
    expect(types).toEqual([first.type, last.type]);
    expect(received === large).toBe(true);
    expect(await row()).toMatchObject({ status: 200, error_code: null, stream: true, input_tokens: 30, output_tokens: 400, images: 1 });
  });

  test('a stream that breaks is an error of the SDK, and no finished image', async () => {
    upstream.answer = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const event = { type: 'image_generation.partial_image', partial_image_index: 0, b64_json: b64 };
      response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`, () => setImmediate(() => response.destroy()));
    };
    const { openai, row } = sdk();
    const stream = await openai.images.generate({ model: 'images', prompt: 'p', stream: true });
    const types: string[] = [];
    const reading = (async () => {
      for await (const event of stream) types.push(event.type);
    })();
    await expect(reading).rejects.toThrow();
    expect(types).toEqual(['image_generation.partial_image']);
    expect(await row()).toMatchObject({ status: 200, error_code: 'upstream_broken' });
  });

  test('cost goes by tokens or by the image, as the price says', async () => {
    upstream.answer = json({ created: 5, data: [{ b64_json: b64 }], usage });
    const tokens = sdk();
    await tokens.openai.images.generate({ model: 'images', prompt: 'p' });
    // For a million: 10 tokens of text at 5, 20 of images at 10, and 400 that were drawn at 40.
    const made = await tokens.row();
    expect(made).toMatchObject({ input_tokens: 30, output_tokens: 400, image_input_tokens: 20, image_output_tokens: 400, helpers: [] });
    expect(costOf(made)).toBe(50 + 200 + 16_000);
    const drawn = { model: 'gpt-6', input_tokens: 100, output_tokens: 3_000, reasoning_tokens: 1_000, total_tokens: 3_100 };
    upstream.answer = json({ created: 5, data: [{ b64_json: b64 }], usage, svg_usage: drawn });
    const svg = sdk();
    await svg.openai.images.generate({ model: 'images', prompt: 'p' });
    const helped = await svg.row();
    expect(helped).toMatchObject({ input_tokens: 130, output_tokens: 2_400, reasoning_tokens: 1_000 });
    expect(helped.helpers).toEqual([{ model: 'gpt-6', input: 100, output: 2_000, reasoning: 1_000 }]);
    expect(costOf(helped)).toBe(50 + 200 + 16_000 + 100 + 4_000 + 3_000);
    upstream.answer = json({
      output: { choices: [{ message: { content: [{ image: `${address}/1.png` }, { image: `${address}/2.png` }] } }] },
      usage: { image_count: 2 },
    });
    const pieces = sdk();
    await pieces.openai.images.generate({ model: 'qwen-image', prompt: 'p', n: 2 });
    expect(costOf(await pieces.row())).toBe(80_000);
  });
});

describe('a generate-content upstream', () => {
  test('one that streams what it was not asked to is asked once: the answer is missing, and the request fails', async () => {
    upstream.answer = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      // Asked again and again, it would be so without end.
      if (upstream.received.length < 5) response.end('data: {"candidates":[]}\n\n');
      else response.destroy();
    };
    const { openai, row } = sdk();
    const stream = await openai.images.generate({ model: 'gemini', prompt: 'p', stream: true });
    await expect(
      (async () => {
        for await (const event of stream) expect(event).toBeUndefined();
      })(),
    ).rejects.toThrow();
    expect(upstream.received).toHaveLength(1);
    expect(await row()).toMatchObject({ error_code: 'upstream_bad_reply' });
  });

  test('is asked in its own words; what it has no field for is declared', async () => {
    upstream.answer = json(geminiReply);
    const { openai, row } = sdk();
    const answer = await openai.images.generate({ model: 'gemini', prompt: 'a cat', size: '1536x1024', quality: 'high', response_format: 'b64_json' });
    expect(upstream.received).toMatchObject([{ path: '/v1beta/models/gemini-2.5-flash-image:generateContent', headers: { 'x-goog-api-key': 'sk-of-gamma' } }]);
    expect(upstream.json()).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'a cat' }] }],
      generationConfig: { responseModalities: ['TEXT', 'IMAGE'], imageConfig: { aspectRatio: '3:2' } },
    });
    expect(answer).toMatchObject({ data: [{ b64_json: b64 }], output_format: 'png', usage: { input_tokens: 5, output_tokens: 1290, total_tokens: 1295 } });
    const made = await row();
    expect(made).toMatchObject({ input_tokens: 5, output_tokens: 1290, images: 1, upstream_protocol: 'gamma' });
    expect(lossesOf(made)).toEqual(['quality dropped', 'size downgraded']);
  });

  test('several images are several calls, joined to one answer and one row', async () => {
    upstream.answer = json(geminiReply);
    const { openai, row } = sdk();
    const answer = await openai.images.generate({ model: 'gemini', prompt: 'a cat', n: 3 });
    expect(answer.data?.map(({ b64_json }) => b64_json)).toEqual([b64, b64, b64]);
    expect(upstream.received).toHaveLength(3);
    const made = await row();
    expect(made).toMatchObject({ input_tokens: 15, output_tokens: 3870, images: 3, status: 200 });
    expect(made.attempts).toHaveLength(3);
  });

  test('an edit by a form: three images, and the mask as one more', async () => {
    upstream.answer = json(geminiReply);
    const { openai, row } = sdk();
    await openai.images.edit({ model: 'gemini', prompt: 'p', image: await files(3), mask: await toFile(png, 'mask.png') });
    const [{ parts }] = (upstream.json() as { contents: [{ parts: Record<string, unknown>[] }] }).contents;
    expect(parts.slice(0, 4)).toEqual(Array.from({ length: 4 }, () => ({ inlineData: { mimeType: 'image/png', data: b64 } })));
    expect(parts[4]).toEqual({ text: expect.stringMatching(/^p\n\nThe last image is a mask/) });
    expect(lossesOf(await row())).toEqual(['mask emulated']);
  });

  test('images by address pass as such, or are fetched where the operator lets the gateway do so', async () => {
    const edit = async (at: InProcessGateway, url: string) => {
      const { openai, row } = sdk(at);
      await openai.post('/images/edits', { body: { model: 'gemini', prompt: 'p', images: [{ image_url: url }] } });
      const [{ parts }] = (upstream.json() as { contents: [{ parts: Record<string, unknown>[] }] }).contents;
      return { part: parts[0], row: await row() };
    };
    upstream.answer = (response, received) => (received.path.startsWith('/files/') ? void response.end(png) : json(geminiReply)(response, received));
    expect((await edit(gateway, 'https://pictures.example/a.png')).part).toEqual({
      fileData: { fileUri: 'https://pictures.example/a.png', mimeType: 'image/png' },
    });
    const network = createOutbound({ allowPrivate: true, timeouts, userAgent: 'test', logger: { warn() {}, error() {} } });
    const fetching = await start({ clientUrls: network });
    try {
      const { part, row } = await edit(fetching, `${address}/files/a.png`);
      expect(part).toEqual({ inlineData: { mimeType: 'image/png', data: b64 } });
      expect(row.pipeline).toContain('fetch-media');
      upstream.answer = (response, received) =>
        received.path.startsWith('/files/') ? void response.writeHead(404).end() : json(geminiReply)(response, received);
      await expect(edit(fetching, `${address}/files/b.png`)).rejects.toMatchObject({ status: 400, param: 'images' });
    } finally {
      await fetching.stop();
      await network.close();
    }
  });

  test('a caller who asked for a stream gets one, of the image that came whole', async () => {
    upstream.answer = json(geminiReply);
    const { openai, row } = sdk();
    const stream = await openai.images.edit({ model: 'gemini', prompt: 'p', image: await toFile(png, 'a.png'), stream: true, partial_images: 2 });
    const events = [];
    for await (const event of stream) events.push(event);
    expect(events).toMatchObject([{ type: 'image_edit.completed', b64_json: b64, output_format: 'png', usage: { input_tokens: 5, output_tokens: 1290 } }]);
    expect(lossesOf(await row())).toEqual(['partial_images dropped']);
  });

  test('what a filter refused is the caller’s 400; a strict group refuses what would be lost', async () => {
    upstream.answer = json({ candidates: [{ finishReason: 'IMAGE_SAFETY', finishMessage: 'Not this one.' }], usageMetadata: { promptTokenCount: 5 } });
    const refused = await sdk()
      .openai.images.generate({ model: 'gemini', prompt: 'p' })
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(APIError);
    expect(refused).toMatchObject({ status: 400, message: expect.stringMatching(/Not this one/) });
    const lossy = await sdk(strict)
      .openai.images.generate({ model: 'gemini', prompt: 'p', quality: 'high' })
      .catch((error: unknown) => error);
    expect(lossy).toMatchObject({ status: 400, code: 'lossy_translation' });
    expect(upstream.received).toHaveLength(0);
  });

  test('models that make images and nothing else are asked by predict', async () => {
    upstream.answer = json({
      predictions: [
        { bytesBase64Encoded: b64, mimeType: 'image/png' },
        { bytesBase64Encoded: b64, mimeType: 'image/png' },
      ],
    });
    const { openai, row } = sdk();
    const answer = await openai.images.generate({ model: 'imagen', prompt: 'p', n: 2 });
    expect(answer.data).toHaveLength(2);
    expect(upstream.received).toMatchObject([{ path: '/v1beta/models/imagen-4.0-generate-001:predict' }]);
    expect(upstream.json()).toEqual({ instances: [{ prompt: 'p' }], parameters: { sampleCount: 2 } });
    expect(await row()).toMatchObject({ images: 2 });
  });
});

describe('callers of predict', () => {
  const genai = () => {
    upstream.received.length = 0;
    return new GoogleGenAI({ apiKey: gateway.key, httpOptions: { baseUrl: gateway.url } });
  };

  test('pass to models that are asked by predict', async () => {
    upstream.answer = json({ predictions: [{ bytesBase64Encoded: b64, mimeType: 'image/png' }] });
    const answer = await genai().models.generateImages({ model: 'imagen', prompt: 'p', config: { numberOfImages: 1, aspectRatio: '16:9' } });
    expect(answer.generatedImages?.map(({ image }) => image?.imageBytes)).toEqual([b64]);
    expect(upstream.received).toMatchObject([{ path: '/v1beta/models/imagen-4.0-generate-001:predict' }]);
    expect(upstream.json()).toMatchObject({ instances: [{ prompt: 'p' }], parameters: { sampleCount: 1, aspectRatio: '16:9' } });
  });

  test('are served by OpenAI-compatible, generate-content and native upstreams', async () => {
    upstream.answer = json({ created: 5, data: [{ b64_json: b64 }], output_format: 'png', usage });
    const ask = (model: string) => genai().models.generateImages({ model, prompt: 'p', config: { numberOfImages: 1, aspectRatio: '1:1' } });
    expect((await ask('images')).generatedImages?.[0]?.image).toEqual({ imageBytes: b64, mimeType: 'image/png' });
    expect(upstream.json()).toEqual({ model: 'gpt-image-2', prompt: 'p', size: '1024x1024' });
    upstream.answer = json(geminiReply);
    expect((await ask('gemini')).generatedImages?.[0]?.image).toEqual({ imageBytes: b64, mimeType: 'image/png' });
    upstream.answer = (response, { path }) =>
      path.startsWith('/files/')
        ? void response.end(png)
        : json({ output: { choices: [{ message: { content: [{ image: `${address}/files/1.png` }] } }] } })(response, {} as Received);
    expect((await ask('qwen-image')).generatedImages?.[0]?.image).toEqual({ imageBytes: b64, mimeType: 'image/png' });
  });
});

describe('what cannot be served', () => {
  test.each([
    ['claude', 400, 'unsupported_operation'],
    ['nobody', 404, 'model_not_found'],
  ])('%s: %d', async (model, status, code) => {
    const failed = await sdk()
      .openai.images.generate({ model, prompt: 'p' })
      .catch((error: unknown) => error);
    expect(failed).toMatchObject({ status, code });
  });

  test.each([
    ['no file', { prompt: 'p', model: 'images' }, 'image'],
    ['no model', { image: true, prompt: 'p' }, 'model'],
  ])('a form with %s: 400 before any call', async (_what, fields: Record<string, unknown>, param) => {
    upstream.received.length = 0;
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.append(name, value === true ? new Blob([png]) : String(value));
    const answer = await fetch(`${gateway.url}/v1/images/edits`, { method: 'POST', headers: { authorization: `Bearer ${gateway.key}` }, body: form });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { param } });
    expect(upstream.received).toHaveLength(0);
  });
});

(natsAvailable('images') ? describe : describe.skip)('over NATS', () => {
  let nats: NatsServer;
  let split: InProcessGateway;
  beforeAll(async () => {
    nats = await startNatsServer();
    split = await start({ natsUrl: nats.url });
  });
  afterAll(async () => {
    await split?.stop();
    await nats?.stop();
  });

  test('a form, a large image and a stream', async () => {
    const large = Buffer.alloc(3_000_000, 5).toString('base64');
    upstream.answer = json({ created: 5, data: [{ b64_json: large }], usage });
    const one = sdk(split);
    const answer = await one.openai.images.edit({ model: 'images', prompt: 'p', image: await files(3) });
    expect(answer.data?.[0]?.b64_json === large).toBe(true);
    expect(await one.row()).toMatchObject({ images: 1, input_tokens: 30 });
    upstream.answer = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const event = { type: 'image_generation.completed', b64_json: large, usage };
      response.end(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    };
    const stream = await sdk(split).openai.images.generate({ model: 'images', prompt: 'p', stream: true });
    for await (const event of stream) expect(event.b64_json === large).toBe(true);
    upstream.answer = json(geminiReply);
    const other = sdk(split);
    expect((await other.openai.images.generate({ model: 'gemini', prompt: 'p', n: 2 })).data).toHaveLength(2);
  });
});

const recorded = haveFixtures() ? describe : describe.skip;
recorded('recorded replies through the official SDK', () => {
  test.each(['generate-b64', 'generate-gpt-image', 'generate-url', 'xai-generate'])('%s: equal to a direct call', async (name) => {
    const { status, body } = readReply('alpha_images', name, 1)!;
    upstream.answer = json(body, status);
    const answer = await sdk().openai.images.generate({ model: 'images', prompt: 'a siamese cat' });
    expect(JSON.parse(JSON.stringify(answer))).toEqual(JSON.parse(body.toString()));
  });

  test.each([
    ['edit-multipart', 1],
    ['edit-multipart', 2],
    ['edit-customized', 1],
  ] as const)('%s %d: equal to a direct call', async (name, n) => {
    const { status, body } = readReply('alpha_images', name, n)!;
    upstream.answer = json(body, status);
    const answer = await sdk().openai.images.edit({ model: 'images', prompt: 'p', image: await toFile(png, 'a.png') });
    expect(JSON.parse(JSON.stringify(answer))).toEqual(JSON.parse(body.toString()));
  });

  test('a refusal of the vendor reaches the SDK with its words', async () => {
    const { status, body } = readReply('alpha_images', 'err-400-edit', 1)!;
    upstream.answer = json(body, status);
    const failed = await sdk()
      .openai.images.edit({ model: 'images', prompt: 'p', image: await toFile(png, 'a.png') })
      .catch((error: unknown) => error);
    expect(failed).toMatchObject({ status: 400, code: 'invalid_value', param: 'url' });
  });
});
