import type { Conversation, MediaPart, Part, TextPart, ThinkingPart, ToolCallPart, ToolResultPart, Turn } from '../../chat/conversation.ts';
import type { WriteRequestContext } from '../../contract/index.ts';
import { pairCallIds } from '../../kit/call-ids.ts';
import { isBegun } from '../../kit/fit-to-model.ts';
import type { Losses } from '../../kit/losses.ts';
import { unpackReasoning } from '../../kit/reasoning-note.ts';
import { nineCharacterId, shortId } from '../../kit/short-id.ts';
import { wrapArguments } from '../shared/broken-arguments.ts';
import { writeBreakpoint } from '../shared/cache-breakpoints.ts';
import type { ChatFamily } from '../shared/families.ts';
import { thinksAbout } from '../shared/reasoning.ts';
import { absentSignature, writeSignature } from '../shared/signatures.ts';
import { writeTagged, writeThinking } from '../shared/thinking.ts';
import type { WireRequestMessage, WireToolCall } from '../shared/wire.ts';
import { writeMedia } from './write-media.ts';

interface Page {
  context: WriteRequestContext;
  family: ChatFamily;
  ids: ReadonlyMap<ToolCallPart | ToolResultPart, string>;
  losses: Losses;
  /** The model thinks about this request. */
  thinks: boolean;
}

/** The conversation's text, media, calls and results as `messages`. */
export function writeMessages(conversation: Conversation, context: WriteRequestContext, family: ChatFamily, losses: Losses): WireRequestMessage[] {
  const fit = family.nineCharacterIds ? nineCharacterId : (id: string) => shortId(id);
  const ids = pairCallIds(conversation, { fit, mint: () => fit(context.mintId('call_')) });
  const page: Page = { context, family, ids, losses, thinks: thinksAbout(conversation.reasoning, family) };
  const messages: WireRequestMessage[] = [];
  if (conversation.system.length > 0) {
    const parts: TextPart[] = conversation.system.map((part) => ({ type: 'text', ...part }));
    // A list is refused here by some vendors, and a second system message by some prompt templates.
    const apart = family.cacheControl || (family.cacheBreakpoints && parts.some((part) => part.cache));
    const joined: TextPart[] = apart ? parts : [{ ...parts[0], type: 'text', text: parts.map((part) => part.text).join('\n') }];
    if (!apart && parts.some((part) => part.cache)) losses.add('cache_control', 'dropped', 'This upstream caches prompts by itself.');
    messages.push({ role: 'system', content: writeTexts(joined, page) });
  }
  for (const turn of conversation.turns) messages.push(...writeTurn(turn, page));
  const last = messages.at(-1);
  if (last && family.begunReply !== null && isBegun(conversation.turns)) last[family.begunReply] = true;
  return messages;
}

function writeTurn(turn: Turn, page: Page): WireRequestMessage[] {
  if (turn.role === 'assistant') return writeAssistant(turn, page);
  const name = turn.name === undefined ? {} : { name: turn.name };
  if (turn.role === 'system' && page.family.laterSystem) return [{ role: 'system', content: writeTexts(textsOf(turn.parts), page), ...name }];
  if (turn.role === 'system') {
    page.losses.add('messages.system', 'emulated', 'System text between turns was said by the user.');
    return [
      {
        role: 'user',
        content: textsOf(turn.parts)
          .map((part) => `<system>\n${part.text}\n</system>`)
          .join('\n\n'),
      },
    ];
  }
  return writeUser(turn, page, name);
}

const textsOf = (parts: readonly Part[]): TextPart[] => parts.filter((part) => part.type === 'text');

/** One text as a string, which every vendor takes; several as parts, so that their borders and cache marks stay. */
function writeTexts(parts: readonly TextPart[], page: Page): unknown {
  const marked = parts.some((part) => part.cache);
  if (parts.length > 1 || (marked && takesMarks(page.family))) return parts.map((part) => writeText(part, page));
  if (marked) page.losses.add('cache_control', 'dropped', 'This upstream caches prompts by itself.');
  return parts[0]?.text ?? '';
}

