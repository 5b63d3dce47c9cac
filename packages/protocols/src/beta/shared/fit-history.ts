/**
 * What the vendor's own models refuse in the order of messages, changed in bytes that pass: calls without results, which an interrupted agent leaves
 * behind, and system turns where the model's generation takes none. Each change is declared.
 */
import type { Edit } from '@model-gateway/json-bytes';
import type { VerbatimRequestContext } from '../../contract/index.ts';
import { familyOf } from '../../kit/family.ts';
import type { Losses } from '../../kit/losses.ts';
import { asArray, asString, type JsonObject, own } from '../../kit/read.ts';
import { isOwnModel } from './model-family.ts';
import type { WireBlock } from './wire.ts';

/** As serialisers print it; a body is parsed when it holds either. */
const systemTurns = ['"role":"system"', '"role": "system"'] as const;

/** Whether system turns in this body have to become something else. */
export function mayHoldRefusedTurns(context: VerbatimRequestContext): boolean {
  const family = familyOf(context.target);
  return isOwnModel(family) && !family.systemTurns && systemTurns.some((text) => context.contains(text));
}

/** The results that stand for those that nobody recorded, in the words that translated requests have. */
export const absentResult = (id: string): WireBlock =>
  ({ type: 'tool_result', tool_use_id: id, content: [{ type: 'text', text: 'No result was recorded.' }], is_error: true }) as WireBlock;

/** Edits of `messages` alone; [] for models of other vendors, of which it is not known what they refuse. */
export function historyEdits(messages: readonly unknown[], context: VerbatimRequestContext, losses: Losses): Edit[] {
  const family = familyOf(context.target);
  if (!isOwnModel(family)) return [];
  const edits: Edit[] = [];
  /** Calls of the assistant's turn, which no result has answered so far. */
  let open = new Set<string>();
  /** System text that came between calls and their results: it goes behind these. */
  let held: unknown[] = [];
  messages.forEach((message, at) => {
    const role = own(message, 'role');
    if (role === 'assistant') for (const id of idsOf(message, 'tool_use', 'id')) open.add(id);
    else if (role === 'system' && !family.systemTurns) {
      const blocks = systemBlocks(message as JsonObject, messages.slice(at + 1), losses);
      const waits = open.size > 0;
      if (waits) held = [...held, ...blocks];
      edits.push({ path: ['messages', at], value: waits || blocks.length === 0 ? undefined : { role: 'user', content: blocks } });
    } else if (role === 'user') {
      // Turns of the user that follow one another are one to the vendor.
      for (let next = at; own(messages[next], 'role') === 'user'; next++) for (const id of idsOf(messages[next], 'tool_result', 'tool_use_id')) open.delete(id);
      edits.push(...around(message, at, [...open].map(absentResult), held));
      if (open.size > 0) declareAbsent(losses);
      open = new Set();
      held = [];
    }
  });
  const owed = [...[...open].map(absentResult), ...held];
  if (open.size > 0) declareAbsent(losses);
  if (owed.length > 0) edits.push({ path: ['messages', messages.length], value: { role: 'user', content: owed }, insert: true });
  return edits;
}

const declareAbsent = (losses: Losses): void => losses.add('tool_result', 'emulated', 'a call without a result was answered with an error');

function idsOf(message: unknown, type: string, key: string): string[] {
  return (asArray(own(message, 'content')) ?? []).flatMap((block) => (own(block, 'type') === type ? (asString(own(block, key)) ?? []) : []));
}

/** Puts blocks before and behind what a turn says. */
function around(message: unknown, at: number, before: readonly unknown[], behind: readonly unknown[]): Edit[] {
  if (before.length === 0 && behind.length === 0) return [];
  const path = ['messages', at, 'content'];
  const content = own(message, 'content');
  const blocks = asArray(content);
  if (blocks)
    return [
      ...before.map((value): Edit => ({ path: [...path, 0], value, insert: true })),
      ...behind.map((value): Edit => ({ path: [...path, blocks.length], value, insert: true })),
    ];
  const text = asString(content) ?? '';
  return [{ path, value: [...before, ...(text.trim() === '' ? [] : [{ type: 'text', text }]), ...behind] }];
}

/** A system turn as blocks of the user's. One that is shown for one turn alone is left out once that turn is over, as the vendor does. */
function systemBlocks(message: JsonObject, later: readonly unknown[], losses: Losses): unknown[] {
  if (own(message, 'clear_at') === 'next_user_message' && later.some((next) => own(next, 'role') === 'user')) return [];
  const content = own(message, 'content');
  const text = asString(content);
  const blocks = text === undefined ? (asArray(content) ?? []) : [{ type: 'text', text }];
  const kept = blocks.filter((block) => own(block, 'type') === 'text' && (asString(own(block, 'text')) ?? '').trim() !== '') as JsonObject[];
  if (kept.length > 0) losses.add('system', 'downgraded', 'system text between turns was sent in the user turn');
  if (blocks.some((block) => own(block, 'type') !== 'text')) losses.dropped('messages.tool_changes', 'this model takes no changes of tools between turns');
  if (own(message, 'output_config') !== undefined) losses.dropped('messages.output_config', 'this model takes no settings between turns');
  return kept.map((block) => ({ ...block, text: `<system>\n${asString(own(block, 'text'))}\n</system>` }));
}
