/** Images in the shape of `POST /v1/images/generations`, `/edits` and `/variations`: https://platform.openai.com/docs/api-reference/images */
import type { Loss, Operation, Usage } from '@model-gateway/contracts';
import type { FormBody, FormFile, GeneratedImage, ImageSource, Images, ImagesRequest, UnaryClientCodec, UnaryReplyContext } from '../../contract/index.ts';
import { readDataUrl } from '../../kit/data-url.ts';
import { invalid } from '../../kit/fail.ts';
import { unfetched, withImageBytes } from '../../kit/fetched-images.ts';
import { imageType } from '../../kit/image-type.ts';
import { asArray, asObject, asString, type JsonObject, own } from '../../kit/read.ts';

const maxCount = 10;
/** More than any vendor takes. */
const maxSources = 16;
/** Read into fields of their own. */
const read: ReadonlySet<string> = new Set(['model', 'prompt', 'n', 'size', 'response_format', 'stream', 'image', 'images', 'mask']);
/** What every vendor does where nothing is said: to leave it out loses nothing. */
const usual: Readonly<Record<string, readonly unknown[]>> = {
  background: ['auto'],
  moderation: ['auto'],
  partial_images: [0],
  quality: ['auto', 'standard'],
};

/** A body's fields, whether it is JSON or a form. */
interface Fields {
  values: Readonly<Record<string, unknown>>;
  sources: readonly ImageSource[];
  mask: ImageSource | undefined;
}

/** Images, whatever they are made from. */
export const isImageOperation = (operation: Operation | undefined): boolean =>
  operation === 'image' || operation === 'image-edit' || operation === 'image-variation';

/** How callers ask for images of one kind of task. */
export const imagesClient = (task: ImagesRequest['task']): UnaryClientCodec<ImagesRequest, Images> => ({
  readRequest: (body) => readFields(fieldsOfJson(body), task),
  readForm: (form) => readFields(fieldsOfForm(form), task),
  addresses: (reply, { form, stream }) => (form === 'bytes' || stream ? unfetched(reply) : []),
  withFiles: withImageBytes,
  writeReply(reply, { options }, { usage, now }) {
    const { createdAt, images } = reply;
    const format = formatOf(images[0]);
    return {
      created: createdAt ?? now,
      data: images.map(({ data, url, revisedPrompt }) => ({
        ...(data === undefined ? { url } : { b64_json: data }),
        ...(revisedPrompt !== undefined && { revised_prompt: revisedPrompt }),
      })),
      ...(format !== undefined && { output_format: format }),
      ...(typeof options['quality'] === 'string' && { quality: options['quality'] }),
      ...(usage && counted(usage) && { usage: writeUsage(usage, reply) }),
    };
  },
  writeStream: (reply, request, context) => reply.images.map((_, index) => writeCompleted(reply, index, request, context)).join(''),
});

function readFields({ values, sources, mask }: Fields, task: ImagesRequest['task']): { request: ImagesRequest; losses: Loss[] } {
  const prompt = asString(values['prompt']) ?? '';
  if (prompt.trim() === '' && task !== 'vary') throw invalid('prompt', 'prompt must be a non-empty string.');
  if (task !== 'generate' && sources.length === 0) throw invalid('image', 'An image is needed: a file named image, or images in JSON.');
  if (sources.length > maxSources) throw invalid('image', `At most ${maxSources} images may be sent.`);
  const size = readSize(values['size']);
  const form = readForm(values['response_format']);
  const request: ImagesRequest = {
    task,
    prompt,
    sources: task === 'generate' ? [] : sources,
    count: readCount(values['n']),
    stream: values['stream'] === true || values['stream'] === 'true',
    options: Object.fromEntries(Object.entries(values).filter(([key, value]) => !read.has(key) && isUnusual(key, value))),
    ...(mask && task === 'edit' && { mask }),
    ...(size && { size }),
    ...(form && { form }),
  };
  return { request, losses: [] };
}

const isUnusual = (key: string, value: unknown): boolean =>
  value !== undefined && value !== null && !(Object.hasOwn(usual, key) && usual[key]?.some((one) => String(one) === String(value)));

/** A form has texts alone. */
function readCount(value: unknown): number {
  if (value === undefined || value === null) return 1;
  const count = typeof value === 'string' && /^\d{1,4}$/.test(value) ? Number(value) : value;
  if (!Number.isSafeInteger(count) || (count as number) < 1 || (count as number) > maxCount)
    throw invalid('n', `n must be a whole number from 1 to ${maxCount}.`);
  return count as number;
}

function readSize(value: unknown): ImagesRequest['size'] {
  if (value === undefined || value === null || value === 'auto') return undefined;
  const [, width = '', height = ''] = /^([1-9]\d{0,4})[x*]([1-9]\d{0,4})$/.exec(asString(value) ?? '') ?? [];
  if (width === '') throw invalid('size', 'size must be auto, or width and height such as 1024x1536.');
  return { width: Number(width), height: Number(height) };
}

