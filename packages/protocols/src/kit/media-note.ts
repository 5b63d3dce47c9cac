/** What stands in a conversation in place of media that an upstream cannot take: the model is told what is missing, and where it is. */
import type { MediaPart } from '../chat/conversation.ts';

/** Characters of an address that are worth telling. */
const maxAddressLength = 2048;

/** `[image omitted: image/png, https://…]`. An address is told as the caller wrote it; bytes that stand in one (`data:`) are none. */
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
