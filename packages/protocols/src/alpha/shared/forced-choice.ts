/** A forced call of a tool for families that refuse it while they think: the rule of `../kit/forced-choice.ts` in this protocol's fields. */
import type { Edit } from '@model-gateway/json-bytes';
import type { Conversation, Reasoning, Tool, ToolChoice } from '../../chat/conversation.ts';
import { relaxChoice, settleForcedChoice, turnThinkingOff } from '../../kit/forced-choice.ts';
import type { Losses } from '../../kit/losses.ts';
import { asArray, asObject, asString, own } from '../../kit/read.ts';
import type { ChatFamily } from './families.ts';
import { canStopThinking } from './reasoning.ts';

/** The conversation with a choice of tools and a setting for thinking that go together. */
export function fitForcedChoice(conversation: Conversation, family: ChatFamily, losses: Losses): Conversation {
  const { reasoning, toolChoice, tools } = conversation;
  const optional = canStopThinking(family);
  const thinks = refusesWhile(reasoning, family) && canForce(toolChoice, tools, family);
  return settleForcedChoice(conversation, { thinks, optional }, losses);
}

/** Whether a forced call is refused with this setting. */
function refusesWhile(reasoning: Reasoning | undefined, family: ChatFamily): boolean {
  if (family.refusesForcedThinking === 'never') return false;
  if (!canStopThinking(family)) return true;
  if (reasoning?.enabled === false || reasoning?.effort === 'none') return false;
  return reasoning !== undefined || family.refusesForcedThinking === 'unless-off';
}

/** "Some tool" cannot be said to every family: what becomes a wish anyway is no reason not to think. */
const canForce = (choice: ToolChoice | undefined, tools: readonly Tool[], family: ChatFamily): boolean =>
  choice?.type === 'tool' || family.requiredChoice || (choice?.allowed ?? tools).length === 1;

/** The same for a body that passes through. */
export function forcedChoiceEdits(field: (key: string) => unknown, family: ChatFamily, losses: Losses): Edit[] {
  if (family.refusesForcedThinking === 'never') return [];
  const choice = field('tool_choice');
  if (choice !== 'required' && !asObject(choice)) return [];
  if (choice === 'required' && !family.requiredChoice && asArray(field('tools'))?.length !== 1) return [];
  if (!canStopThinking(family)) {
    relaxChoice(losses);
    return [{ path: ['tool_choice'], value: 'auto' }];
  }
  const edits = family.reasoning === 'enable-thinking' ? switchOff(field, family) : typeOff(field, family);
  if (edits.length > 0) turnThinkingOff(losses);
  return edits;
}

function switchOff(field: (key: string) => unknown, family: ChatFamily): Edit[] {
  const enabled = field('enable_thinking');
  if (enabled === false || (enabled === undefined && family.refusesForcedThinking !== 'unless-off')) return [];
  return [{ path: ['enable_thinking'], value: false, add: true }];
}

function typeOff(field: (key: string) => unknown, family: ChatFamily): Edit[] {
  const setting = asString(own(field('thinking'), 'type'));
  const effort = asString(field('reasoning_effort'));
  const asked = setting !== undefined || (effort !== undefined && effort !== 'none');
  if (setting === 'disabled' || effort === 'none' || (!asked && family.refusesForcedThinking !== 'unless-off')) return [];
  const off: Edit = { path: ['thinking'], value: { type: 'disabled' }, add: true };
  return effort === undefined ? [off] : [off, { path: ['reasoning_effort'], value: undefined }];
}
