/** Images, documents, audio and video in parts of a message, both ways. */
import type { MediaPart } from '../../chat/conversation.ts';
import { readDataUrl } from '../../kit/data-url.ts';
import type { Losses } from '../../kit/losses.ts';
import { noteOmitted } from '../../kit/media-note.ts';
import { usualMediaType } from '../../kit/media-type.ts';
import { field, objectField, standardBase64, textField } from './fields.ts';
import type { WirePart } from './wire.ts';

const kinds: readonly (readonly [RegExp, MediaPart['kind']])[] = [
  [/^image\//, 'image'],
  [/^audio\//, 'audio'],
  [/^video\//, 'video'],
];

const extensions: Readonly<Record<string, string>> = {
  ...{ png: 'image/png', jpg: 'image/jpeg', jpeg: 'image/jpeg', webp: 'image/webp', gif: 'image/gif', heic: 'image/heic' },
  ...{ mp3: 'audio/mp3', wav: 'audio/wav', ogg: 'audio/ogg', flac: 'audio/flac', mp4: 'video/mp4', webm: 'video/webm', mov: 'video/mov' },
  ...{ pdf: 'application/pdf', txt: 'text/plain', csv: 'text/csv', html: 'text/html', md: 'text/markdown' },
};

const defaultTypes: Readonly<Record<MediaPart['kind'], string>> = { image: 'image/png', document: 'application/pdf', audio: 'audio/wav', video: 'video/mp4' };

/** First bytes of the common image forms, as base64 shows them: some callers leave the type out. */
const imageMagic: readonly (readonly [string, string])[] = [
  ['/9j/', 'image/jpeg'],
  ['iVBOR', 'image/png'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
];

const youtube = /^https?:\/\/(?:www\.|m\.)?(?:youtube\.com|youtu\.be)\//i;
/** Files that only this vendor's account can open. */
const vendorFile = /^(?:gs:\/\/|files\/|https:\/\/generativelanguage\.googleapis\.com\/)/i;

/** Addresses that every model of the vendor opens by itself; others are opened by its newest models alone. */
export const isVendorUrl = (url: string): boolean => vendorFile.test(url) || youtube.test(url);

const kindOf = (mimeType: string | undefined, uri: string): MediaPart['kind'] => {
  const type = mimeType ?? extensions[extensionOf(uri)];
  return type === undefined ? (youtube.test(uri) ? 'video' : 'document') : (kinds.find(([match]) => match.test(type))?.[1] ?? 'document');
};

const extensionOf = (uri: string): string => /\.([a-z0-9]{2,5})(?:[?#]|$)/i.exec(uri.slice(-200))?.[1]?.toLowerCase() ?? '';

/** `inlineData` or `fileData` of a part; null when it holds neither. */
export function readMedia(part: unknown, losses: Losses): MediaPart | null {
  const inline = objectField(part, 'inlineData');
  const file = objectField(part, 'fileData');
  const holder = inline ?? file;
  if (!holder) return null;
  for (const name of ['videoMetadata', 'mediaResolution']) {
    if (field(part, name) !== undefined) losses.add(`contents.parts.${name}`, 'dropped', 'The field has no counterpart in a translation.');
  }
  const mimeType = textField(holder, 'mimeType')?.toLowerCase();
  const filename = textField(holder, 'displayName');
  const head = { type: 'media' as const, ...(mimeType !== undefined && { mimeType }), ...(filename !== undefined && { filename }) };
  if (inline) return { ...head, kind: kindOf(mimeType, ''), data: standardBase64(textField(inline, 'data') ?? '') };
  const uri = textField(file, 'fileUri') ?? '';
  return { ...head, kind: kindOf(mimeType, uri), ...(vendorFile.test(uri) ? { fileId: uri } : { url: uri }) };
}

/** A media part as gamma takes it. What cannot be sent is named in a text part, so that the model knows something is missing. */
export function writeMedia(part: MediaPart, losses: Losses): WirePart {
  if (part.cache) losses.add('messages.cache_control', 'dropped', 'Cache marks have no counterpart: caching is implicit.');
  if (part.detail !== undefined && part.detail !== 'auto') losses.add('messages.image.detail', 'dropped', 'Image detail has no counterpart.');
  if (part.title !== undefined) losses.add('messages.document.title', 'dropped', 'Titles of documents have no counterpart.');
  if (part.context !== undefined) losses.add('messages.document.context', 'dropped', 'What is said beside a document has no counterpart.');
  if (part.filename !== undefined) losses.add('messages.file.filename', 'dropped', 'Files have no names at this upstream.');
  if (part.text !== undefined) return { text: part.text };
  const inline = readInline(part);
  if (inline && isRefused(inline.mimeType)) {
    losses.add('messages.media', 'downgraded', `${part.kind} that cannot be sent in this form was replaced by a note`);
    return { text: noteOmitted({ ...part, mimeType: inline.mimeType }) };
  }
  if (inline) return { inlineData: inline };
  const uri = part.url ?? (part.fileId !== undefined && vendorFile.test(part.fileId) ? part.fileId : undefined);
  if (uri !== undefined) {
    const mimeType = part.mimeType ?? extensions[extensionOf(uri)] ?? (part.kind === 'image' ? 'image/jpeg' : undefined);
    return { fileData: { fileUri: uri, ...(mimeType !== undefined && { mimeType }) } };
  }
  losses.add('messages.file_id', 'dropped', 'A file kept by another vendor cannot be opened; a text part stands in its place.');
  return { text: `[${part.kind} not available]` };
}

/** Drawings: this vendor refuses the whole request for one, and with it each further one of the session. */
const isRefused = (mimeType: string): boolean => mimeType === 'image/svg+xml';

function readInline(part: MediaPart): { mimeType: string; data: string } | null {
  const { data, url, mimeType } = part;
  if (data !== undefined) return { mimeType: mimeType === undefined ? sniff(part) : usualMediaType(mimeType), data };
  return url === undefined ? null : readDataUrl(url);
}

const sniff = (part: MediaPart): string => imageMagic.find(([magic]) => part.kind === 'image' && part.data?.startsWith(magic))?.[1] ?? defaultTypes[part.kind];
