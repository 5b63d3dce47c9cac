/** The text that replaces media which an upstream does not accept: what is missing, and its address. */
import type { MediaPart } from '../chat/conversation.ts';

/** Longest address, in characters, that is put into the note. */
const maxAddressLength = 2048;

/** `[image omitted: image/png, https://…]`. An address is shown as the caller wrote it; data URLs are not shown. */
export function noteOmitted({
  kind,
  title,
  filename,
  context,
  mimeType,
  url,
}: Pick<MediaPart, 'title' | 'filename' | 'context' | 'mimeType' | 'url'> & { kind: string }): string {
  const described = [title ?? filename, context, mimeType, url === undefined || /^data:/i.test(url) ? undefined : url.slice(0, maxAddressLength)].filter(
    (fact) => fact !== undefined,
  );
  return `[${kind} omitted${described.length === 0 ? '' : `: ${described.join(', ')}`}]`;
}