function readForm(value: unknown): ImagesRequest['form'] {
  if (value === undefined || value === null) return undefined;
  if (value !== 'url' && value !== 'b64_json') throw invalid('response_format', 'response_format must be url or b64_json.');
  return value === 'url' ? 'url' : 'bytes';
}

function fieldsOfJson(body: unknown): Fields {
  const values = asObject(body) ?? {};
  const given = own(values, 'images') ?? own(values, 'image');
  const list = given === undefined ? [] : (asArray(given) ?? [given]);
  const mask = own(values, 'mask');
  return {
    values,
    sources: list.map((entry, index) => readSource(entry, `images.${index}`)),
    mask: mask === undefined ? undefined : readSource(mask, 'mask'),
  };
}

/** `{ image_url }`, as the API has it, and a bare address, as some callers write. */
function readSource(value: unknown, path: string): ImageSource {
  if (own(value, 'file_id') !== undefined)
    throw invalid(`${path}.file_id`, 'A file that another vendor keeps cannot be opened by this model: send the image itself.');
  const address = own(value, 'image_url') ?? value;
  const url = asString(address) ?? asString(own(address, 'url'));
  const embedded = url === undefined ? null : readDataUrl(url);
  if (embedded) return embedded;
  if (url === undefined || !/^https?:\/\//i.test(url)) throw invalid(path, 'An image must have an image_url: a data URL, or an address.');
  return { url };
}

/** Files are named `image`, `image[]` or `image[0]` by different clients. */
function fieldsOfForm({ fields, files }: FormBody): Fields {
  const named = (wanted: string): ImageSource[] => files.filter(({ name }) => baseOf(name) === wanted).map(sourceOf);
  const values: JsonObject = {};
  // Any other file is an option too; the first of two equal names counts.
  for (const { name } of files) if (baseOf(name) !== 'image' && baseOf(name) !== 'mask') values[baseOf(name)] = true;
  for (const { name, value } of fields) if (!Object.hasOwn(values, baseOf(name))) values[baseOf(name)] = value;
  return { values, sources: named('image'), mask: named('mask')[0] };
}

/** Without an expression: one that looks for the end from each bracket takes the square of the length of a name that is all brackets. */
function baseOf(name: string): string {
  const open = name.endsWith(']') ? name.indexOf('[', name.lastIndexOf(']', name.length - 2) + 1) : -1;
  return open === -1 ? name : name.slice(0, open);
}

/** What the bytes are outranks what their sender calls them. */
function sourceOf({ name, contentType, content }: FormFile): ImageSource {
  if (content.length === 0) throw invalid(baseOf(name), 'An image is empty.');
  return { mimeType: imageType(content) ?? (contentType?.startsWith('image/') ? contentType : 'image/png'), data: content.toString('base64') };
}

/** `image/jpeg` → `jpeg`; undefined where nobody says. */
const formatOf = (image: GeneratedImage | undefined): string | undefined => /^image\/([a-z]+)/.exec(image?.mimeType ?? '')?.[1];

const counted = ({ input, output, reasoning }: Usage): boolean => input + output + reasoning > 0;

function writeUsage(usage: Usage, { imageTokens }: Images): JsonObject {
  const input = usage.input + usage.cacheRead;
  const output = usage.output + usage.reasoning;
  const ofImages = { input: Math.min(input, imageTokens?.input ?? 0), output: Math.min(output, imageTokens?.output ?? 0) };
  return {
    input_tokens: input,
    input_tokens_details: { image_tokens: ofImages.input, text_tokens: input - ofImages.input },
    output_tokens: output,
    ...(imageTokens && { output_tokens_details: { image_tokens: ofImages.output, text_tokens: output - ofImages.output } }),
    total_tokens: input + output,
  };
}

const noTokens = { input_tokens: 0, input_tokens_details: { image_tokens: 0, text_tokens: 0 }, output_tokens: 0, total_tokens: 0 };

/** The one event of an image that came whole. The last one has the reply's usage. */
function writeCompleted(reply: Images, index: number, { task, options, size }: ImagesRequest, { usage, now }: UnaryReplyContext): string {
  const image = reply.images[index];
  const type = `${task === 'generate' ? 'image_generation' : 'image_edit'}.completed`;
  const isLast = index === reply.images.length - 1;
  const event = {
    type,
    ...(image?.data === undefined ? { url: image?.url } : { b64_json: image.data }),
    created_at: reply.createdAt ?? now,
    size: size ? `${size.width}x${size.height}` : 'auto',
    quality: asString(options['quality']) ?? 'auto',
    background: asString(options['background']) ?? 'auto',
    output_format: formatOf(image) ?? 'png',
    usage: isLast && usage ? writeUsage(usage, reply) : noTokens,
  };
  return `event: ${type}\ndata: ${JSON.stringify(event)}\n\n`;
}
