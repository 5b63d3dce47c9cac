import type { Conversation, MediaPart, Part, TextPart, ThinkingPart, ToolCallPart, ToolResultPart, Turn } from '../../chat/conversation.ts';
import type { WriteRequestContext } from '../../contract/index.ts';
import { pairCallIds } from '../../kit/call-ids.ts';
import { isBegun } from '../../kit/fit-to-model.ts';
import type { Losses } from '../../kit/losses.ts';
import { shortId } from '../../kit/short-id.ts';
import { supportsPhase } from '../../kit/text-phase.ts';
import { isMultimodal } from './endpoint.ts';
import type { WireCall, WireMessage, WirePart } from './wire.ts';
import { writeMedia } from './write-media.ts';

interface Page {
  multimodal: boolean;
  ids: ReadonlyMap<ToolCallPart | ToolResultPart, string>;
  /** Names of the calls by the id under which they go out: results repeat them, since the oldest models pair by name. */
  names: Map<string, string>;
  losses: Losses;
}

/** The conversation as `input.messages` of the endpoint that the model's kind names. */
export function writeMessages(conversation: Conversation, context: WriteRequestContext, losses: Losses): WireMessage[] {
  const ids = pairCallIds(conversation, { fit: (id) => shortId(id), mint: () => context.mintId('call_') });
  const page: Page = { multimodal: isMultimodal(context.target), ids, names: new Map(), losses };
  const messages: WireMessage[] = [];
  if (conversation.system.length > 0) {
    if (conversation.system.some((part) => part.cache)) noteCache(losses);
    messages.push({ role: 'system', content: writeTexts(conversation.system.map((part) => part.text).join('\n'), page) });
  }
  for (const turn of conversation.turns) messages.push(...writeTurn(turn, page));
  const last = messages.at(-1);
  // Without the mark the model answers anew.
  if (last && isBegun(conversation.turns)) last.partial = true;
  return messages;
}

const noteCache = (losses: Losses): void => losses.add('cache_control', 'dropped', 'This upstream caches prompts by itself.');

const writeTexts = (text: string, page: Page): string | WirePart[] => (page.multimodal ? [{ text }] : text);

function writeTurn(turn: Turn, page: Page): WireMessage[] {
  if (turn.name !== undefined) page.losses.add('messages.name', 'dropped', 'Turns have no names here.');
  if (supportsPhase(turn)) page.losses.add('messages.phase', 'dropped', '`phase` of earlier texts is not supported here.');
  if (turn.role === 'assistant') return writeAssistant(turn, page);
  if (turn.role === 'system') {
    const text = turn.parts.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
    return [{ role: 'system', content: writeTexts(text, page) }];
  }
  return writeUser(turn, page);
}

/** Results must follow their calls at once, so they go first; media they hold, which a `tool` message cannot, opens the user message after them. */
function writeUser(turn: Turn, page: Page): WireMessage[] {
  const messages: WireMessage[] = [];
  const content: (TextPart | MediaPart)[] = [];
  for (const part of turn.parts) {
    if (part.type !== 'tool-result') continue;
    const media = part.content.filter((inner) => inner.type === 'media');
    const id = page.ids.get(part) ?? part.callId;
    const name = part.name ?? page.names.get(id);
    const result = writeTexts(writeResultText(part, media.length, page), page);
    messages.push({ role: 'tool', ...(name !== undefined && { name }), tool_call_id: id, content: result });
    if (media.length > 0) content.push({ type: 'text', text: `Attached to the result of tool call ${id}:` }, ...media);
  }
  for (const part of turn.parts) {
    if (part.type === 'text' || part.type === 'media') content.push(part);
    else if (part.type === 'refusal') content.push({ type: 'text', text: part.text });
  }
  if (content.length > 0 || messages.length === 0) messages.push({ role: 'user', content: writeContent(content, page) });
  return messages;
}

