/**
 * Images by `generateContent` (https://ai.google.dev/gemini-api/docs/image-generation), and by `predict` of the models that make nothing else
 * (https://ai.google.dev/gemini-api/docs/imagen).
 */
import { noUsage, type Usage } from '@model-gateway/contracts';
import type { UpstreamFault } from '../../chat/event.ts';
import type { GeneratedImage, ImageSource, Images, ImagesRequest, Target, UnaryUpstreamCodec } from '../../contract/index.ts';
import { invalid } from '../../kit/fail.ts';
import { withSources } from '../../kit/fetched-images.ts';
import { Losses } from '../../kit/losses.ts';
import { asArray, asString, type JsonObject, own } from '../../kit/read.ts';
import { isPredicted } from '../shared/endpoint.ts';
import { field, listField, objectField, textField } from '../shared/fields.ts';
import { isVendorUrl, writeMedia } from '../shared/media.ts';
import { readFinishReason } from '../shared/stop-reasons.ts';
import { imageTokens, UsageReader } from '../shared/usage.ts';
import type { WirePart } from '../shared/wire.ts';

type Size = NonNullable<ImagesRequest['size']>;

const ratios = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9'] as const;
const predictRatios: readonly string[] = ['1:1', '3:4', '4:3', '9:16', '16:9'];
/** What the ratio 1:1 of the first class of size is. */
const usualEdge = 1024;

/** The older ones know one class of size alone. */
const takesSizeClass = ({ upstreamModelId, modelId }: Target): boolean => !/gemini-2/i.test(modelId ?? upstreamModelId);

export const images: UnaryUpstreamCodec<ImagesRequest, Images> = {
  /** One image is made at a call, but by `predict`. */
  split: (request, target) =>
    isPredicted(target) || request.count === 1 ? [request] : Array.from({ length: request.count }, () => ({ ...request, count: 1 })),
  join: (replies) => joinImages(replies),
  addresses: (request) => addressesOf(request).filter((url) => !isVendorUrl(url)),
  withFiles: withSources,
  writeRequest(request, { target }) {
    const losses = new Losses();
    losses.unread('', request.options, new Set());
    if (request.form === 'url') losses.add('response_format', 'downgraded', 'This upstream gives images by their bytes alone.');
    const body = isPredicted(target) ? writePredict(request, losses) : writeGenerate(request, target, losses);
    return { body, losses: losses.list };
  },
  readReply: (body) => (field(body, 'predictions') === undefined ? readGenerated(body) : readPredicted(body)),
};

/** Of vectors and images whose answer passes as it is; null: it does not say. */
export function readUnaryUsage(body: unknown): Usage | null {
  const images = asArray(own(body, 'predictions'))?.filter((one) => own(one, 'bytesBase64Encoded') !== undefined).length;
  if (images !== undefined) return { ...noUsage, images: images };
  const counter = new UsageReader();
  return counter.take(field(body, 'usageMetadata')) ? counter.usage : null;
}

/** Of several calls, in their order. */
export const joinImages = (replies: readonly Images[]): Images => ({
  ...replies[0],
  images: replies.flatMap(({ images }) => images),
  ...(replies.some(({ imageTokens }) => imageTokens) && {
    imageTokens: {
      input: replies.reduce((sum, { imageTokens }) => sum + (imageTokens?.input ?? 0), 0),
      output: replies.reduce((sum, { imageTokens }) => sum + (imageTokens?.output ?? 0), 0),
    },
  }),
});

/** Of the images that a request sends by address. */
export const addressesOf = ({ sources, mask }: ImagesRequest): string[] =>
  [...sources, ...(mask ? [mask] : [])].flatMap((source) => ('url' in source ? [source.url] : []));

const maskWords = 'The last image is a mask of the first one: change the first image only where the mask is transparent, and leave the rest as it is.';
const variationWords = 'Make a variation of this image.';

function writeGenerate({ task, prompt, sources, mask, size }: ImagesRequest, target: Target, losses: Losses): JsonObject {
  if (mask) losses.add('mask', 'emulated', 'The mask is sent as one more image, and the prompt says what it is.');
  if (task === 'vary') losses.add('image', 'emulated', 'The variation is asked for in words.');
  const words = [task === 'vary' ? variationWords : prompt, ...(mask ? [maskWords] : [])].join('\n\n');
  const parts: WirePart[] = [...[...sources, ...(mask ? [mask] : [])].map((source) => writeSource(source, losses)), { text: words }];
  const imageConfig = size ? { aspectRatio: ratioOf(size, ratios), ...sizeClass(size, target) } : undefined;
  if (size && (size.width !== usualEdge || size.height !== usualEdge))
    losses.add('size', 'downgraded', 'This upstream takes a ratio of the sides and a class of size, not pixels.');
  return { contents: [{ role: 'user', parts }], generationConfig: { responseModalities: ['TEXT', 'IMAGE'], ...(imageConfig && { imageConfig }) } };
}

