/** Reads and prints base64 `data:` URLs. */
import { usualMediaType } from './media-type.ts';

/** The two halves of `data:<mime>[;parameters];base64,<data>`; null for any other text, which stays a plain URL. */
export function readDataUrl(url: string): { mimeType: string; data: string } | null {
  if (url.slice(0, 5).toLowerCase() !== 'data:') return null;
  const comma = url.indexOf(',');
  if (comma < 0 || comma > 1024) return null;
  const head = url.slice(5, comma).split(';');
  if (head.length < 2 || head.at(-1)?.trim().toLowerCase() !== 'base64') return null;
  return { mimeType: usualMediaType(head[0] ?? '') || 'text/plain', data: url.slice(comma + 1) };
}

export const writeDataUrl = (mimeType: string, data: string): string => `data:${mimeType};base64,${data}`;
