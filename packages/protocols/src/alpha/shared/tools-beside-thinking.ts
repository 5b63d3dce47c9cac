/**
 * Tools at models that refuse them beside thinking, which the vendor's own chat completions do and relays of it need not. Callers of the same protocol get the
 * vendor's refusal, which names the way out; to all others thinking gives way, since they cannot know where their request goes.
 */
import type { Conversation } from '../../chat/conversation.ts';
import type { Target } from '../../contract/index.ts';
import type { Losses } from '../../kit/losses.ts';
import type { ChatFamily } from './families.ts';

/** The vendor's own hosts, those of its regions included. */
const ownHost = /^https?:\/\/(?:[a-z0-9-]+\.)*openai\.com(?::\d+)?(?:\/|$)/i;

/** The conversation with a setting for thinking that goes with its tools. */
export function fitToolsBesideThinking(conversation: Conversation, target: Target, family: ChatFamily, losses: Losses): Conversation {
  const { effortBesideTools, reasoning: way } = family;
  if (effortBesideTools === 'any' || way === 'none' || !ownHost.test(target.baseUrl)) return conversation;
  const { reasoning, ...rest } = conversation;
  if (rest.tools.every(({ type }) => type === 'server')) return conversation;
  const off = reasoning?.enabled === false || reasoning?.effort === 'none';
  // Thinking is the default from there on, and has to be turned off.
  const silent = effortBesideTools === 'none' ? { ...rest, reasoning: { enabled: false } } : rest;
  if (!off && (reasoning !== undefined || effortBesideTools === 'none'))
    losses.add('thinking', 'downgraded', 'Thinking was turned off: chat completions of this model refuse tools beside it, its Responses take both.');
  return silent;
}
