/** Canonical parts → content blocks, one each, or null when nothing of it can be sent. */
import type { TextPart, ThinkingPart, ToolCallPart, ToolResultPart } from '../../chat/conversation.ts';
import type { Losses } from '../../kit/losses.ts';
import { asObject, type JsonObject } from '../../kit/read.ts';
import { type DocumentNames, writeMedia } from './media.ts';
import type { CloudFamily } from './model-family.ts';
import { writeOpaque } from './opaque.ts';
import type { WireBlock, WireSearchResultBlock, WireTextBlock, WireToolResultBlock } from './wire.ts';

/** Text of nothing but blanks is refused here. */
export function writeText(part: TextPart, losses: Losses): WireTextBlock | WireSearchResultBlock | null {
  if (part.signature !== undefined) losses.add('signature', 'dropped', "another vendor's signature on text is not supported here");
  if (part.phase !== undefined) losses.add('phase', 'dropped', 'has no counterpart');
  if (part.searchResult) {
    const { source, title, content, cite } = part.searchResult;
    return { searchResult: { source, title, content: content.map((text) => ({ text })), citations: { enabled: cite } } };
  }
  return part.text.trim() === '' ? null : { text: part.text };
}

/** `input` is an object on this wire; what is none is wrapped, so that the model still sees it. */
export function writeToolCall(part: ToolCallPart, id: string, losses: Losses): WireBlock {
  if (part.signature !== undefined) losses.add('signature', 'dropped', "another vendor's signature on a tool call is not supported here");
  const input = readInput(part.arguments);
  if (!input) losses.add('tool_use.input', 'downgraded', 'arguments that are no JSON object were wrapped as `input`');
  return { toolUse: { toolUseId: id, name: part.name, input: input ?? { input: part.arguments } } };
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

export function writeToolResult(part: ToolResultPart, id: string, family: CloudFamily, names: DocumentNames, losses: Losses): WireToolResultBlock {
  const content = resultContent(part, names, losses);
  if (content.length === 0) {
    losses.add('tool_result', 'emulated', 'a result without content was given a word, as empty ones are refused');
    content.push({ text: '(no output)' });
  }
  if (part.isError && !family.resultStatus) {
    losses.add('tool_result.is_error', 'emulated', 'this model takes no status: it is described in the text');
    content.unshift({ text: 'The tool reported an error:' });
  }
  return { toolResult: { toolUseId: id, content, ...(part.isError && family.resultStatus && { status: 'error' as const }) } };
}

function resultContent(part: ToolResultPart, names: DocumentNames, losses: Losses): WireToolResultBlock['toolResult']['content'] {
  const json = asObject(part.json);
  if (json && part.content.every(({ type }) => type === 'text')) return [{ json }];
  return part.content.flatMap((inner) => (inner.type === 'text' ? (writeText(inner, losses) ?? []) : writeMedia(inner, names, losses)));
}

/** A result that answers no call would be refused; as text it still informs the model. */
export function writeOrphanResult(part: ToolResultPart, names: DocumentNames, losses: Losses): WireBlock[] {
  losses.add('tool_result', 'downgraded', 'a result without its call was turned into text');
  const content = part.content.flatMap((inner) => (inner.type === 'text' ? (writeText(inner, losses) ?? []) : writeMedia(inner, names, losses)));
  return [{ text: part.name === undefined ? '[tool result]' : `[tool result: ${part.name}]` }, ...content];
}

/** Thinking goes back only with a signature that this upstream and account issued; else it is left out, and never sent as the assistant's words. */
export function writeThinking(part: ThinkingPart, openSignature: (sealed: string) => string | null, losses: Losses): WireBlock | null {
  const signature = part.signature === undefined ? null : openSignature(part.signature);
  if (signature !== null)
    return { reasoningContent: part.redacted ? { redactedContent: writeOpaque(signature) } : { reasoningText: { text: part.text, signature: signature } } };
  if (part.signature !== undefined) losses.add('thinking.signature', 'dropped', 'issued by another model, upstream or account');
  if (part.text.trim() !== '') losses.add('thinking', 'dropped', 'thinking of another model, upstream or account cannot be sent back');
  return null;
}
