/** Limits of models that transcribe without timestamps. */
import type { TranscriptionRequest } from '../contract/index.ts';
import { invalid } from './fail.ts';

/** Throws for a format that needs timestamps or speakers. */
export function refuseTimestamps({ form }: TranscriptionRequest): void {
  if (form !== 'json' && form !== 'text')
    throw invalid('response_format', `This model gives no timestamps: response_format must be json or text, not ${form}.`);
}

const typesByEnding: Readonly<Record<string, string>> = {
  aac: 'audio/aac',
  flac: 'audio/flac',
  m4a: 'audio/mp4',
  mp3: 'audio/mpeg',
  mp4: 'audio/mp4',
  mpeg: 'audio/mpeg',
  mpga: 'audio/mpeg',
  oga: 'audio/ogg',
  ogg: 'audio/ogg',
  opus: 'audio/ogg',
  wav: 'audio/wav',
  webm: 'audio/webm',
};

/** By what the form says of it, else by its name. */
export function audioTypeOf({ contentType, filename }: TranscriptionRequest['file']): string {
  if (contentType !== undefined && /^(?:audio|video)\//.test(contentType)) return contentType;
  return typesByEnding[filename.slice(filename.lastIndexOf('.') + 1).toLowerCase()] ?? 'audio/mpeg';
}
