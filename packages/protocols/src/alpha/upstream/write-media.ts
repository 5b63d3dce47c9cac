import type { MediaPart } from '../../chat/conversation.ts';
import { writeDataUrl } from '../../kit/data-url.ts';
import { isForeignFile } from '../../kit/foreign-file.ts';
import type { Losses } from '../../kit/losses.ts';
import { noteOmitted } from '../../kit/media-note.ts';
import type { ChatFamily } from '../shared/families.ts';

/** Media types by kind, where the caller named none. */
const usualType: Readonly<Record<MediaPart['kind'], string>> = { image: 'image/png', document: 'application/pdf', audio: 'audio/wav', video: 'video/mp4' };

/** File names that the endpoint guesses the type from, where the caller gave none. */
const usualName: Readonly<Record<string, string>> = {
  'application/pdf': 'document.pdf',
  'text/plain': 'document.txt',
  'text/markdown': 'document.md',
  'text/html': 'document.html',
  'text/csv': 'document.csv',
  'application/json': 'document.json',
};

const textPart = (text: string) => ({ type: 'text', text });

/** A media part as a content part of a user message. What this wire has no part for becomes text that says so, and a declared loss. */
export function writeMedia(part: MediaPart, { opensImages }: Pick<ChatFamily, 'opensImages'>, losses: Losses): unknown {
  if (part.text !== undefined) return writeTextDocument(part, losses);
  if (part.fileId !== undefined) return writeFileId(part, part.fileId, losses);
  const mimeType = part.mimeType ?? usualType[part.kind];
  const address = part.data === undefined ? part.url : writeDataUrl(mimeType, part.data);
  if (address === undefined) return omitted(part, losses);
  if (part.data === undefined && !opensImages && (part.kind === 'image' || part.kind === 'video')) return omitted(part, losses);
  if (part.kind === 'image') return { type: 'image_url', image_url: { url: address, ...(part.detail !== undefined && { detail: part.detail }) } };
  if (part.kind === 'video') return { type: 'video_url', video_url: { url: address } };
  if (part.context !== undefined) losses.add('document.context', 'dropped', 'A document carries no remark.');
  if (part.data === undefined) return omitted(part, losses);
  if (part.kind === 'audio') return { type: 'input_audio', input_audio: { data: part.data, format: audioFormat(mimeType) } };
  return { type: 'file', file: { filename: part.filename ?? part.title ?? usualName[mimeType] ?? 'document', file_data: address } };
}

function writeFileId(part: MediaPart, fileId: string, losses: Losses): unknown {
  if (!isForeignFile(fileId)) return { type: 'file', file: { file_id: fileId } };
  losses.add('messages.file_id', 'dropped', 'A file kept by another vendor cannot be opened; a text part stands in its place.');
  return textPart(noteOmitted(part));
}

function writeTextDocument(part: MediaPart, losses: Losses): unknown {
  losses.add('document.text', 'emulated', 'A document given as text was sent as text.');
  const heading = [part.title ?? part.filename, part.context].filter(Boolean).join('\n');
  return textPart(heading === '' ? (part.text ?? '') : `${heading}\n\n${part.text}`);
}

function omitted(part: MediaPart, losses: Losses): unknown {
  losses.add(`${part.kind}.url`, 'downgraded', 'Only its address could be told: this protocol takes the bytes of such a part, not an address.');
  return textPart(part.url === undefined ? `[${part.kind} without content]` : `[${part.kind}: ${part.url}]`);
}

function audioFormat(mimeType: string): string {
  const subtype = (mimeType.split('/')[1] ?? 'wav').split(';')[0]!.replace(/^x-/, '');
  return subtype === 'mpeg' ? 'mp3' : subtype === 'wave' ? 'wav' : subtype;
}
