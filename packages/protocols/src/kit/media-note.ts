/** The text that replaces media which an upstream does not accept: what is missing, and its address. */
import type { MediaPart } from '../chat/conversation.ts';

/** Characters of an address that are worth telling. */
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
