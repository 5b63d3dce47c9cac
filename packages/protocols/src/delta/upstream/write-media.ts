import type { MediaPart } from '../../chat/conversation.ts';
import { writeDataUrl } from '../../kit/data-url.ts';
import type { Losses } from '../../kit/losses.ts';
import type { WirePart } from './wire.ts';

/** Media types by kind, where the caller named none. */
const usualType: Readonly<Record<'image' | 'audio' | 'video', string>> = { image: 'image/png', audio: 'audio/wav', video: 'video/mp4' };

/** A media part as a part of multimodal content. What has no part here becomes text that says so, and a declared loss. */
export function writeMedia(part: MediaPart, multimodal: boolean, losses: Losses): WirePart {
  if (part.text !== undefined) {
    losses.add('document.text', 'emulated', 'A document given as text was sent as text.');
    const heading = [part.title ?? part.filename, part.context].filter(Boolean).join('\n');
    return { text: heading === '' ? part.text : `${heading}\n\n${part.text}` };
  }
  if (!multimodal) {
    losses.add(`messages.${part.kind}`, 'dropped', 'The text endpoint takes no media; a model of the kind delta-multimodal does.');
    if (part.detail !== undefined && part.detail !== 'auto') losses.add('image.detail', 'dropped', 'The image itself was left out.');
    const described = [part.title ?? part.filename, part.context].filter(Boolean).map((words) => `, ${words}`);
    return { text: `[${part.kind} left out: this model reads text only${described.join('')}]` };
  }
  const { kind } = part;
  const address = kind === 'document' || part.fileId !== undefined ? undefined : addressOf(part, kind);
  if (address === undefined || kind === 'document') {
    losses.add(`messages.${kind}`, 'downgraded', 'This wire has no part for it: only its name or address could be told.');
    const described = [part.url ?? part.filename ?? part.title ?? 'without address', part.context].filter(Boolean).join(', ');
    return { text: `[${kind}: ${described}]` };
  }
  if (part.detail !== undefined && part.detail !== 'auto') losses.add('image.detail', 'dropped', 'How closely an image is looked at is not asked for here.');
  return kind === 'image' ? { image: address } : kind === 'audio' ? { audio: address } : { video: address };
}

function addressOf(part: MediaPart, kind: 'image' | 'audio' | 'video'): string | undefined {
  return part.data === undefined ? part.url : writeDataUrl(part.mimeType ?? usualType[kind], part.data);
}
