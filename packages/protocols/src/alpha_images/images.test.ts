/** What callers ask for images, what each upstream is asked in turn, and what comes back. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { noUsage } from '@model-gateway/contracts';
import { recordingsFolder } from '../../test/support/recordings-folder.ts';
import { alpha } from '../alpha/index.ts';
import type { FormBody, Images, ImagesRequest, Target, UnaryClientCodec, WriteRequestContext } from '../contract/index.ts';
import { delta } from '../delta/index.ts';
import { gamma } from '../gamma/index.ts';
import { ErrorTerminator } from '../kit/error-terminator.ts';
import { alphaImages } from './index.ts';

type Codec = UnaryClientCodec<ImagesRequest, Images>;
const codec = (operation: 'image' | 'image-edit' | 'image-variation'): Codec => alphaImages.client!.unary![operation]!;
const read = (body: object, operation: 'image' | 'image-edit' | 'image-variation' = 'image') => codec(operation).readRequest(body).request;
const target = (upstreamModelId: string): Target => ({ baseUrl: 'https://h', directPath: false, upstreamModelId, neutralHeaders: false, extraConfig: null });
const context = (model: string) => ({ target: target(model), operation: 'image', stream: false }) as unknown as WriteRequestContext;
const toGamma = gamma.upstream!.unary!.image!;
const toDelta = delta.upstream!.unary!.image!;
const toAlpha = alpha.upstream!.unary!.image!;
const reply = { model: 'm', usage: null, now: 1_700_000_000, mintId: (prefix: string) => `${prefix}1` };
const png = Buffer.from('\x89PNG\r\n\x1a\n0000', 'latin1');
const dataUrl = `data:image/png;base64,${png.toString('base64')}`;

describe('what a caller asks', () => {
  test('JSON: what is the usual value of every vendor is no option', () => {
    expect(read({ model: 'm', prompt: 'a cat', n: 2, size: '1024x1536', quality: 'high', background: 'auto', partial_images: 0, user: null })).toEqual({
      task: 'generate',
      prompt: 'a cat',
      sources: [],
      count: 2,
      size: { width: 1024, height: 1536 },
      stream: false,
      options: { quality: 'high' },
    });
  });

  test('an edit as JSON: images by data URL and by address, and a mask', () => {
    const body = { prompt: 'p', images: [{ image_url: dataUrl }, { image_url: 'https://x/y.png' }], mask: { image_url: dataUrl }, response_format: 'b64_json' };
    const bytes = { mimeType: 'image/png', data: png.toString('base64') };
    expect(read(body, 'image-edit')).toMatchObject({ task: 'edit', sources: [bytes, { url: 'https://x/y.png' }], mask: bytes, form: 'bytes' });
  });

  test.each(['image', 'image[]', 'image[0]'])('an edit as a form whose files are named %s', (name) => {
    const file = (field: string) => ({ name: field, filename: 'a.png', contentType: 'application/octet-stream', content: png });
    const form: FormBody = {
      fields: [
        { name: 'model', value: 'm' },
        { name: 'prompt', value: 'p' },
        { name: 'n', value: '2' },
        { name: 'stream', value: 'true' },
        { name: 'quality', value: 'low' },
      ],
      files: [file(name), file(name), file('mask')],
    };
    const bytes = { mimeType: 'image/png', data: png.toString('base64') };
    expect(codec('image-edit').readForm!(form).request).toEqual({
      task: 'edit',
      prompt: 'p',
      sources: [bytes, bytes],
      mask: bytes,
      count: 2,
      stream: true,
      options: { quality: 'low' },
    });
  });

  test.each([
    ['prompt', {}, 'image'],
    ['prompt', { prompt: ' ' }, 'image'],
    ['n', { prompt: 'p', n: 0 }, 'image'],
    ['n', { prompt: 'p', n: '2x' }, 'image'],
    ['size', { prompt: 'p', size: 'large' }, 'image'],
    ['response_format', { prompt: 'p', response_format: 'png' }, 'image'],
    ['image', { prompt: 'p' }, 'image-edit'],
    ['images.0', { prompt: 'p', images: [{}] }, 'image-edit'],
    ['images.0', { prompt: 'p', images: ['file:///etc/passwd'] }, 'image-edit'],
    ['images.0.file_id', { prompt: 'p', images: [{ file_id: 'file-1' }] }, 'image-edit'],
    ['mask.file_id', { prompt: 'p', images: [dataUrl], mask: { file_id: 'file-1' } }, 'image-edit'],
  ] as const)('a wrong %s is named: %j', (param, body, operation) => {
    expect(() => read(body, operation)).toThrow(expect.objectContaining({ code: 'invalid_request', param }));
  });
});

describe('what upstreams are asked', () => {
  test('generate-content: images among its modalities, sides by their ratio; what it has no field for is declared', () => {
    const { body, losses } = toGamma.writeRequest(
      read({ prompt: 'a cat', size: '1024x1536', quality: 'high', output_format: 'webp', response_format: 'url', user: 'u' }),
      context('gemini-2.5-flash-image'),
    );
    expect(body).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'a cat' }] }],
      generationConfig: { responseModalities: ['TEXT', 'IMAGE'], imageConfig: { aspectRatio: '2:3' } },
    });
    expect(losses.map(({ field, action }) => [field, action])).toEqual([
      ['quality', 'dropped'],
      ['output_format', 'dropped'],
      ['user', 'dropped'],
      ['response_format', 'downgraded'],
      ['size', 'downgraded'],
    ]);
  });

  test('generate-content: newer models take a class of size, and an edit its images before the words', () => {
    const asked = read({ prompt: 'p', size: '3840x2160', images: [dataUrl, dataUrl], mask: { image_url: dataUrl } }, 'image-edit');
    const { body, losses } = toGamma.writeRequest(asked, context('gemini-3-pro-image'));
    const inlineData = { mimeType: 'image/png', data: png.toString('base64') };
    expect(body).toMatchObject({
      contents: [{ parts: [{ inlineData }, { inlineData }, { inlineData }, { text: expect.stringMatching(/^p\n\nThe last image is a mask/) }] }],
      generationConfig: { imageConfig: { aspectRatio: '16:9', imageSize: '2K' } },
    });
    expect(losses.map(({ field, action }) => [field, action])).toEqual([
      ['mask', 'emulated'],
      ['size', 'downgraded'],
    ]);
    expect(toGamma.split!({ ...asked, count: 3 }, target('gemini-3-pro-image')).map(({ count }) => count)).toEqual([1, 1, 1]);
  });

  test('predict: models that make images and nothing else', () => {
    const asked = read({ prompt: 'p', n: 3, size: '1792x1024' });
    expect(toGamma.split!(asked, target('imagen-4.0-generate-001'))).toEqual([asked]);
    expect(toGamma.writeRequest(asked, context('imagen-4.0-generate-001')).body).toEqual({
      instances: [{ prompt: 'p' }],
      parameters: { sampleCount: 3, aspectRatio: '16:9' },
    });
    expect(gamma.upstream!.request({ ...context('imagen-4.0-generate-001'), operation: 'image' }).url).toBe(
      'https://h/v1beta/models/imagen-4.0-generate-001:predict',
    );
    expect(() => toGamma.writeRequest(read({ prompt: 'p', images: [dataUrl] }, 'image-edit'), context('imagen-4.0'))).toThrow(/out of words alone/);
  });

  test('the native API: its own size, its own options, and no more than three images', () => {
    const options = { negative_prompt: 'blurred', watermark: false, seed: 7, style: 'vivid' };
    const { body, losses } = toDelta.writeRequest(read({ prompt: 'p', n: 2, size: '1664x928', ...options }), context('qwen-image'));
    expect(body).toEqual({
      model: 'qwen-image',
      input: { messages: [{ role: 'user', content: [{ text: 'p' }] }] },
      parameters: { negative_prompt: 'blurred', watermark: false, seed: 7, size: '1664*928', n: 2 },
    });
    expect(losses.map(({ field }) => field)).toEqual(['style']);
    const edit = { prompt: 'p', images: [dataUrl, 'https://x/y.png'], mask: { image_url: dataUrl } };
    expect(toDelta.writeRequest(read(edit, 'image-edit'), context('qwen-image-edit'))).toMatchObject({
      body: { input: { messages: [{ content: [{ image: dataUrl }, { image: 'https://x/y.png' }, { image: dataUrl }, { text: expect.any(String) }] }] } },
      losses: [{ field: 'mask', action: 'emulated' }],
    });
    expect(toDelta.writeRequest(read({ ...edit, images: [dataUrl, dataUrl, dataUrl] }, 'image-edit'), context('qwen-image-edit')).losses).toMatchObject([
      { field: 'mask', action: 'dropped' },
    ]);
  });

  test('an OpenAI-compatible upstream: models that give bytes alone refuse to be told so', () => {
    const asked = { ...read({ prompt: 'p' }), form: 'bytes' as const };
    expect(toAlpha.writeRequest(asked, context('gpt-image-2'))).toEqual({ body: { model: 'gpt-image-2', prompt: 'p' }, losses: [] });
    expect(toAlpha.writeRequest({ ...asked, form: 'url' }, context('gpt-image-2')).losses).toMatchObject([{ field: 'response_format', action: 'downgraded' }]);
    expect(toAlpha.writeRequest(asked, context('dall-e-3')).body).toEqual({ model: 'dall-e-3', prompt: 'p', response_format: 'b64_json' });
  });
});

describe('what comes back', () => {
  test('generate-content: thoughts are no answer; a filter, words, and silence are told apart', () => {
    const inlineData = { mimeType: 'image/png', data: 'AAAA' };
    const usageMetadata = {
      promptTokenCount: 9,
      candidatesTokenCount: 1290,
      thoughtsTokenCount: 5,
      promptTokensDetails: [{ modality: 'IMAGE', tokenCount: 4 }],
      candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1290 }],
    };
    const body = { candidates: [{ content: { parts: [{ inlineData, thought: true }, { text: 'Here.' }, { inlineData }] } }], usageMetadata };
    const answer = toGamma.readReply(body, read({ prompt: 'p' }));
    expect(answer).toEqual({
      reply: { images: [{ data: 'AAAA', mimeType: 'image/png' }], imageTokens: { input: 4, output: 1290 } },
      usage: { ...noUsage, input: 9, output: 1290, reasoning: 5, images: 1, imageOutput: 1290 },
    });
    const written = 'reply' in answer && codec('image').writeReply(answer.reply, read({ prompt: 'p' }), { ...reply, usage: answer.usage });
    expect(written).toMatchObject({
      data: [{ b64_json: 'AAAA' }],
      output_format: 'png',
      usage: { input_tokens: 9, input_tokens_details: { image_tokens: 4, text_tokens: 5 }, output_tokens: 1295, total_tokens: 1304 },
    });
    const fault = (candidate: object) => toGamma.readReply({ candidates: [candidate] }, read({ prompt: 'p' }));
    expect(fault({ finishReason: 'IMAGE_SAFETY' })).toMatchObject({ fault: { class: 'caller', status: 400, code: 'moderation_blocked' } });
    expect(fault({ finishReason: 'STOP', content: { parts: [{ text: 'I cannot draw.' }] } })).toMatchObject({ fault: { class: 'caller', code: 'no_image' } });
    expect(fault({ finishReason: 'NO_IMAGE' })).toMatchObject({ fault: { class: 'server' } });
  });

  test('predict: its images, and why there are none', () => {
    const predictions = [{ bytesBase64Encoded: 'AAAA', mimeType: 'image/jpeg', prompt: 'better words' }];
    expect(toGamma.readReply({ predictions }, read({ prompt: 'p' }))).toEqual({
      reply: { images: [{ data: 'AAAA', mimeType: 'image/jpeg', revisedPrompt: 'better words' }] },
      usage: { ...noUsage, images: 1 },
    });
    expect(toGamma.readReply({ predictions: [{ raiFilteredReason: 'No.' }] }, read({ prompt: 'p' }))).toMatchObject({ fault: { message: 'No.' } });
  });

  test('an error of the native API inside a 200', () => {
    expect(toDelta.readReply({ code: 'DataInspectionFailed', message: 'Inappropriate.' }, read({ prompt: 'p' }))).toMatchObject({
      fault: { class: 'caller', message: 'Inappropriate.' },
    });
  });

  test('a stream of what came whole: one event for each image, named by what was asked', () => {
    const images = [{ data: 'AAAA', mimeType: 'image/webp' }];
    const usage = { ...noUsage, input: 3, output: 4 };
    const events = (operation: 'image' | 'image-edit') =>
      codec(operation).writeStream!({ images, createdAt: 5 }, read({ prompt: 'p', images: [dataUrl], stream: true }, operation), { ...reply, usage });
    const [name = '', data = ''] = events('image-edit').split('\n');
    expect(name).toBe('event: image_edit.completed');
    expect(JSON.parse(data.slice(6))).toEqual({
      type: 'image_edit.completed',
      b64_json: 'AAAA',
      created_at: 5,
      size: 'auto',
      quality: 'auto',
      background: 'auto',
      output_format: 'webp',
      usage: { input_tokens: 3, input_tokens_details: { image_tokens: 0, text_tokens: 3 }, output_tokens: 4, total_tokens: 7 },
    });
    expect(events('image')).toMatch(/^event: image_generation\.completed\n/);
  });

  test('two usages are counted: of the model that drew, and of the one that wrote an SVG', () => {
    const usage = alpha.upstream!.readUnaryUsage!({
      data: [{ b64_json: 'A' }],
      usage: { input_tokens: 10, output_tokens: 20 },
      svg_usage: { model: 'gpt-6', input_tokens: 1, output_tokens: 30, reasoning_tokens: 25, total_tokens: 31 },
    });
    expect(usage).toEqual({
      ...{ ...noUsage, input: 11, output: 25, reasoning: 25, images: 1 },
      imageOutput: 20,
      helper: { model: 'gpt-6', input: 1, output: 5, reasoning: 25 },
    });
    const told = {
      input_tokens: 10,
      input_tokens_details: { image_tokens: 7, text_tokens: 3 },
      output_tokens: 20,
      output_tokens_details: { image_tokens: 15 },
    };
    expect(alpha.upstream!.readUnaryUsage!({ data: [{ b64_json: 'A' }], usage: told })).toMatchObject({
      input: 10,
      imageInput: 7,
      output: 20,
      imageOutput: 15,
    });
    expect(alpha.upstream!.readUnaryUsage!({ type: 'image_edit.partial_image', b64_json: 'A' })).toBeNull();
    expect(alpha.upstream!.readUnaryUsage!({ data: [{ embedding: [1] }] })).toBeNull();
  });
});

describe('callers of predict', () => {
  const client = gamma.client!.unary!.image!;
  const body = { instances: [{ prompt: 'p' }], parameters: { sampleCount: 2, aspectRatio: '16:9', personGeneration: 'allow_all' } };

  test('are read, and answered in their own shape', () => {
    const { request, losses } = client.readRequest(body);
    expect(request).toMatchObject({ prompt: 'p', count: 2, form: 'bytes', size: { width: 1536, height: 1024 } });
    expect(losses.map(({ field }) => field)).toEqual(['parameters.personGeneration', 'parameters.aspectRatio']);
    expect(client.writeReply({ images: [{ data: 'A', mimeType: 'image/webp' }] }, request, reply)).toEqual({
      predictions: [{ mimeType: 'image/webp', bytesBase64Encoded: 'A' }],
    });
  });

  test.each([
    ['instances', {}],
    ['instances.0.prompt', { instances: [{}] }],
    ['instances.0', { instances: [{ prompt: 'p', referenceImages: [] }] }],
    ['parameters.sampleCount', { ...body, parameters: { sampleCount: 0 } }],
    ['parameters.aspectRatio', { ...body, parameters: { aspectRatio: '1:9' } }],
  ])('a wrong %s is named', (param, wrong) => {
    expect(() => client.readRequest(wrong)).toThrow(expect.objectContaining({ param }));
  });
});

describe('a stream that breaks', () => {
  const warning = { reason: 'upstream_broken', detail: 'The upstream broke off.', timestamp: '2026-01-01T00:00:00Z' };

  test('ends with an error event; one that came to its end is left alone, however its bytes were cut', () => {
    const text = 'event: image_generation.completed\ndata: {"type":"image_generation.completed","b64_json":"AAAA"}\n\n';
    for (let size = 1; size <= text.length; size += 7) {
      const terminator = new ErrorTerminator(['.completed"']);
      for (let at = 0; at < text.length; at += size) terminator.observe(Buffer.from(text.slice(at, at + size)));
      expect([size, terminator.ended, terminator.close(warning)]).toEqual([size, true, '']);
    }
    const broken = new ErrorTerminator(['.completed"']);
    broken.observe(Buffer.from('data: {"type":"image_generation.partial_image","b64_json":"AAAA"}\n\n'));
    expect(broken.repeatable).toBe(true);
    expect(broken.close(warning)).toMatch(/^event: error\ndata: \{"type":"error","error":\{"message":"The upstream broke off\."/);
    expect(broken.close(warning)).toBe('');
  });
});

const folder = join(recordingsFolder, 'alpha_images');
(existsSync(folder) ? describe : describe.skip)('recordings', () => {
  const json = (...path: string[]) => JSON.parse(readFileSync(join(recordingsFolder, ...path), 'utf8')) as Record<string, unknown>;

  test.each([
    ['generate-gpt-image', { input: 10, output: 4160, images: 1, imageOutput: 4160 }],
    ['edit-customized', { input: 221, output: 415, images: 1, imageInput: 194, imageOutput: 272 }],
    ['generate-url', { input: 0, output: 0, images: 1 }],
    ['xai-generate', { input: 0, output: 0, images: 1 }],
  ])('%s is counted', (name, usage) => {
    expect(alpha.upstream!.readUnaryUsage!(json('alpha_images', name, 'response.json'))).toEqual({ ...noUsage, ...usage });
  });

  test('an edit as JSON is read', () => {
    expect(read(json('alpha_images', 'edit-customized', 'request.json'), 'image-edit')).toMatchObject({
      task: 'edit',
      count: 1,
      sources: [{ mimeType: 'image/png' }],
      options: { quality: 'low' },
    });
  });

  test('an image of generate-content', () => {
    const asked = read({ prompt: 'a siamese cat' });
    expect(toGamma.writeRequest(asked, context('gemini-3.1-flash-lite-image')).body).toEqual(json('gamma_media', 'image-out', 'request.json'));
    const answer = toGamma.readReply(json('gamma_media', 'image-out', 'response.json'), asked);
    expect(answer).toMatchObject({ reply: { images: [{ mimeType: 'image/jpeg' }] }, usage: { images: 1 } });
  });

  test('an image of the native API', () => {
    const recorded = json('delta', 'image-qwen-unary', 'request.json') as { input: unknown; parameters: { size: string } };
    const [{ content } = { content: [] }] = (recorded.input as { messages: { content: { text: string }[] }[] }).messages;
    const asked = read({ ...recorded.parameters, prompt: content[0]?.text, size: recorded.parameters.size.replace('*', 'x') });
    const { n: _one, ...parameters } = recorded.parameters as Record<string, unknown>;
    expect(toDelta.writeRequest(asked, context('qwen-image-max')).body).toEqual({ ...recorded, parameters });
    const answer = toDelta.readReply(json('delta', 'image-qwen-unary', 'response.json'), asked);
    expect(answer).toMatchObject({ reply: { images: [{ url: expect.stringMatching(/^https:/) }] }, usage: { images: 1 } });
  });
});
