/** Images, documents, audio and video as the wire takes them: bytes or an address in the cloud's own store, in a format from a list. */
import type { MediaPart } from '../../chat/conversation.ts';
import type { Losses } from '../../kit/losses.ts';
import { noteOmitted } from '../../kit/media-note.ts';
import type { WireMediaBlock, WireSource, WireTextBlock } from './wire.ts';

/** Format names by media type. */
const formats: Readonly<Record<MediaPart['kind'], ReadonlyMap<string, string>>> = {
  image: new Map([
    ['image/png', 'png'],
    ['image/jpeg', 'jpeg'],
    ['image/jpg', 'jpeg'],
    ['image/gif', 'gif'],
    ['image/webp', 'webp'],
  ]),
  document: new Map([
    ['application/pdf', 'pdf'],
    ['text/csv', 'csv'],
    ['application/msword', 'doc'],
    ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'docx'],
    ['application/vnd.ms-excel', 'xls'],
    ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'xlsx'],
    ['text/html', 'html'],
    ['text/markdown', 'md'],
    ['text/plain', 'txt'],
    ['application/json', 'txt'],
    ['application/xml', 'txt'],
    ['application/yaml', 'txt'],
    ['application/x-yaml', 'txt'],
  ]),
  audio: new Map([
    ['audio/mpeg', 'mp3'],
    ['audio/mp3', 'mp3'],
    ['audio/wav', 'wav'],
    ['audio/x-wav', 'wav'],
    ['audio/aac', 'aac'],
    ['audio/flac', 'flac'],
    ['audio/ogg', 'ogg'],
    ['audio/opus', 'opus'],
    ['audio/mp4', 'm4a'],
    ['audio/m4a', 'm4a'],
    ['audio/x-m4a', 'm4a'],
    ['audio/pcm', 'pcm'],
    ['audio/webm', 'webm'],
  ]),
  video: new Map([
    ['video/mp4', 'mp4'],
    ['video/quicktime', 'mov'],
    ['video/x-matroska', 'mkv'],
    ['video/webm', 'webm'],
    ['video/x-flv', 'flv'],
    ['video/mpeg', 'mpeg'],
    ['video/mpg', 'mpg'],
    ['video/x-ms-wmv', 'wmv'],
    ['video/3gpp', 'three_gp'],
  ]),
};
const usual: Readonly<Record<MediaPart['kind'], string>> = { image: 'image/png', document: 'application/pdf', audio: 'audio/wav', video: 'video/mp4' };

/** What the media of one request share: whether there may be sound, and names of documents, each used once, since the same one twice is a 400. */
export class DocumentNames {
  readonly #counts = new Map<string, number>();
  /** Whether the model takes audio and video. */
  readonly takesSound: boolean;

  constructor(takesSound = true) {
    this.takesSound = takesSound;
  }

  /** Only alphanumerics, single blanks, hyphens, parentheses and brackets are taken. The extension goes: the format says it. */
  next(wanted: string | undefined): string {
    const clean = (wanted ?? '')
      .slice(0, 400)
      .replace(/\.[A-Za-z0-9]{1,5}$/, '')
      .replace(/[^A-Za-z0-9\s\-()[\]]+/g, ' ')
      .replace(/\s+/g, ' ')
      .trim()
      .slice(0, 180);
    const name = clean === '' ? 'document' : clean;
    const count = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, count);
    return count === 1 ? name : `${name} (${count})`;
  }
}

/** The block, or a text that says what is missing, so that the model knows. */
export function writeMedia(part: MediaPart, names: DocumentNames, losses: Losses): WireMediaBlock | WireTextBlock {
  const mimeType = (part.text === undefined ? (part.mimeType ?? usual[part.kind]) : 'text/plain').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const format = formats[part.kind].get(mimeType) ?? (part.kind === 'document' && mimeType.startsWith('text/') ? 'txt' : undefined);
  const source = names.takesSound || (part.kind !== 'audio' && part.kind !== 'video') ? writeSource(part) : null;
  if (!source || format === undefined) {
    losses.add('media', 'downgraded', `${part.kind} that cannot be sent in this form was replaced by a note`);
    return { text: noteOmitted(part) };
  }
  if (part.detail !== undefined && part.detail !== 'auto') losses.add('media.detail', 'dropped', 'has no counterpart');
  if (part.kind === 'image') return { image: { format, source } };
  if (part.kind === 'audio') return { audio: { format, source } };
  if (part.kind === 'video') return { video: { format, source } };
  const wanted = part.title ?? part.filename;
  const name = names.next(wanted);
  if (wanted !== undefined && name !== wanted) losses.add('media.filename', 'renamed', 'document names take few characters here');
  return {
    document: {
      name,
      format,
      // Places in a text are cited by its characters, which bytes have none of.
      source: part.cite && part.text !== undefined ? { text: part.text } : source,
      ...(part.context !== undefined && part.context !== '' && { context: part.context }),
      ...(part.cite && { citations: { enabled: true as const } }),
    },
  };
}

function writeSource(part: MediaPart): WireSource | null {
  if (part.text !== undefined) return part.text === '' ? null : { bytes: Buffer.from(part.text, 'utf8').toString('base64') };
  if (part.url !== undefined) return /^s3:\/\//i.test(part.url) ? { s3Location: { uri: part.url } } : null;
  return part.data === undefined || part.data === '' ? null : { bytes: part.data };
}
