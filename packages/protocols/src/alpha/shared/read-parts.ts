import type { MediaPart, Part, RefusalPart, TextPart, ThinkingPart } from '../../chat/conversation.ts';
import { readDataUrl } from '../../kit/data-url.ts';
import { invalid } from '../../kit/fail.ts';
import { asArray, asString, own } from '../../kit/read.ts';
import { readCacheMark } from './cache-mark.ts';

/** What the content of a message may hold, before tool calls and results. */
export type ContentPart = TextPart | MediaPart | RefusalPart | ThinkingPart;

/** `content` of a message: a string, a list of parts, or nothing. Unknown part types are the caller's fault: dropping them would change the meaning. */
export function readContent(content: unknown, param: string): ContentPart[] {
  if (content === undefined) return [];
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  const list = asArray(content);
  if (!list) throw invalid(param, 'Content must be a string or a list of parts.');
  return list.map((part, index) => readPart(part, `${param}[${index}]`));
}

/** Readers by part type; `input_*` and `output_text` are the Responses spelling, which some clients mix in. */
const readers: Readonly<Record<string, (part: unknown, param: string) => ContentPart>> = {
  text: readText,
  input_text: readText,
  output_text: readText,
  image_url: readImage,
  input_image: readImage,
  input_audio: readAudio,
  video_url: readVideo,
  file: readFile,
  input_file: readFile,
  refusal: (part, param) => ({ type: 'refusal', text: need(own(part, 'refusal'), `${param}.refusal`) }),
  thinking: (part) => ({ type: 'thinking', text: readThinkingOf(part) ?? '' }),
  reasoning: (part) => ({ type: 'thinking', text: readThinkingOf(part) ?? '' }),
};

function readPart(part: unknown, param: string): ContentPart {
  if (typeof part === 'string') return { type: 'text', text: part };
  const type = asString(own(part, 'type')) ?? '';
  const read = Object.hasOwn(readers, type) ? readers[type] : undefined;
  if (!read) throw invalid(`${param}.type`, 'This type of content part is not known.');
  const result = read(part, param);
  const cache = result.type === 'text' || result.type === 'media' ? readCacheMark(part) : undefined;
  return cache ? ({ ...result, cache } as ContentPart) : result;
}

function need(value: unknown, param: string): string {
  const text = asString(value);
  if (text === undefined) throw invalid(param, 'This must be a string.');
  return text;
}

function readText(part: unknown, param: string): TextPart {
  return { type: 'text', text: need(own(part, 'text'), `${param}.text`) };
}

/** Of a part as Mistral (`thinking`), Databricks (`reasoning` with a `summary`) or a library (with `reasoning` or `text`) writes it; undefined: it is a part of another kind. */
export function readThinkingOf(part: unknown): string | undefined {
  const said = own(part, 'type') === 'reasoning' ? (own(part, 'summary') ?? own(part, 'reasoning') ?? own(part, 'text') ?? []) : undefined;
  const thinking = own(part, 'thinking') ?? said;
  return thinking === undefined ? undefined : readThinkingText(thinking);
}

/** A string, or a list of text parts. */
const readThinkingText = (value: unknown): string =>
  asString(value) ?? (asArray(value) ?? []).map((part) => asString(part) ?? asString(own(part, 'text')) ?? '').join('');

function locate(url: string): Pick<MediaPart, 'mimeType' | 'data' | 'url'> {
  return readDataUrl(url) ?? { url };
}

function readImage(part: unknown, param: string): MediaPart {
  const image = own(part, 'image_url');
  const fileId = asString(own(part, 'file_id'));
  const detail = asString(own(image, 'detail')) ?? asString(own(part, 'detail'));
  const base = { type: 'media', kind: 'image', ...(detail !== undefined && { detail }) } as const;
  if (image === undefined && fileId !== undefined) return { ...base, fileId };
  return { ...base, ...locate(need(asString(image) ?? own(image, 'url'), `${param}.image_url.url`)) };
}

function readVideo(part: unknown, param: string): MediaPart {
  const video = own(part, 'video_url');
  return { type: 'media', kind: 'video', ...locate(need(asString(video) ?? own(video, 'url'), `${param}.video_url.url`)) };
}

function readAudio(part: unknown, param: string): MediaPart {
  const audio = own(part, 'input_audio');
  const format = asString(own(audio, 'format')) ?? 'wav';
  const data = need(own(audio, 'data'), `${param}.input_audio.data`);
  const located = readDataUrl(data);
  return { type: 'media', kind: 'audio', mimeType: `audio/${format === 'mp3' ? 'mpeg' : format}`, data: located?.data ?? data };
}

/** A file by its bytes (a data URL, or bare base64 which is then a PDF), by its id, or by address. */
function readFile(part: unknown, param: string): MediaPart {
  const file = own(part, 'file') ?? part;
  const filename = asString(own(file, 'filename'));
  const base = { type: 'media', kind: 'document', ...(filename !== undefined && { filename }) } as const;
  const fileId = asString(own(file, 'file_id'));
  if (fileId !== undefined) return { ...base, fileId };
  const address = asString(own(file, 'file_url'));
  if (address !== undefined) return { ...base, url: address };
  const text = need(own(file, 'file_data'), `${param}.file.file_data`);
  const located = readDataUrl(text);
  if (located) return { ...base, ...located };
  return /^https?:\/\//i.test(text) ? { ...base, url: text } : { ...base, mimeType: 'application/pdf', data: text };
}

/** The parts allowed in a tool result. */
export const isResultPart = (part: Part): part is TextPart | MediaPart => part.type === 'text' || part.type === 'media';