function writeContent(parts: readonly (TextPart | MediaPart)[], page: Page): string | WirePart[] {
  if (parts.some((part) => part.cache)) noteCache(page.losses);
  // An empty text among others would leave a line break behind.
  const shown = parts.filter((part) => part.type !== 'text' || part.text !== '');
  const written = (shown.length > 0 ? shown : parts).map(
    (part): WirePart => (part.type === 'text' ? { text: part.text } : writeMedia(part, page.multimodal, page.losses)),
  );
  if (page.multimodal) return written.length > 0 ? written : [{ text: '' }];
  return written.map((part) => ('text' in part ? part.text : '')).join('\n');
}

function writeResultText(part: ToolResultPart, media: number, page: Page): string {
  const text = part.content.flatMap((inner) => (inner.type === 'text' ? [inner.text] : [])).join('\n');
  if (part.cache) noteCache(page.losses);
  if (media > 0) page.losses.add('tool_result.media', 'emulated', 'Media of a tool result went into the user message after it.');
  const shown = text === '' && media > 0 ? '[The result is attached in the next message.]' : text;
  if (!part.isError) return shown;
  page.losses.add('tool_result.is_error', 'emulated', 'A failed tool result is marked in its text only.');
  return /^error\b/i.test(shown) ? shown : `Error: ${shown}`;
}

function writeAssistant(turn: Turn, page: Page): WireMessage[] {
  const calls: WireCall[] = [];
  const thinking: ThinkingPart[] = [];
  let text = '';
  for (const part of turn.parts) {
    if (part.type === 'tool-call') calls.push(writeCall(part, calls.length, page));
    else if (part.type === 'thinking') thinking.push(part);
    else {
      if (calls.length > 0) page.losses.add('messages.order', 'downgraded', 'Text that followed a tool call went before it.');
      text += textOf(part, page);
    }
  }
  const reasoning = writeReasoningText(thinking, calls.length > 0, page);
  if (text === '' && calls.length === 0) return [];
  return [
    {
      role: 'assistant',
      content: text === '' && page.multimodal ? [] : writeTexts(text, page),
      ...(reasoning !== '' && { reasoning_content: reasoning }),
      ...(calls.length > 0 && { tool_calls: calls }),
    },
  ];
}

function textOf(part: Part, page: Page): string {
  if (part.type === 'text' || part.type === 'refusal') {
    if (part.type === 'text' && part.signature !== undefined) page.losses.add('signature', 'dropped', 'This protocol has no field for a signature.');
    return part.text;
  }
  if (part.type !== 'media') return '';
  page.losses.add(`messages.${part.kind}`, 'downgraded', 'Media in an earlier answer was replaced by a note.');
  return `[${part.kind}]`;
}

/** Reasoning that led to a call goes back with it; elsewhere these models do without. */
function writeReasoningText(parts: readonly ThinkingPart[], hasCalls: boolean, page: Page): string {
  if (parts.some((part) => part.signature !== undefined)) page.losses.add('reasoning.signature', 'dropped', 'This protocol has no field for a signature.');
  const text = parts.map((part) => part.text).join('');
  if (text === '' || hasCalls) return text;
  page.losses.add('messages.reasoning', 'dropped', 'Earlier reasoning goes back with tool calls only.');
  return '';
}

/** Arguments that are not JSON are a 400 here: the model sees them wrapped. */
function writeArguments(given: string, page: Page): string {
  if (given.trim() === '') return '{}';
  try {
    JSON.parse(given);
    return given;
  } catch {
    page.losses.add('messages.tool_calls.arguments', 'downgraded', 'Arguments that are no JSON were wrapped as `input`.');
    return JSON.stringify({ input: given });
  }
}

function writeCall(call: ToolCallPart, index: number, page: Page): WireCall {
  const id = page.ids.get(call) ?? call.id;
  page.names.set(id, call.name);
  if (call.cache) noteCache(page.losses);
  if (call.signature !== undefined) page.losses.add('signature', 'dropped', 'This protocol has no field for a signature.');
  return { index, id, type: 'function', function: { name: call.name, arguments: writeArguments(call.arguments, page) } };
}
