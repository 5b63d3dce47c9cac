/**
 * A forced call of a tool for families that refuse it while they think, as they do by default. Thinking that the caller asked for outweighs the force;
 * thinking that nobody asked for gives way to it.
 */
import type { Edit } from '@model-gateway/json-bytes';
import type { Conversation, Reasoning } from '../chat/conversation.ts';
import type { Losses } from '../kit/losses.ts';
import { asObject, asString, own } from '../kit/read.ts';
import type { ModelFamily } from './families.ts';
import { thinksAbout } from './reasoning.ts';

/** The conversation with a choice of tools and a setting for thinking that go together. */
export function settleForcedChoice(conversation: Conversation, family: ModelFamily, losses: Losses): Conversation {
  const { reasoning, toolChoice, tools } = conversation;
  const forced = toolChoice?.type === 'any' || toolChoice?.type === 'tool';
  if (!family.refusesForcedThinking || !forced || tools.length === 0 || !thinksAbout(reasoning, family)) return conversation;
  if (!asksToThink(reasoning)) {
    turnOff(losses);
    return { ...conversation, reasoning: { ...reasoning, enabled: false } };
  }
  relax(losses);
  const allowed = toolChoice.type === 'any' ? toolChoice.allowed : undefined;
  return { ...conversation, toolChoice: { type: 'auto', ...(allowed && { allowed }) } };
}

/** The same for a body that passes through. */
export function forcedChoiceEdits(field: (key: string) => unknown, family: ModelFamily, losses: Losses): Edit[] {
  if (!family.refusesForcedThinking) return [];
  const choice = field('tool_choice');
  if (choice !== 'required' && !asObject(choice)) return [];
  const setting = asString(own(field('thinking'), 'type'));
  if (setting === 'disabled') return [];
  const effort = asString(field('reasoning_effort'));
  if (setting === undefined && (effort === undefined || effort === 'none')) {
    turnOff(losses);
    return [{ path: ['thinking'], value: { type: 'disabled' }, add: true }];
  }
  relax(losses);
  return [{ path: ['tool_choice'], value: 'auto' }];
}

const asksToThink = (reasoning: Reasoning | undefined): boolean =>
  reasoning?.enabled === true || reasoning?.effort !== undefined || (reasoning?.budget ?? 0) > 0;

function turnOff(losses: Losses): void {
  losses.add('thinking', 'downgraded', 'Thinking was turned off: this model refuses a forced call of a tool while it thinks.');
}

function relax(losses: Losses): void {
  losses.add('tool_choice', 'downgraded', 'This model refuses a forced call of a tool while it thinks, as was asked for.');
}
