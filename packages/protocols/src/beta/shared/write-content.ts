/** Canonical parts → content blocks of an upstream request. Each gives one block, or null when nothing of it can be sent. */
import type { MediaPart, TextPart, ThinkingPart, ToolCallPart, ToolResultPart } from '../../chat/conversation.ts';
import type { Losses } from '../../kit/losses.ts';
import { noteOmitted } from '../../kit/media-note.ts';
import { usualMediaType } from '../../kit/media-type.ts';
import { asObject, type JsonObject } from '../../kit/read.ts';
import { writeCache } from './cache-mark.ts';
import type { WireBlock, WireMediaBlock, WireSearchResultBlock, WireSource, WireTextBlock, WireToolResultBlock } from './wire.ts';

/** Text of nothing but blanks is a 400, so it is left out. */
const isBlank = (text: string): boolean => text.trim() === '';

export function writeText(part: TextPart, losses: Losses): WireTextBlock | WireSearchResultBlock | null {
  if (part.signature !== undefined) losses.dropped('signature', "another vendor's signature on text is not supported here");
  if (part.phase !== undefined) losses.dropped('phase', 'has no counterpart');
  if (part.searchResult) {
    const { source, title, content, cite } = part.searchResult;
    const texts = content.map((text): WireTextBlock => ({ type: 'text', text }));
    return { type: 'search_result', source, title, content: texts, ...(cite && { citations: { enabled: true as const } }), ...writeCache(part.cache) };
  }
  return isBlank(part.text) ? null : { type: 'text', text: part.text, ...writeCache(part.cache) };
}

/** An image or document block; a kind or address that cannot be sent becomes a text that says what is missing, so that the model knows. */
export function writeMedia(part: MediaPart, losses: Losses): WireMediaBlock | WireTextBlock {
  const source = part.kind === 'image' || part.kind === 'document' ? writeSource(part) : null;
  if (!source) {
    losses.add('media', 'downgraded', `${part.kind} that cannot be sent in this form was replaced by a note`);
    return { type: 'text', text: noteOmitted(part), ...writeCache(part.cache) };
  }
  if (part.detail !== undefined && part.detail !== 'auto') losses.dropped('media.detail', 'has no counterpart');
  if (part.kind === 'image') return { type: 'image', source, ...writeCache(part.cache) };
  if (part.title === undefined && part.filename !== undefined) losses.add('media.filename', 'renamed', 'sent as the title');
  const title = part.title ?? part.filename;
  return {
    type: 'document',
    source,
    ...(title !== undefined && { title }),
    ...(part.context !== undefined && { context: part.context }),
    ...(part.cite && { citations: { enabled: true as const } }),
    ...writeCache(part.cache),
  };
}

/** Any other is a 400. */
const imageTypes: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);

function writeSource(part: MediaPart): WireSource | null {
  if (part.text !== undefined) return { type: 'text', media_type: 'text/plain', data: part.text };
  // Only this vendor's file ids begin so; another's would be a 404.
  if (part.fileId !== undefined) return /^file_/.test(part.fileId) ? { type: 'file', file_id: part.fileId } : null;
  if (part.url !== undefined) return /^https?:\/\//i.test(part.url) ? { type: 'url', url: part.url } : null;
  if (part.data === undefined) return null;
  const mimeType = part.mimeType === undefined ? (part.kind === 'image' ? 'image/png' : 'application/pdf') : usualMediaType(part.mimeType);
  if (part.kind === 'image' && !imageTypes.has(mimeType)) return null;
  if (part.kind === 'image' || mimeType === 'application/pdf') return { type: 'base64', media_type: mimeType, data: part.data };
  // Of documents only PDF goes as bytes; what is text inside goes as text.
  if (/^text\/|^application\/(?:json|xml|x-yaml|yaml)\b/.test(mimeType)) {
    return { type: 'text', media_type: 'text/plain', data: Buffer.from(part.data, 'base64').toString('utf8') };
  }
  return null;
}

/** `input` is an object on this wire; arguments of the history that are none are wrapped so that the model still sees them. */
export function writeToolCall(part: ToolCallPart, id: string, losses: Losses): WireBlock {
  if (part.signature !== undefined) losses.dropped('signature', "another vendor's signature on a tool call is not supported here");
  const input = readInput(part.arguments);
  if (!input) losses.add('tool_use.input', 'downgraded', 'arguments that are no JSON object were wrapped as `input`');
  return { type: 'tool_use', id, name: part.name, input: input ?? { input: part.arguments }, ...writeCache(part.cache) };
}

/** The arguments as an object; none at all mean `{}`. Undefined when they are not a JSON object. */
function readInput(text: string): JsonObject | undefined {
  if (text.trim() === '') return {};
  try {
    return asObject(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** For a caller: arguments that are not an object (a reply that was cut within them) become `{}`, never something to be run by mistake. */
export function parseInput(text: string, losses: Losses): JsonObject {
  const input = readInput(text);
  if (!input) losses.dropped('tool_use.input', 'arguments that are no JSON object');
  return input ?? {};
}

export function writeToolResult(part: ToolResultPart, id: string, losses: Losses): WireToolResultBlock {
  const content = part.content.flatMap((inner) => (inner.type === 'text' ? (writeText(inner, losses) ?? []) : writeMedia(inner, losses)));
  return {
    type: 'tool_result',
    tool_use_id: id,
    ...(content.length > 0 && { content }),
    ...(part.isError && { is_error: true }),
    ...writeCache(part.cache),
  };
}

/** A result that answers no call would be refused; as text it still informs the model. */
export function writeOrphanResult(part: ToolResultPart, losses: Losses): WireBlock[] {
  losses.add('tool_result', 'downgraded', 'a result without its call was turned into text');
  const heading: WireBlock = { type: 'text', text: part.name === undefined ? '[tool result]' : `[tool result: ${part.name}]` };
  return [heading, ...part.content.flatMap((inner) => (inner.type === 'text' ? (writeText(inner, losses) ?? []) : writeMedia(inner, losses)))];
}

/**
 * Thinking goes back only with a signature that this upstream and account issued: without one it would be a 400. It is left out then, and never sent
 * as text, since models imitate the text of their own turns.
 */
export function writeThinking(part: ThinkingPart, openSignature: (sealed: string) => string | null, losses: Losses): WireBlock | null {
  const signature = part.signature === undefined ? null : openSignature(part.signature);
  if (signature !== null)
    return part.redacted ? { type: 'redacted_thinking', data: signature } : { type: 'thinking', thinking: part.text, signature: signature };
  if (part.signature !== undefined) losses.dropped('thinking.signature', 'issued by another model, upstream or account');
  if (!isBlank(part.text)) losses.dropped('thinking', 'thinking of another model, upstream or account cannot be sent back');
  return null;
}
