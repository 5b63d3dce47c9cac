/** Images as callers of `:predict` ask for them: https://ai.google.dev/api/models#method:-models.predict */
import type { Images, ImagesRequest, UnaryClientCodec } from '../../contract/index.ts';
import { invalid } from '../../kit/fail.ts';
import { unfetched, withImageBytes } from '../../kit/fetched-images.ts';
import { Losses } from '../../kit/losses.ts';
import { asArray, asObject, asString, type JsonObject, own } from '../../kit/read.ts';

const maxCount = 10;
/** Sides of about a megapixel, in the steps that models of other vendors take. */
const sizes: Readonly<Record<string, NonNullable<ImagesRequest['size']>>> = {
  '1:1': { width: 1024, height: 1024 },
  '3:4': { width: 1024, height: 1536 },
  '4:3': { width: 1536, height: 1024 },
  '9:16': { width: 1024, height: 1536 },
  '16:9': { width: 1536, height: 1024 },
};
/** Whose sides are exactly so. */
const exact: ReadonlySet<string> = new Set(['1:1']);
const knownParameters: ReadonlySet<string> = new Set(['sampleCount', 'aspectRatio']);
const knownInstance: ReadonlySet<string> = new Set(['prompt']);

export const imagesClient: UnaryClientCodec<ImagesRequest, Images> = {
  readRequest(body) {
    const losses = new Losses();
    const instances = asArray(own(body, 'instances')) ?? [];
    const [instance] = instances;
    const prompt = asString(own(instance, 'prompt')) ?? '';
    if (instances.length !== 1) throw invalid('instances', 'instances must be a list of one entry.');
    if (prompt.trim() === '') throw invalid('instances.0.prompt', 'prompt must be a non-empty string.');
    if (own(instance, 'image') !== undefined || own(instance, 'referenceImages') !== undefined)
      throw invalid('instances.0', 'Images are made out of words here; edits are served on /v1/images/edits.');
    const parameters = asObject(own(body, 'parameters')) ?? {};
    losses.unread('instances', instance, knownInstance);
    losses.unread('parameters', parameters, knownParameters);
    const size = readRatio(own(parameters, 'aspectRatio'), losses);
    const request: ImagesRequest = {
      task: 'generate',
      prompt,
      sources: [],
      count: readCount(own(parameters, 'sampleCount')),
      form: 'bytes',
      stream: false,
      options: {},
      ...(size && { size }),
    };
    return { request, losses: losses.list };
  },
  addresses: unfetched,
  withFiles: withImageBytes,
  writeReply: ({ images }) => ({
    predictions: images.map(
      ({ data, mimeType, revisedPrompt }): JsonObject => ({
        mimeType: mimeType ?? 'image/png',
        bytesBase64Encoded: data ?? '',
        ...(revisedPrompt !== undefined && { prompt: revisedPrompt }),
      }),
    ),
  }),
};

function readCount(value: unknown): number {
  // The vendor's own default.
  if (value === undefined) return 4;
  if (!Number.isSafeInteger(value) || (value as number) < 1 || (value as number) > maxCount)
    throw invalid('parameters.sampleCount', `sampleCount must be a whole number from 1 to ${maxCount}.`);
  return value as number;
}

function readRatio(value: unknown, losses: Losses): ImagesRequest['size'] {
  if (value === undefined) return undefined;
  const ratio = asString(value) ?? '';
  const size = Object.hasOwn(sizes, ratio) ? sizes[ratio] : undefined;
  if (!size) throw invalid('parameters.aspectRatio', `aspectRatio must be one of ${Object.keys(sizes).join(', ')}.`);
  if (!exact.has(ratio)) losses.add('parameters.aspectRatio', 'downgraded', 'This upstream takes pixels: the nearest common size was asked for.');
  return size;
}
