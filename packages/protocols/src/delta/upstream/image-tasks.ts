/**
 * Images of models that make them in tasks: https://www.alibabacloud.com/help/en/model-studio/text-to-image-v2-api-reference (`wan…-t2i`, `wanx…`),
 * https://www.alibabacloud.com/help/en/model-studio/wan2-5-image-edit-api-reference and https://www.alibabacloud.com/help/en/model-studio/wanx-image-edit-api-reference.
 */
import { noUsage, type Operation } from '@model-gateway/contracts';
import type { Images, ImagesRequest, Target, UnaryReply } from '../../contract/index.ts';
import { invalid } from '../../kit/fail.ts';
import type { Losses } from '../../kit/losses.ts';
import { asArray, asCount, asString, type JsonObject, own } from '../../kit/read.ts';
import { readTaskFailure } from './errors.ts';

/** From words alone, or from images as well. */
type ImageService = 'text2image' | 'image2image';

/** Edits one image, by a function of its own. */
const editsOne = ({ upstreamModelId, modelId }: Target): boolean => /imageedit/i.test(modelId ?? upstreamModelId);

/** undefined: the model makes images at once, or none. */
export function imageServiceOf({ directPath, baseUrl, upstreamModelId, modelId }: Target): ImageService | undefined {
  if (directPath) return /\/services\/aigc\/(text2image|image2image)\//.exec(baseUrl)?.[1] as ImageService | undefined;
  const id = modelId ?? upstreamModelId;
  if (/^wanx?[\d.]*-?(?:i2i|imageedit)/i.test(id)) return 'image2image';
  return /^(?:wanx-v1|wanx?2\.[0-5]-t2i|flux|stable-diffusion)/i.test(id) ? 'text2image' : undefined;
}

export const servedBy: Readonly<Record<ImageService, readonly Operation[]>> = {
  text2image: ['image', 'native'],
  image2image: ['image-edit', 'image-variation', 'native'],
};

/** What the request says in the words of the models that answer at once. */
export interface ImageWords {
  words: string;
  /** A mask may be one of them. */
  images: readonly string[];
  parameters: JsonObject;
}

export function writeImageTask({ sources, mask }: ImagesRequest, { words, images, parameters }: ImageWords, target: Target, losses: Losses): JsonObject {
  const { negative_prompt, ...rest } = parameters;
  const shared = { prompt: words, ...(negative_prompt !== undefined && { negative_prompt }) };
  const write = (input: JsonObject): JsonObject => ({
    model: target.upstreamModelId,
    input,
    ...(Object.keys(rest).length > 0 && { parameters: rest }),
  });
  if (imageServiceOf(target) === 'text2image') return write(shared);
  if (!editsOne(target)) return write({ ...shared, images: [...images] });
  if (sources.length > 1) throw invalid('image', 'This model edits one image.');
  // Its masks are white where the caller's are transparent.
  if (mask) losses.dropped('mask', 'This upstream has no field for a mask, and takes no more images.');
  return write({ ...shared, function: 'description_edit', base_image_url: images[0] ?? '' });
}

/** Masks are one more image for these. */
export const takesMaskAsImage = (target: Target): boolean => !editsOne(target);

export const isImageTask = (target: Target): boolean => imageServiceOf(target) !== undefined;

export function readImageTask(body: unknown): UnaryReply<Images> {
  const output = own(body, 'output');
  const results = asArray(own(output, 'results')) ?? [];
  const images = results.flatMap((result) => {
    const url = asString(own(result, 'url'));
    const revisedPrompt = asString(own(result, 'actual_prompt'));
    return url === undefined ? [] : [{ url, ...(revisedPrompt !== undefined && { revisedPrompt }) }];
  });
  // A task may succeed with none of its images.
  const fault = readTaskFailure(output) ?? (images.length === 0 ? readTaskFailure({ ...(results[0] as object), task_status: 'FAILED' }) : undefined);
  if (fault) return { fault, usage: null };
  return { reply: { images }, usage: { ...noUsage, images: asCount(own(own(body, 'usage'), 'image_count')) || images.length } };
}
