/** The media type of a recording, in the words that vendors list. */
import type { TranscriptionRequest } from '../contract/index.ts';
import { usualMediaType } from './media-type.ts';

const typesByEnding: ReadonlyMap<string, string> = new Map([
  ['aac', 'audio/aac'],
  ['flac', 'audio/flac'],
  ['m4a', 'audio/mp4'],
  ['mp3', 'audio/mpeg'],
  ['mp4', 'audio/mp4'],
  ['mpeg', 'audio/mpeg'],
  ['mpga', 'audio/mpeg'],
  ['oga', 'audio/ogg'],
  ['ogg', 'audio/ogg'],
  ['opus', 'audio/ogg'],
  ['wav', 'audio/wav'],
  ['webm', 'audio/webm'],
]);

const signatures: readonly (readonly [offset: number, text: string, mimeType: string])[] = [
  [8, 'WAVE', 'audio/wav'],
  [0, 'OggS', 'audio/ogg'],
  [0, '\x1a\x45\xdf\xa3', 'audio/webm'],
  [0, 'fLaC', 'audio/flac'],
  [4, 'ftyp', 'audio/mp4'],
];

/** By what the form says of it, else by its name, else by its first bytes: applications send what they recorded as `blob` or `file`, of no type. */
export function audioTypeOf({ contentType, filename, content }: TranscriptionRequest['file']): string {
  // Browsers name the codec as well, which no vendor's list does.
  const said = contentType === undefined ? '' : usualMediaType(contentType);
  if (/^(?:audio|video)\//.test(said)) return said;
  const byName = typesByEnding.get(filename.slice(filename.lastIndexOf('.') + 1).toLowerCase());
  return byName ?? signatures.find(([at, text]) => content.toString('latin1', at, at + text.length) === text)?.[2] ?? 'audio/mpeg';
}
