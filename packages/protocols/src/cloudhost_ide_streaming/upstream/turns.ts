/** The turns of a conversation as this wire wants them: strictly alternating, a user first and a user last. */
import type { Conversation, Part, Turn } from '../../chat/conversation.ts';
import type { Losses } from '../../kit/losses.ts';
import { supportsPhase } from '../../kit/text-phase.ts';

/** Adjacent turns of one role, merged into one. */
export interface Exchange {
  role: 'user' | 'assistant';
  parts: Part[];
}

/** Text of the turns inserted where the wire demands a turn that the caller did not send. */
const filler: Readonly<Record<Exchange['role'], string>> = { user: 'Continue.', assistant: 'I will follow these instructions.' };

const say = (text: string): Part => ({ type: 'text', text });

/** System text opens the history as a user's turn with an answer of its own, as the service's own clients do. */
export function alternate(conversation: Conversation, words: readonly string[], losses: Losses): { history: Exchange[]; current: Exchange } {
  const exchanges: Exchange[] = [];
  const system = [...conversation.system.map((part) => part.text), ...words].join('\n\n');
  if (system !== '') {
    losses.add('system', 'emulated', 'System text opens the conversation as a turn of the user.');
    exchanges.push({ role: 'user', parts: [say(system)] }, { role: 'assistant', parts: [say(filler.assistant)] });
  }
  for (const turn of conversation.turns) add(exchanges, turn, losses);
  if (exchanges[0]?.role === 'assistant') {
    losses.add('messages.order', 'emulated', 'A turn of the user was put before the first answer.');
    exchanges.unshift({ role: 'user', parts: [say(filler.user)] });
  }
  if (exchanges.at(-1)?.role !== 'user') {
    if (conversation.turns.at(-1)?.role === 'assistant')
      losses.add('messages.prefill', 'downgraded', 'An answer cannot be begun for the model: it was asked to go on.');
    exchanges.push({ role: 'user', parts: [say(filler.user)] });
  }
  const current = exchanges.pop() as Exchange;
  return { history: exchanges, current };
}

/** Turns of one role in a row become one. */
function add(exchanges: Exchange[], turn: Turn, losses: Losses): void {
  if (turn.parts.length === 0) return;
  if (turn.name !== undefined) losses.add('messages.name', 'dropped', 'Turns have no names here.');
  if (supportsPhase(turn)) losses.add('messages.phase', 'dropped', '`phase` of earlier texts is not supported here.');
  const role = turn.role === 'assistant' ? 'assistant' : 'user';
  if (turn.role === 'system') losses.add('messages.system', 'emulated', 'System text between turns was said by the user.');
  const last = exchanges.at(-1);
  if (last?.role === role) for (const part of turn.parts) last.parts.push(part);
  else exchanges.push({ role, parts: [...turn.parts] });
}
