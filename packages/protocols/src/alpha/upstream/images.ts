/** Images of an upstream that serves `POST /v1/images/generations` and what is beside it, for callers of other protocols; and what their replies used. */
import { type HelperUsage, noUsage, type Usage } from '@model-gateway/contracts';
import type { GeneratedImage, ImageSource, Images, ImagesRequest, Target, UnaryUpstreamCodec } from '../../contract/index.ts';
import { writeDataUrl } from '../../kit/data-url.ts';
import { Losses } from '../../kit/losses.ts';
import { asArray, asCount, asNumber, asString, type JsonObject, own } from '../../kit/read.ts';

/** Its models answer with bytes alone, and refuse a request that says how images shall come. */
const givesBytes = ({ upstreamModelId }: Target): boolean => /(?:^|\/)(?:chat)?gpt-image/i.test(upstreamModelId);

const addressOf = (source: ImageSource): string => ('url' in source ? source.url : writeDataUrl(source.mimeType, source.data));

export const imagesUpstream: UnaryUpstreamCodec<ImagesRequest, Images> = {
  writeRequest({ task, prompt, sources, mask, count, size, form, options }, { target }) {
    const losses = new Losses();
    if (givesBytes(target) && form === 'url') losses.add('response_format', 'downgraded', 'This upstream gives images by their bytes alone.');
    const body: JsonObject = {
      ...options,
      model: target.upstreamModelId,
      ...(task !== 'vary' && { prompt }),
      ...(sources.length > 0 && { images: sources.map((source) => ({ image_url: addressOf(source) })) }),
      ...(mask && { mask: { image_url: addressOf(mask) } }),
      ...(count > 1 && { n: count }),
      ...(size && { size: `${size.width}x${size.height}` }),
      ...(form && !givesBytes(target) && { response_format: form === 'url' ? 'url' : 'b64_json' }),
    };
    return { body, losses: losses.list };
  },
  readReply(body) {
    const images = (asArray(own(body, 'data')) ?? []).map((entry) => readImage(entry, asString(own(body, 'output_format'))));
    if (images.length === 0) throw new Error('no images');
    const createdAt = asNumber(own(body, 'created'));
    const usage = readImagesUsage(body);
    return { reply: { images, ...(createdAt !== undefined && { createdAt }) }, usage };
  },
};

function readImage(entry: unknown, format: string | undefined): GeneratedImage {
  const data = asString(own(entry, 'b64_json'));
  const url = asString(own(entry, 'url'));
  if (data === undefined && url === undefined) throw new Error('an image is empty');
  const mimeType = asString(own(entry, 'mime_type')) ?? (format === undefined ? undefined : `image/${format}`);
  const revisedPrompt = asString(own(entry, 'revised_prompt'));
  return {
    ...(data === undefined ? { url: url! } : { data }),
    ...(mimeType !== undefined && { mimeType }),
    ...(revisedPrompt !== undefined && { revisedPrompt }),
  };
}

/** Tokens of the model that made the images, and of the one that wrote an SVG; the images are counted too. null: the body holds no finished image. */
export function readImagesUsage(body: unknown): Usage | null {
  const images = countImages(body);
  if (images === 0) return null;
  const usage = own(body, 'usage');
  const drawn = own(body, 'svg_usage');
  const count = (name: string): number => asCount(own(usage, name)) + asCount(own(drawn, name));
  const helper = readHelper(drawn);
  const reasoning = asCount(own(drawn, 'reasoning_tokens'));
  const [imageInput, imageOutput] = imageTokens(usage);
  return {
    ...{ ...noUsage, input: count('input_tokens'), output: Math.max(0, count('output_tokens') - reasoning), reasoning, images },
    ...(imageInput > 0 && { imageInput }),
    ...(imageOutput > 0 && { imageOutput }),
    ...(helper && { helper }),
  };
}

/** The model that wrote an SVG is another one than the one that made the image. */
function readHelper(drawn: unknown): HelperUsage | undefined {
  const model = asString(own(drawn, 'model'));
  const [input, output, reasoning] = ['input_tokens', 'output_tokens', 'reasoning_tokens'].map((name) => asCount(own(drawn, name))) as [number, number, number];
  return model === undefined || input + output === 0 ? undefined : { model, input, output: Math.max(0, output - reasoning), reasoning };
}

/** Those of images among the tokens read and written. Models that say nothing of what they wrote write images alone. */
function imageTokens(usage: unknown): [number, number] {
  const read = asCount(own(own(usage, 'input_tokens_details'), 'image_tokens'));
  const details = own(usage, 'output_tokens_details');
  const written = asCount(details === undefined ? own(usage, 'output_tokens') : own(details, 'image_tokens'));
  return [read, written];
}

/** Of a whole reply, or of the event that ends a stream. */
function countImages(body: unknown): number {
  if (isImagesEnd(body)) return 1;
  return (asArray(own(body, 'data')) ?? []).filter((entry) => own(entry, 'b64_json') !== undefined || own(entry, 'url') !== undefined).length;
}

/** `image_generation.completed`, `image_edit.completed`: such streams have no other terminator. */
export const isImagesEnd = (event: unknown): boolean => /^image_\w+\.completed$/.test(asString(own(event, 'type')) ?? '');
