import type { MediaPart, ThinkingPart, ToolCallPart, ToolResultPart } from '../../chat/conversation.ts';
import type { WriteRequestContext } from '../../contract/index.ts';
import type { Losses } from '../../kit/losses.ts';
import { asObject } from '../../kit/read.ts';
import type { ModelFamily } from './families.ts';
import type { Exchange } from './turns.ts';
import type { WireAssistant, WireImage, WireToolResult, WireUser } from './wire.ts';

/** State shared while the turns of one request are written. */
export interface Page {
  context: WriteRequestContext;
  family: ModelFamily;
  origin: string;
  ids: ReadonlyMap<ToolCallPart | ToolResultPart, string>;
  losses: Losses;
}

/** Marks of any place are one loss. */
export const noteCache = (page: Page): void => page.losses.add('cache_control', 'dropped', 'This upstream caches prompts by itself.');

/** Texts, images and results of one turn. Results travel beside the text, and what they show goes with the turn's images. */
export function writeUser({ parts }: Exchange, page: Page): WireUser {
  const texts: string[] = [];
  const images: WireImage[] = [];
  const results: WireToolResult[] = [];
  for (const part of parts) {
    if ('cache' in part && part.cache) noteCache(page);
    if (part.type === 'text' || part.type === 'refusal') texts.push(part.text);
    else if (part.type === 'media') texts.push(...writeMedia(part, images, page));
    else if (part.type === 'tool-result') results.push(writeResult(part, images, page));
  }
  return {
    content: texts.filter((text) => text !== '').join('\n\n'),
    origin: page.origin,
    ...(images.length > 0 && { images }),
    ...(results.length > 0 && { userInputMessageContext: { toolResults: results } }),
  };
}

function writeResult(part: ToolResultPart, images: WireImage[], page: Page): WireToolResult {
  const toolUseId = page.ids.get(part) ?? part.callId;
  const status = part.isError ? 'error' : 'success';
  const json = asObject(part.json);
  if (json && part.content.every(({ type }) => type === 'text')) return { toolUseId, status, content: [{ json }] };
  const content = part.content.flatMap((inner) => (inner.type === 'text' ? [inner.text] : writeMedia(inner, images, page))).map((text) => ({ text }));
  return { toolUseId, status, content };
}

const formats: Readonly<Record<string, WireImage['format']>> = {
  'image/png': 'png',
  'image/jpeg': 'jpeg',
  'image/jpg': 'jpeg',
  'image/gif': 'gif',
  'image/webp': 'webp',
};

/** Adds the image to the turn's; media that is not an image becomes a text that describes it. */
function writeMedia(part: MediaPart, images: WireImage[], page: Page): string[] {
  const { losses } = page;
  if (part.text !== undefined) {
    losses.add('document.text', 'emulated', 'A document given as text was sent as text.');
    return [[part.title ?? part.filename, part.context, part.text].filter(Boolean).join('\n')];
  }
  const format = part.kind === 'image' ? formats[(part.mimeType ?? 'image/png').toLowerCase()] : undefined;
  if (format !== undefined && part.data !== undefined) {
    if (part.detail !== undefined && part.detail !== 'auto') losses.add('image.detail', 'dropped', 'How closely an image is looked at is not asked for here.');
    images.push({ format, source: { bytes: part.data } });
    return [];
  }
  losses.add(`messages.${part.kind}`, 'downgraded', 'This wire takes the bytes of common images alone: only a name or address could be told.');
  const described = [part.url ?? part.filename ?? part.title ?? 'left out', part.context].filter(Boolean).join(', ');
  return [`[${part.kind}: ${described}]`];
}

/** Text, calls and the reasoning that led to them. The wire keeps no order among them. */
export function writeAssistant({ parts }: Exchange, page: Page): WireAssistant {
  const texts: string[] = [];
  const calls: ToolCallPart[] = [];
  const thinking: ThinkingPart[] = [];
  for (const part of parts) {
    if ('cache' in part && part.cache) noteCache(page);
    if (part.type === 'text' || part.type === 'refusal') {
      if (calls.length > 0) page.losses.add('messages.order', 'downgraded', 'Text that followed a tool call went before it.');
      texts.push(part.text);
    } else if (part.type === 'tool-call') calls.push(part);
    else if (part.type === 'thinking') thinking.push(part);
    else if (part.type === 'media') {
      page.losses.add(`messages.${part.kind}`, 'downgraded', 'Media in an earlier answer was replaced by a note.');
      texts.push(`[${part.kind}]`);
    }
  }
  const reasoningContent = writeReasoning(thinking, page);
  return {
    content: texts.join(''),
    ...(calls.length > 0 && { toolUses: calls.map((call) => ({ toolUseId: page.ids.get(call) ?? call.id, name: call.name, input: readInput(call, page) })) }),
    ...(reasoningContent && { reasoningContent }),
  };
}

/** The wire takes an object, not its text. */
function readInput(call: ToolCallPart, page: Page): unknown {
  if (call.signature !== undefined) page.losses.add('signature', 'dropped', 'This protocol has no field for a signature on a call.');
  if (call.arguments.trim() === '') return {};
  try {
    const value = asObject(JSON.parse(call.arguments));
    if (value) return value;
  } catch {
    // A call whose arguments were cut: its text is kept as one field.
  }
  page.losses.add('tool_use.input', 'downgraded', 'Arguments that are no JSON object were wrapped as `input`.');
  return { input: call.arguments };
}

/** One place for reasoning: the first thought that may go back. */
function writeReasoning(parts: readonly ThinkingPart[], page: Page): WireAssistant['reasoningContent'] {
  const written = parts.flatMap((part) => writeThought(part, page) ?? []);
  if (written.length > 1) page.losses.add('messages.reasoning', 'downgraded', 'Only the first thought of a turn has a place.');
  return written[0];
}

function writeThought(part: ThinkingPart, page: Page): NonNullable<WireAssistant['reasoningContent']> | undefined {
  const opened = part.signature === undefined ? null : page.context.openSignature(part.signature);
  if (part.signature !== undefined && opened === null)
    page.losses.add('reasoning.signature', 'dropped', 'The signature was issued for another model, upstream or account.');
  if (part.redacted) return opened === null ? undefined : { redactedContent: opened };
  if (opened === null && (page.family.checksSignatures || part.text === '')) {
    page.losses.add('messages.reasoning', 'dropped', 'This model takes reasoning back only with its signature.');
    return undefined;
  }
  return { reasoningText: { text: part.text, ...(opened !== null && { signature: opened }) } };
}
