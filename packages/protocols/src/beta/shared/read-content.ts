/** Content blocks of a caller's request → canonical parts. Known shapes are checked by name; unknown kinds are declared and left out. */
import type { MediaPart, Part, TextPart, ThinkingPart, ToolCallPart, ToolResultPart } from '../../chat/conversation.ts';
import { invalid } from '../../kit/fail.ts';
import { type Losses, noPlace } from '../../kit/losses.ts';
import { asArray, asObject, asString, type JsonObject, own } from '../../kit/read.ts';
import { readSignature } from '../../kit/signature-mark.ts';
import { readCache } from './cache-mark.ts';
import { describeReference } from './deferred-tools.ts';
import { describeServerTool, isServerResult } from './server-tools.ts';

/** A message's `content`: a string, or a list of blocks. */
export function readContent(value: unknown, path: string, role: string, losses: Losses): Part[] {
  const text = asString(value);
  if (text !== undefined) return [{ type: 'text', text }];
  const signatures = new Map<string, string>();
  const parts = readBlocks(value, path).flatMap((block, place) =>
    takeCallSignature(block, signatures) ? [] : readBlock(block, `${path}.${place}`, role, losses),
  );
  if (signatures.size > 0)
    for (const part of parts) if (part.type === 'tool-call' && signatures.has(part.id)) part.signature = signatures.get(part.id) as string;
  return parts;
}

/** Whether the block is one of ours that only holds a call's signature (see `write-response.ts`), which is then stored by the call's id. */
function takeCallSignature(block: JsonObject, signatures: Map<string, string>): boolean {
  if (own(block, 'type') !== 'thinking' || own(block, 'thinking') !== '') return false;
  const { owner, sealed } = readSignature(asString(own(block, 'signature')) ?? '');
  if (owner.kind !== 'call') return false;
  signatures.set(owner.callId, sealed);
  return true;
}

function readBlocks(value: unknown, path: string): JsonObject[] {
  const list = asArray(value);
  if (!list) throw invalid(path, `${path}: must be a string or a list of content blocks`);
  return list.map((entry, place) => {
    const block = asObject(entry);
    if (!block) throw invalid(`${path}.${place}`, `${path}.${place}: must be an object`);
    return block;
  });
}

type BlockReader = (block: JsonObject, path: string, losses: Losses) => Part[];

const readers: ReadonlyMap<string, BlockReader> = new Map<string, BlockReader>([
  ['text', (block, path, losses) => [readText(block, path, losses)]],
  ['image', (block, path, losses) => [readImage(block, path, losses)]],
  ['document', (block, path, losses) => [readDocument(block, path, losses)]],
  ['tool_reference', (block) => [{ type: 'text', text: describeReference(block) }]],
  ['search_result', (block, path, losses) => [readSearchResult(block, path, losses)]],
  ['tool_use', (block, path, losses) => [readToolUse(block, path, losses)]],
  ['tool_result', (block, path, losses) => [readToolResult(block, path, losses)]],
  ['thinking', (block, path) => [readThinking(block, path)]],
  ['redacted_thinking', (block, path) => [readRedacted(block, path)]],
]);

/** Blocks that only one side may write; in the other's turn they are a mistake that no upstream forgives. */
const roleOf: ReadonlyMap<string, string> = new Map([
  ['tool_use', 'assistant'],
  ['thinking', 'assistant'],
  ['redacted_thinking', 'assistant'],
  ['tool_result', 'user'],
]);

function readBlock(block: JsonObject, path: string, role: string, losses: Losses): Part[] {
  const type = asString(own(block, 'type'));
  if (type === undefined) throw invalid(`${path}.type`, `${path}.type: Field required`);
  const owner = roleOf.get(type);
  if (owner !== undefined && owner !== role) throw invalid(path, `${path}: \`${type}\` blocks can only be in \`${owner}\` messages`);
  const reader = readers.get(type);
  if (reader) return reader(block, path, losses);
  const described = describeServerTool(block, type);
  if (described !== null) {
    losses.add('content.server_tools', 'downgraded', 'what a tool of the vendor was asked, and what it found, was turned into text');
    return described === '' ? [] : [{ type: 'text', text: described, ...(isServerResult(type) && { found: true }) }];
  }
  losses.dropped(path, 'a block that only its own vendor understands');
  return [];
}

function requireString(block: JsonObject, key: string, path: string): string {
  const value = asString(own(block, key));
  if (value === undefined) throw invalid(`${path}.${key}`, `${path}.${key}: must be a string`);
  return value;
}

function readText(block: JsonObject, path: string, losses: Losses): TextPart {
  if ((asArray(own(block, 'citations'))?.length ?? 0) > 0) losses.dropped('citations', 'citations of earlier replies are not replayed');
  return { type: 'text', text: requireString(block, 'text', path), ...readCache(block) };
}

