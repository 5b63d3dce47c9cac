/** One content block of a reply that came at once. */
import type { BlockStart, ChatEvent } from '../../chat/event.ts';
import { asArray, asObject, asString, own } from '../../kit/read.ts';
import { readOpaque } from './opaque.ts';

type Delta = Extract<ChatEvent, { index: number }>;
/** Content block of a whole reply, as the events of a stream. */
export interface WholeBlock {
  block: BlockStart;
  /** What it says, without its number. */
  deltas: (Delta extends infer One ? (One extends { index: number } ? Omit<One, 'index'> : never) : never)[];
}

/** A tool that the host ran itself, and what it gave. */
export const isServerBlock = (block: unknown): boolean => {
  const type = asString(own(block, 'type'));
  return type !== undefined && type !== 'tool_use';
};

/** null for a block that says nothing. What only this host knows is kept raw. */
export function readWholeBlock(value: unknown): WholeBlock | null {
  const text = asString(own(value, 'text'));
  if (text !== undefined) return { block: { type: 'text' }, deltas: [{ type: 'text-delta', text }] };
  const call = own(value, 'toolUse');
  if (call !== undefined && !isServerBlock(call)) {
    const input = own(call, 'input');
    const block: BlockStart = { type: 'tool-call', id: asString(own(call, 'toolUseId')) ?? '', name: asString(own(call, 'name')) ?? '' };
    return { block, deltas: input === undefined ? [] : [{ type: 'arguments-delta', text: typeof input === 'string' ? input : JSON.stringify(input) }] };
  }
  const reasoning = own(value, 'reasoningContent');
  if (reasoning !== undefined) return readReasoning(reasoning);
  const cited = own(value, 'citationsContent');
  if (cited !== undefined) return readCited(cited);
  return asObject(value) ? { block: { type: 'raw', protocol: 'cloudhost_converse', value }, deltas: [] } : null;
}

function readReasoning(reasoning: unknown): WholeBlock {
  const redacted = asString(own(reasoning, 'redactedContent'));
  if (redacted !== undefined) return { block: { type: 'redacted-thinking', data: readOpaque([redacted]) }, deltas: [] };
  const readable = own(reasoning, 'reasoningText');
  const signature = asString(own(readable, 'signature'));
  return {
    block: { type: 'thinking' },
    deltas: [
      { type: 'thinking-delta', text: asString(own(readable, 'text')) ?? '' },
      ...(signature === undefined || signature === '' ? [] : [{ type: 'signature' as const, signature }]),
    ],
  };
}

function readCited(cited: unknown): WholeBlock {
  const text = (asArray(own(cited, 'content')) ?? []).map((part) => asString(own(part, 'text')) ?? '').join('');
  const citations = asArray(own(cited, 'citations')) ?? [];
  return {
    block: { type: 'text' },
    deltas: [{ type: 'text-delta', text }, ...citations.map((citation) => ({ type: 'raw-delta' as const, value: { citation } }))],
  };
}
