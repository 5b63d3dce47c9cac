/** Content of one input item: a string, or parts. */
import { readBreakpoint } from '../../alpha/index.ts';
import type { CacheMark, MediaPart, RefusalPart, TextPart } from '../../chat/conversation.ts';
import { readDataUrl } from '../../kit/data-url.ts';
import { invalid } from '../../kit/fail.ts';
import type { Losses } from '../../kit/losses.ts';
import { asArray, asObject, asString, type JsonObject, own } from '../../kit/read.ts';

export type ContentPart = TextPart | MediaPart | RefusalPart;

export function readContent(value: unknown, path: string, losses: Losses): ContentPart[] {
  if (typeof value === 'string') return [{ type: 'text', text: value }];
  const list = asArray(value);
  if (!list) throw invalid(path, 'must be a string or an array of content parts');
  return list.flatMap((entry, index) => readPart(entry, `${path}.${index}`, losses));
}

function readPart(entry: unknown, path: string, losses: Losses): ContentPart[] {
  if (typeof entry === 'string') return [{ type: 'text', text: entry }];
  const part = asObject(entry);
  const type = asString(own(part, 'type'));
  if (!part || type === undefined) throw invalid(`${path}.type`, 'must be a string');
  const read = readers.get(type);
  const parts = read?.(part, path) ?? null;
  if (parts) {
    declareRest(part, type, losses);
    return [parts];
  }
  losses.add(path, 'dropped', 'This kind of content has no counterpart in other protocols.');
  return [];
}

/** What a part says beside its content. Token probabilities of an earlier reply are nothing that a model reads. */
const partFields: ReadonlySet<string> = new Set(
  'type text refusal image_url file_id detail filename file_data file_url input_audio audio_url data format prompt_cache_breakpoint cache_control annotations logprobs'.split(
    ' ',
  ),
);

function declareRest(part: JsonObject, type: string, losses: Losses): void {
  if ((asArray(own(part, 'annotations'))?.length ?? 0) > 0) losses.add('content.annotations', 'dropped', 'Citations of earlier replies are not replayed.');
  const detail = own(part, 'detail');
  if (type === 'input_file' && detail !== undefined && detail !== 'auto')
    losses.add('content.detail', 'dropped', 'How closely a file is read is asked for here alone.');
  losses.unread('content', part, partFields);
}

type PartReader = (part: JsonObject, path: string) => ContentPart;

const readers: ReadonlyMap<string, PartReader> = new Map<string, PartReader>([
  ['input_text', readText],
  ['output_text', readText],
  ['text', readText],
  ['refusal', (part) => ({ type: 'refusal', text: asString(own(part, 'refusal')) ?? '' })],
  ['input_image', readImage],
  ['input_file', readFile],
  ['input_audio', readAudio],
]);

function cacheMark(part: JsonObject): { cache?: CacheMark } {
  const cache = readBreakpoint(part);
  return cache ? { cache } : {};
}

function readText(part: JsonObject, path: string): TextPart {
  const text = asString(own(part, 'text'));
  if (text === undefined) throw invalid(`${path}.text`, 'must be a string');
  return { type: 'text', text, ...cacheMark(part) };
}

function readImage(part: JsonObject, path: string): MediaPart {
  const detail = asString(own(part, 'detail'));
  const image = own(part, 'image_url');
  const url = asString(image) ?? asString(own(image, 'url'));
  return {
    type: 'media',
    kind: 'image',
    ...readSource(url, asString(own(part, 'file_id')), `${path}.image_url`),
    ...(detail !== undefined && { detail }),
    ...cacheMark(part),
  };
}

function readFile(part: JsonObject, path: string): MediaPart {
  const filename = asString(own(part, 'filename'));
  const named = { ...(filename !== undefined && { filename }), ...cacheMark(part) };
  const data = asString(own(part, 'file_data'));
  if (data !== undefined) {
    const inline = readDataUrl(data) ?? { mimeType: mimeOf(filename), data };
    return { type: 'media', kind: 'document', ...inline, ...named };
  }
  return { type: 'media', kind: 'document', ...readSource(asString(own(part, 'file_url')), asString(own(part, 'file_id')), `${path}.file_data`), ...named };
}

/** Codex names sound by address, as images are named, where one of its tools gives it. */
function readAudio(part: JsonObject, path: string): MediaPart {
  const audio = own(part, 'input_audio') ?? part;
  const data = asString(own(audio, 'data'));
  if (data !== undefined) return { type: 'media', kind: 'audio', mimeType: `audio/${asString(own(audio, 'format')) ?? 'wav'}`, data };
  const url = asString(own(part, 'audio_url'));
  const fileId = asString(own(part, 'file_id'));
  if (url === undefined && fileId === undefined) throw invalid(`${path}.input_audio.data`, 'must be a string');
  return { type: 'media', kind: 'audio', ...readSource(url, fileId, `${path}.audio_url`) };
}

function readSource(url: string | undefined, fileId: string | undefined, path: string): Partial<MediaPart> {
  if (url !== undefined) return readDataUrl(url) ?? { url };
  if (fileId !== undefined) return { fileId };
  throw invalid(path, 'must be given, as a URL, as data or as a file id');
}

const mimeTypes: ReadonlyMap<string, string> = new Map([
  ['pdf', 'application/pdf'],
  ['txt', 'text/plain'],
  ['md', 'text/markdown'],
  ['csv', 'text/csv'],
  ['html', 'text/html'],
  ['json', 'application/json'],
  ['docx', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
  ['xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
]);

/** Bare base64 says nothing of its kind; this endpoint began with PDF alone. */
const mimeOf = (filename: string | undefined): string => mimeTypes.get(filename?.split('.').at(-1)?.toLowerCase() ?? '') ?? 'application/pdf';