/** Where an image's or a document's bytes are. */
function readSource(block: JsonObject, path: string): Pick<MediaPart, 'mimeType' | 'data' | 'url' | 'fileId' | 'text'> {
  const source = asObject(own(block, 'source'));
  const at = `${path}.source`;
  if (!source) throw invalid(at, `${at}: must be an object`);
  const type = asString(own(source, 'type'));
  if (type === 'base64') return { mimeType: requireString(source, 'media_type', at), data: requireString(source, 'data', at) };
  if (type === 'url') return { url: requireString(source, 'url', at) };
  if (type === 'file') return { fileId: requireString(source, 'file_id', at) };
  if (type === 'text') return { mimeType: 'text/plain', text: requireString(source, 'data', at) };
  if (type === 'content') return { mimeType: 'text/plain', text: plainText(own(source, 'content')) };
  throw invalid(`${at}.type`, `${at}.type: must be one of base64, url, file, text, content`);
}

function readImage(block: JsonObject, path: string, losses: Losses): MediaPart {
  // Else an image that is too large is made smaller, as other vendors do.
  if (own(own(block, 'transformations'), 'oversized_image') === 'error') losses.dropped('content.transformations', noPlace);
  return { type: 'media', kind: 'image', ...readSource(block, path), ...readCache(block) };
}

function readDocument(block: JsonObject, path: string, losses: Losses): MediaPart {
  const cite = own(own(block, 'citations'), 'enabled') === true;
  const title = asString(own(block, 'title'));
  const context = asString(own(block, 'context'));
  const inner = asArray(own(own(block, 'source'), 'content'));
  if (cite && inner) losses.add('citations', 'downgraded', 'a document in blocks becomes one text: its characters are cited, not its blocks');
  if (inner?.some((entry) => own(entry, 'type') !== 'text')) losses.dropped(`${path}.source.content`, 'only the text of a document in blocks is kept');
  return {
    type: 'media',
    kind: 'document',
    ...readSource(block, path),
    ...(title !== undefined && { title }),
    ...(context !== undefined && { context }),
    ...(cite && { cite }),
    ...readCache(block),
  };
}

/** The text of a string or of a list of text blocks. */
function plainText(content: unknown): string {
  const texts = asArray(content)?.map((entry) => asString(own(entry, 'text')) ?? '');
  return asString(content) ?? texts?.join('\n') ?? '';
}

/** A citable text block, with the plain text that stands for it, its source included, where it cannot be sent as such. */
function readSearchResult(block: JsonObject, path: string, losses: Losses): TextPart {
  const [title = '', source = ''] = [own(block, 'title'), own(block, 'source')].map(asString);
  const text = [...[title, source].filter((line) => line !== ''), plainText(own(block, 'content'))].join('\n');
  const content = (asArray(own(block, 'content')) ?? []).map((entry) => asString(own(entry, 'text')) ?? '');
  const isWhole = [title, source, ...content].every((each) => each.trim() !== '') && content.length > 0;
  if (!isWhole) losses.add(path, 'downgraded', 'a search result was turned into text');
  const cite = own(own(block, 'citations'), 'enabled') === true;
  return { type: 'text', text, ...(isWhole && { searchResult: { source, title, content, cite } }), ...readCache(block) };
}

function readToolUse(block: JsonObject, path: string, losses: Losses): ToolCallPart {
  const caller = asString(own(own(block, 'caller'), 'type'));
  if (caller !== undefined && caller !== 'direct') losses.dropped('tool_use.caller', 'calls made by the vendor’s code execution are shown as the model’s own');
  if (own(block, 'toolset_name') !== undefined) losses.dropped('tool_use.toolset_name', 'toolsets exist at their own vendor alone');
  const input = own(block, 'input');
  return {
    type: 'tool-call',
    id: requireString(block, 'id', path),
    name: requireString(block, 'name', path),
    arguments: input === undefined ? '{}' : JSON.stringify(input),
    ...readCache(block),
  };
}

function readToolResult(block: JsonObject, path: string, losses: Losses): ToolResultPart {
  const content = own(block, 'content');
  const parts = content === undefined ? [] : readContent(content, `${path}.content`, 'tool', losses);
  return {
    type: 'tool-result',
    callId: requireString(block, 'tool_use_id', path),
    content: parts.filter((part): part is TextPart | MediaPart => part.type === 'text' || part.type === 'media'),
    ...(own(block, 'is_error') === true && { isError: true }),
    ...readCache(block),
  };
}

function readThinking(block: JsonObject, path: string): ThinkingPart {
  const signature = asString(own(block, 'signature'));
  return { type: 'thinking', text: requireString(block, 'thinking', path), ...(signature !== undefined && signature !== '' && { signature }) };
}

const readRedacted = (block: JsonObject, path: string): ThinkingPart => ({
  type: 'thinking',
  text: '',
  redacted: true,
  signature: requireString(block, 'data', path),
});
