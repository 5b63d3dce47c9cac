import type { ThinkingPart } from '../../chat/conversation.ts';
import type { Target, WriteRequestContext } from '../../contract/index.ts';
import type { Losses } from '../../kit/losses.ts';
import { asArray, asObject, asString, type JsonObject, own } from '../../kit/read.ts';
import type { ChatFamily } from './families.ts';
import type { ReasoningDetail } from './wire.ts';

/** Where vendors put readable reasoning, on a delta as on a message; the first that holds text counts, since some fill two alike. */
export const reasoningFields = ['reasoning_content', 'reasoning', 'reasoning_text'] as const;

/** Readable reasoning of a delta or message, '' when it has none. */
export function readReasoningText(message: unknown): string {
  for (const field of reasoningFields) {
    const text = asString(own(message, field));
    if (text) return text;
  }
  return '';
}

/** One entry of `reasoning_details`, with its signature as one text (see `packSignature`). */
export interface ReadDetail {
  text: string;
  signature: string | undefined;
  /** No readable form exists: the signature is the whole block. */
  sealed: boolean;
  index: unknown;
  /** Which stretch of the readable reasoning it belongs to, when the entry is one of ours. */
  span: [number, number] | undefined;
}

export const readDetails = (message: unknown): ReadDetail[] =>
  (asArray(own(message, 'reasoning_details')) ?? []).flatMap((entry) => {
    const detail = asObject(entry);
    if (!detail) return [];
    const data = asString(own(detail, 'data'));
    const signature = data ?? asString(own(detail, 'signature'));
    return [
      {
        text: asString(own(detail, 'text')) ?? asString(own(detail, 'summary')) ?? '',
        signature: signature ? packSignature(detail, signature) : undefined,
        sealed: data !== undefined,
        index: own(detail, 'index'),
        span: readSpan(own(detail, 'span')),
      },
    ];
  });

function readSpan(value: unknown): [number, number] | undefined {
  const [from, to] = asArray(value) ?? [];
  return typeof from === 'number' && typeof to === 'number' ? [from, to] : undefined;
}

/** Fields that an aggregator requires back with the signature. */
const companions = ['format', 'id'] as const;

/** The signature as one opaque text. An entry with companion fields is kept as JSON, so that it can be given back exactly. */
function packSignature(detail: JsonObject, signature: string): string {
  if (companions.every((field) => own(detail, field) === undefined) || own(detail, 'format') === 'unknown') return signature;
  const { text: _text, summary: _summary, index: _index, span: _span, ...rest } = detail;
  return JSON.stringify(rest);
}

/** The entry of `reasoning_details` that returns an opened signature to the upstream that issued it. */
function unpackSignature(opened: string, part: ThinkingPart, index: number): unknown {
  if (opened.startsWith('{')) {
    const kept = parseObject(opened);
    if (kept) return { ...kept, ...(part.redacted ? {} : { text: part.text }), index };
  }
  return part.redacted
    ? ({ type: 'reasoning.encrypted', data: opened, index } satisfies ReasoningDetail)
    : ({ type: 'reasoning.text', text: part.text, signature: opened, index } satisfies ReasoningDetail);
}

function parseObject(text: string): JsonObject | undefined {
  try {
    return asObject(JSON.parse(text));
  } catch {
    // Not one of our packed entries: the whole text is the signature.
    return undefined;
  }
}

/** Earlier reasoning in a caller's assistant message. Signatures stay sealed. */
export function readThinking(message: unknown): ThinkingPart[] {
  const parts: ThinkingPart[] = [];
  let lastIndex: unknown;
  const details = readDetails(message);
  const readable = readReasoningText(message);
  const cut = readable === '' ? null : cutBySpans(readable, details);
  if (cut) return cut;
  for (const detail of details) {
    const last = parts.at(-1);
    // A client that only collects deltas sends the fragments of one block as entries with one index.
    if (last && !last.redacted && !detail.sealed && last.signature === undefined && detail.index !== undefined && detail.index === lastIndex) {
      last.text += detail.text;
      if (detail.signature !== undefined) last.signature = detail.signature;
    } else {
      parts.push({
        type: 'thinking',
        text: detail.sealed ? '' : detail.text,
        ...(detail.signature !== undefined && { signature: detail.signature }),
        ...(detail.sealed && { redacted: true }),
      });
    }
    lastIndex = detail.index;
  }
  if (readable === '' || parts.some((part) => part.text !== '')) return parts;
  const bearer = parts.find((part) => !part.redacted);
  if (bearer) bearer.text = readable;
  else parts.unshift({ type: 'thinking', text: readable });
  return parts;
}