const writeText = (part: TextPart, page: Page) => ({ type: 'text', text: part.text, ...writeCache(part, page) });

const takesMarks = (family: ChatFamily): boolean => family.cacheControl || family.cacheBreakpoints;

function writeCache(part: TextPart | MediaPart, page: Page): object {
  if (!part.cache) return {};
  if (page.family.cacheControl) return { cache_control: { type: 'ephemeral', ...(part.cache.ttl && { ttl: part.cache.ttl }) } };
  if (page.family.cacheBreakpoints) return writeBreakpoint(part.cache);
  page.losses.add('cache_control', 'dropped', 'This upstream caches prompts by itself.');
  return {};
}

/** Results must follow their calls at once, so they go first; media they hold, which a `tool` message cannot, opens the user message after them. */
function writeUser(turn: Turn, page: Page, name: { name?: string }): WireRequestMessage[] {
  const messages: WireRequestMessage[] = [];
  const content: (TextPart | MediaPart)[] = [];
  for (const part of turn.parts) {
    if (part.type !== 'tool-result') continue;
    const media = part.content.filter((inner) => inner.type === 'media');
    messages.push({ role: 'tool', tool_call_id: page.ids.get(part) ?? part.callId, content: writeResult(part, media.length, page) });
    if (media.length > 0) content.push({ type: 'text', text: `Attached to the result of tool call ${page.ids.get(part) ?? part.callId}:` }, ...media);
  }
  for (const part of turn.parts) {
    if (part.type === 'text' || part.type === 'media') content.push(part);
    else if (part.type === 'refusal') content.push({ type: 'text', text: part.text });
  }
  // A user turn of nothing but results needs no message of its own.
  if (content.length > 0 || messages.length === 0) messages.push({ role: 'user', content: writeContent(content, page), ...name });
  return messages;
}

function writeContent(parts: readonly (TextPart | MediaPart)[], page: Page): unknown {
  const texts = textsOf(parts);
  if (texts.length === parts.length) return writeTexts(texts, page);
  return parts.map((part) =>
    part.type === 'text' ? writeText(part, page) : { ...(writeMedia(part, page.family, page.losses) as object), ...writeCache(part, page) },
  );
}

/** A result is a string, or a part where it carries a breakpoint: agents mark the last result of a turn. */
function writeResult(part: ToolResultPart, media: number, page: Page): unknown {
  const text = writeResultText(part, media, page);
  const mark = part.cache ?? textsOf(part.content).findLast(({ cache }) => cache !== undefined)?.cache;
  if (mark && (!page.family.cacheBreakpoints || text === '')) page.losses.add('cache_control', 'dropped', 'The result of a call carries no cache mark here.');
  if (!mark || !page.family.cacheBreakpoints || text === '') return text;
  return [{ type: 'text', text, ...writeBreakpoint(mark) }];
}

function writeResultText(part: ToolResultPart, media: number, page: Page): string {
  const texts = textsOf(part.content);
  if (texts.length > 1) page.losses.add('tool_result.content', 'downgraded', 'The texts of one result were joined.');
  const joined = texts.map((text) => text.text).join('\n');
  if (media > 0) page.losses.add('tool_result.media', 'emulated', 'Media of a tool result went into the user message after it.');
  const text = joined === '' && media > 0 ? '[The result is attached in the next message.]' : joined;
  if (!part.isError) return text;
  page.losses.add('tool_result.is_error', 'emulated', 'A failed tool result is marked in its text only.');
  return /^error\b/i.test(text) ? text : `Error: ${text}`;
}

