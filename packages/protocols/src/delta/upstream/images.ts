/**
 * Images that the native API makes at once (`image-tasks.ts` has the others), by models of the multimodal endpoint: https://www.alibabacloud.com/help/en/model-studio/qwen-image-api and
 * https://www.alibabacloud.com/help/en/model-studio/qwen-image-edit-api
 */
import { noUsage } from '@model-gateway/contracts';
import type { GeneratedImage, ImageSource, Images, ImagesRequest, UnaryUpstreamCodec } from '../../contract/index.ts';
import { writeDataUrl } from '../../kit/data-url.ts';
import { Losses } from '../../kit/losses.ts';
import { asArray, asCount, asString, type JsonObject, own } from '../../kit/read.ts';
import { readBodyError } from './errors.ts';
import { isImageTask, readImageTask, takesMaskAsImage, writeImageTask } from './image-tasks.ts';

/** What callers may say in this API's own words. */
const carried: ReadonlySet<string> = new Set(['negative_prompt', 'prompt_extend', 'watermark', 'seed']);
/** The models take no more. */
const maxSources = 3;

const maskWords = 'The last image is a mask of the first one: change the first image only where the mask is transparent, and leave the rest as it is.';
const variationWords = 'Make a variation of this image.';

export const images: UnaryUpstreamCodec<ImagesRequest, Images> = {
  writeRequest(request, { target }) {
    const { task, prompt, size, count, options } = request;
    const losses = new Losses();
    losses.unread('', options, carried);
    const sources = sourcesOf(takesMaskAsImage(target) ? request : { ...request, mask: undefined }, losses);
    const hasMask = sources.length > request.sources.length;
    if (task === 'vary') losses.add('image', 'emulated', 'The variation is asked for in words.');
    const words = [task === 'vary' ? variationWords : prompt, ...(hasMask ? [maskWords] : [])].join('\n\n');
    const parameters: JsonObject = {
      ...Object.fromEntries([...carried].flatMap((name) => (own(options, name) === undefined ? [] : [[name, readOption(own(options, name))]]))),
      ...(size && { size: `${size.width}*${size.height}` }),
      ...(count > 1 && { n: count }),
    };
    if (isImageTask(target)) {
      const body = writeImageTask(request, { words, images: sources.map(addressOf), parameters }, target, losses);
      return { body, losses: losses.list };
    }
    const content = [...sources.map((source) => ({ image: addressOf(source) })), { text: words }];
    const body = {
      model: target.upstreamModelId,
      input: { messages: [{ role: 'user', content }] },
      ...(Object.keys(parameters).length > 0 && { parameters }),
    };
    return { body, losses: losses.list };
  },
  isTask: isImageTask,
  readReply(body) {
    if (own(own(body, 'output'), 'task_status') !== undefined) return readImageTask(body);
    const error = readBodyError(body, false);
    if (error) return { fault: error, usage: null };
    const choices = asArray(own(own(body, 'output'), 'choices')) ?? [];
    const images = choices.flatMap((choice) => (asArray(own(own(choice, 'message'), 'content')) ?? []).flatMap((part) => readImage(part)));
    if (images.length === 0) throw new Error('no images');
    const usage = own(body, 'usage');
    const count = asCount(own(usage, 'image_count')) || images.length;
    return {
      reply: { images },
      usage: { ...noUsage, input: asCount(own(usage, 'input_tokens')), output: asCount(own(usage, 'output_tokens')), images: count },
    };
  },
};

function sourcesOf({ sources, mask }: { sources: ImagesRequest['sources']; mask?: ImageSource | undefined }, losses: Losses): readonly ImageSource[] {
  if (!mask) return sources;
  if (sources.length >= maxSources) {
    losses.dropped('mask', 'This upstream has no field for a mask, and takes no more images.');
    return sources;
  }
  losses.add('mask', 'emulated', 'The mask is sent as one more image, and the prompt says what it is.');
  return [...sources, mask];
}

/** A form has texts alone, and this API wants numbers and booleans. */
function readOption(value: unknown): unknown {
  if (value === 'true' || value === 'false') return value === 'true';
  return typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : value;
}

const addressOf = (source: ImageSource): string => ('url' in source ? source.url : writeDataUrl(source.mimeType, source.data));

function readImage(part: unknown): GeneratedImage[] {
  const url = asString(own(part, 'image'));
  const revisedPrompt = asString(own(part, 'actual_prompt'));
  return url === undefined ? [] : [{ url, ...(revisedPrompt !== undefined && { revisedPrompt }) }];
}