/** The readable text cut at the spans of our own entries; stretches between them had no signature. null when the spans do not fit the text. */
function cutBySpans(readable: string, details: readonly ReadDetail[]): ThinkingPart[] | null {
  if (!details.some((detail) => detail.span)) return null;
  const parts: ThinkingPart[] = [];
  let at = 0;
  for (const { span, sealed, text, signature } of details) {
    if (sealed && signature !== undefined) {
      parts.push({ type: 'thinking', text: '', signature: signature, redacted: true });
      continue;
    }
    if (!span || text !== '' || span[0] < at || span[1] < span[0] || span[1] > readable.length) return null;
    if (span[0] > at) parts.push({ type: 'thinking', text: readable.slice(at, span[0]) });
    parts.push({ type: 'thinking', text: readable.slice(span[0], span[1]), ...(signature !== undefined && { signature: signature }) });
    at = span[1];
  }
  if (at < readable.length) parts.push({ type: 'thinking', text: readable.slice(at) });
  return parts;
}

/** The tags between which some models and servers put reasoning in front of the text. */
export const thinkingTag = 'think';

/** Bedrock has a tag of its own for the reasoning of OpenAI's open models (https://github.com/promptfoo/promptfoo/pull/9587), which nobody else names so. */
export const leadingTagOf = ({ modelId = '', upstreamModelId }: Pick<Target, 'modelId' | 'upstreamModelId'>): string =>
  [modelId, upstreamModelId].some((id) => /(?:^|[./])openai\.gpt-oss/i.test(id)) ? 'reasoning' : thinkingTag;

/** Earlier reasoning in front of an assistant's text, for a family that wants it back there; '' elsewhere. */
export function writeTagged(parts: readonly ThinkingPart[], family: ChatFamily): string {
  const text = parts.map((part) => part.text).join('');
  return family.replaysReasoning === 'tags' && text !== '' ? `<${thinkingTag}>\n${text}\n</${thinkingTag}>\n\n` : '';
}

/** What stands for reasoning that is not known, where a vendor refuses a call without any; the empty text counts as none there. */
export const blankReasoning = ' ';

/** The fields of an upstream's assistant message for earlier reasoning: signatures that this attempt can open, and text where the family needs it. */
export function writeThinking(
  parts: readonly ThinkingPart[],
  context: {
    open: WriteRequestContext['openSignature'];
    family: ChatFamily;
    hasCalls: boolean;
    /** The vendor refuses a call without its reasoning, or any message where it has just said so. */
    demanded: 'none' | 'with-calls' | 'all';
    losses: Losses;
  },
): { reasoning_content?: string; reasoning_details?: unknown[] } {
  const details: unknown[] = [];
  for (const part of parts) {
    if (part.signature === undefined) continue;
    const opened = context.open(part.signature);
    if (opened === null) context.losses.add('reasoning.signature', 'dropped', 'The signature was issued for another model, upstream or account.');
    else details.push(unpackSignature(opened, part, details.length));
  }
  const known = parts.map((part) => part.text).join('');
  const demanded = context.demanded === 'all' || (context.demanded === 'with-calls' && context.hasCalls);
  const filled = known === '' && demanded && details.length === 0;
  if (filled) context.losses.add('messages.reasoning', 'emulated', 'The vendor demands reasoning with each call; where none is known, a blank was sent.');
  const text = filled ? blankReasoning : known;
  const replays = demanded || context.family.replaysReasoning === 'always' || (context.family.replaysReasoning === 'with-calls' && context.hasCalls);
  if (text !== '' && !replays && context.family.replaysReasoning !== 'tags' && details.length === 0)
    context.losses.add('messages.reasoning', 'dropped', 'This model does not take earlier reasoning back.');
  return { ...(text !== '' && replays && { reasoning_content: text }), ...(details.length > 0 && { reasoning_details: details }) };
}