function writeAssistant(turn: Turn, page: Page): WireRequestMessage[] {
  const texts: TextPart[] = [];
  const thinking: ThinkingPart[] = [];
  const calls: ToolCallPart[] = [];
  let refusal = '';
  for (const part of turn.parts) {
    if (part.type === 'text') {
      if (part.phase !== undefined) page.losses.add('messages.phase', 'dropped', '`phase` of earlier texts is not supported here.');
      if (calls.length > 0) page.losses.add('messages.order', 'downgraded', 'Text that followed a tool call went before it.');
      texts.push(part);
    } else if (part.type === 'thinking') thinking.push(part);
    else if (part.type === 'tool-call') calls.push(part);
    else if (part.type === 'refusal' && page.family.onlyFields) {
      page.losses.add('messages.refusal', 'renamed', 'Sent as text.');
      texts.push({ type: 'text', text: part.text });
    } else if (part.type === 'refusal') refusal += part.text;
    else if (part.type === 'media') texts.push(describeMedia(part, page));
  }
  const signatures = calls.map((call) => openSignature(call.signature, page));
  // Reasoning that came sealed on a call, from a caller whose protocol keeps it nowhere else.
  const noted = signatures.flatMap((signature) => (signature === null ? [] : (unpackReasoning(signature) ?? [])));
  if (noted.length > 0 && thinking.every((part) => part.text === '')) thinking.push({ type: 'thinking', text: noted.join('') });
  const tagged = writeTagged(thinking, page.family);
  if (tagged !== '') texts[0] = { ...texts[0], type: 'text', text: tagged + (texts[0]?.text ?? '') };
  const message: WireRequestMessage = {
    role: 'assistant',
    content: texts.length === 0 ? (calls.length > 0 || refusal !== '' ? null : '') : writeTexts(texts, page),
    ...(turn.name !== undefined && { name: turn.name }),
    ...(refusal !== '' && { refusal }),
    ...writeThinking(thinking, {
      open: page.context.openSignature,
      family: page.family,
      hasCalls: calls.length > 0,
      demanded: page.context.signaturesRefused?.about === 'reasoning' ? 'all' : page.thinks && page.family.demandsReasoning !== 'never' ? 'with-calls' : 'none',
      losses: page.losses,
    }),
    ...(calls.length > 0 && { tool_calls: calls.map((call, index) => writeCall(call, index, signatures[index] ?? null, page)) }),
    ...writeTextSignature(texts, page),
  };
  // A turn of which nothing is left (reasoning that may not go back) would be an empty message, which some vendors refuse.
  const { role: _role, content, ...rest } = message;
  return (content === '' || content === null) && Object.keys(rest).length === 0 ? [] : [message];
}

function describeMedia(part: MediaPart, page: Page): TextPart {
  page.losses.add(`messages.${part.kind}`, 'downgraded', 'Media in an earlier answer was replaced by a note.');
  return { type: 'text', text: `[${part.kind}]` };
}

/** A message has one field for a signature; it gets that of the last text that has one. */
function writeTextSignature(texts: readonly TextPart[], page: Page): object {
  const signed = texts.filter((part) => part.signature !== undefined);
  if (signed.length > 1) page.losses.add('text.signature', 'dropped', 'Only the last signature on text can be sent.');
  const opened = openSignature(signed.at(-1)?.signature, page);
  return opened === null ? {} : writeSignature(opened);
}

function openSignature(signature: string | undefined, page: Page): string | null {
  // The placeholder is not a signature: models that need it get it anyway, and others do not know the field.
  if (signature === undefined || signature === absentSignature) return null;
  const opened = page.context.openSignature(signature);
  if (opened === null) page.losses.add('signature', 'dropped', 'The signature was issued for another model, upstream or account.');
  return opened;
}

/** Families that check signatures want one on the first call of a step; the vendor's placeholder value satisfies them. */
function writeCall(call: ToolCallPart, position: number, opened: string | null, page: Page): WireToolCall {
  const own = opened !== null && unpackReasoning(opened) === null ? opened : null;
  const demanded = page.family.needsCallSignature || page.context.signaturesRefused?.about === 'call-signature';
  const signature = own ?? (demanded && position === 0 ? absentSignature : null);
  const id = page.ids.get(call) ?? call.id;
  const extra = signature === null ? {} : writeSignature(signature);
  if (call.cache) page.losses.add('cache_control', 'dropped', 'A call carries no cache mark here.');
  const given = page.family.jsonArguments ? wrapArguments(call.arguments, page.losses) : call.arguments;
  if (call.custom) return { id, type: 'custom', custom: { name: call.name, input: call.arguments }, ...extra };
  return { id, type: 'function', function: { name: call.name, arguments: given.trim() === '' ? '{}' : given }, ...extra };
}