const writeSource = (source: ImageSource, losses: Losses): WirePart => writeMedia({ type: 'media', kind: 'image', ...source }, losses);

function sizeClass(size: Size, target: Target): { imageSize?: string } {
  const edge = Math.sqrt(size.width * size.height);
  return edge > usualEdge * 1.5 && takesSizeClass(target) ? { imageSize: edge > usualEdge * 3 ? '4K' : '2K' } : {};
}

/** The nearest that there is. */
function ratioOf({ width, height }: Size, known: readonly string[]): string {
  const distance = (ratio: string): number => {
    const [w = 1, h = 1] = ratio.split(':').map(Number);
    return Math.abs(Math.log((width / height) * (h / w)));
  };
  return known.reduce((best, ratio) => (distance(ratio) < distance(best) ? ratio : best));
}

function writePredict({ prompt, task, count, size }: ImagesRequest, losses: Losses): JsonObject {
  if (task !== 'generate') throw invalid('image', 'This model makes images out of words alone.');
  if (size && (size.width !== usualEdge || size.height !== usualEdge))
    losses.add('size', 'downgraded', 'This upstream takes a ratio of the sides and a class of size, not pixels.');
  return { instances: [{ prompt }], parameters: { sampleCount: count, ...(size && { aspectRatio: ratioOf(size, predictRatios) }) } };
}

type Read = ReturnType<UnaryUpstreamCodec<ImagesRequest, Images>['readReply']>;

function readGenerated(body: unknown): Read {
  const candidates = listField(body, 'candidates');
  const parts = candidates.flatMap((candidate) => listField(field(candidate, 'content'), 'parts')).filter((part) => field(part, 'thought') !== true);
  const images = parts.flatMap((part) => readPart(part));
  const metadata = field(body, 'usageMetadata');
  const counter = new UsageReader();
  const usage: Usage | null = counter.take(metadata) ? { ...counter.usage, images: images.length } : { ...noUsage, images: images.length };
  if (images.length === 0) return { fault: refusalOf(body, candidates, parts), usage };
  const ofImages = { input: imageTokens(metadata, 'promptTokensDetails'), output: imageTokens(metadata, 'candidatesTokensDetails') };
  return { reply: { images, imageTokens: ofImages }, usage };
}

function readPart(part: unknown): GeneratedImage[] {
  const inline = objectField(part, 'inlineData');
  const data = textField(inline, 'data');
  const mimeType = textField(inline, 'mimeType');
  return data !== undefined && mimeType?.startsWith('image/') ? [{ data, mimeType }] : [];
}

const maxWords = 500;

/** A reply without an image: refused by a filter, declined in words, or nothing at all, which is the upstream's failure. */
function refusalOf(body: unknown, candidates: readonly unknown[], parts: readonly unknown[]): UpstreamFault {
  const blocked = textField(field(body, 'promptFeedback'), 'blockReason') ?? textField(candidates[0], 'finishReason') ?? '';
  const said = (textField(candidates[0], 'finishMessage') ?? parts.flatMap((part) => textField(part, 'text') ?? []).join(' ')).slice(0, maxWords);
  const isFiltered = field(field(body, 'promptFeedback'), 'blockReason') !== undefined || readFinishReason(blocked, false) === 'content-filter';
  if (isFiltered) return { class: 'caller', status: 400, code: 'moderation_blocked', message: said || `The upstream refused to make the image: ${blocked}.` };
  if (said !== '') return { class: 'caller', status: 400, code: 'no_image', message: `The model answered without an image: ${said}` };
  return { class: 'server', code: 'no_image', message: 'The upstream answered without an image.' };
}

function readPredicted(body: unknown): Read {
  const predictions = asArray(own(body, 'predictions')) ?? [];
  const images = predictions.flatMap((one): GeneratedImage[] => {
    const data = asString(own(one, 'bytesBase64Encoded'));
    const revisedPrompt = asString(own(one, 'prompt'));
    return data === undefined ? [] : [{ data, mimeType: asString(own(one, 'mimeType')) ?? 'image/png', ...(revisedPrompt !== undefined && { revisedPrompt }) }];
  });
  if (images.length > 0) return { reply: { images }, usage: { ...noUsage, images: images.length } };
  const reason = predictions.map((one) => asString(own(one, 'raiFilteredReason'))).find((text) => text !== undefined);
  const message = (reason ?? 'The upstream refused to make the image.').slice(0, maxWords);
  return { fault: { class: 'caller', status: 400, code: 'moderation_blocked', message }, usage: null };
}
